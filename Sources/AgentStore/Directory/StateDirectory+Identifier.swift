// SPDX-License-Identifier: MIT

internal import AgentCore

extension StateDirectory {
    /// The identifier of this host, on a host with this machine-id.
    func hwid(configured: String?, machineID: MachineID?) throws(AgentError) -> String {
        if let configured {
            guard let hwid = HostIdentifierFormOne.normal(configured) else {
                throw .configInvalid(field: "hwid", reason: "has not 32 hexadecimal digits")
            }
            return hwid
        }
        // Written once and to two files: it must outlive any single damage.
        let file = AtomicFile(
            "hwid", kind: "hwid", format: StoredFormat(HostIdentifierFormOne.self), in: self,
            options: .init(keepsTwin: true))
        let machine = machineID?.applicationSpecific
        if let stored = try file.load() {
            if let machine, let then = stored.machine, machine != then {
                monitor.report(
                    StoreHealth.machineIDChanged,
                    "the machine-id is not the one that the hwid was stored with: if this disk was cloned, two "
                        + "hosts have one identity; on the copy stop the agent, remove \(path)/hwid and "
                        + "\(path)/hwid.prev, then run: nexusguard reset")
            }
            return stored.hwid
        }
        if try file.hasDamagedCopy() {
            guard machine != nil else {
                throw .storeUnusable(
                    path: "\(path)/hwid",
                    reason: "is damaged and there is no machine-id to make it of; set hwid in "
                        + "\(AdministratorSettings.defaultPath), or remove \(path)/hwid.bad-* to take a new one "
                        + "and provision again with a new token")
            }
            monitor.report(
                StoreHealth.hwidRemade,
                "the hwid was damaged and is made of the machine-id again; if it was drawn at random before, "
                    + "provisioning needs a new token")
        }
        let hwid = machine ?? Hexadecimal.text(CryptoManager.randomBytes(16))
        try file.save(HostIdentifierFormOne(hwid: hwid, machine: machine))
        return hwid
    }
}
