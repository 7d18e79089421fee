// SPDX-License-Identifier: MIT

internal import AgentCore

/// The content of `hwid` in its first version.
struct HostIdentifierFormOne: StoredForm {
    static let version = 1

    /// 32 lowercase hexadecimal digits.
    let hwid: String
    /// What the machine-id gave when the hwid was stored; `nil` when there was none.
    let machine: String?

    init(hwid: String, machine: String?) {
        self.hwid = hwid
        self.machine = machine
    }

    init(content: ErasedBuffer) throws(StoredFormError) {
        self = try reading(content) { (fields) throws(AgentError) in
            let hwid = try fields.required("hwid", fields.nonEmptyText("hwid", limit: 32))
            guard let normal = HostIdentifierFormOne.normal(hwid), normal == hwid else {
                throw fields.invalid("hwid", "has not 32 lowercase hexadecimal digits")
            }
            return HostIdentifierFormOne(
                hwid: hwid, machine: try fields.nonEmptyText("machine", limit: 32))
        }
    }

    func content() -> ErasedBuffer {
        let content = ErasedBuffer(capacity: 128)
        content.append("{\"hwid\":\"\(hwid)\"")
        if let machine { content.append(",\"machine\":\"\(machine)\"") }
        content.append("}")
        return content
    }

    /// The lowercase form of 32 hexadecimal digits; `nil` for anything else.
    static func normal(_ text: String) -> String? {
        let text = text.lowercased()
        guard text.utf8.count == 32,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return text
    }
}
