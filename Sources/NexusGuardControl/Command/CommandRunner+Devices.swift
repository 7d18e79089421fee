// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials
internal import NexusGuard

extension CommandRunner {
    func deviceList(includesRevoked: Bool) async throws(CommandFailure) {
        let all = try await stored { () async throws(StoreError) in try await store.devices() }
        let devices = all.filter { includesRevoked || $0.revocation == nil }
        if isJSON {
            emitJSON { writer in
                writer.name("devices")
                writer.beginArray()
                for device in devices {
                    writer.beginObject()
                    Self.write(device, to: &writer)
                    writer.endObject()
                }
                writer.endArray()
            }
            return
        }
        let rows = devices.map { device in
            [
                device.id, Self.state(device), Self.addresses(device),
                device.lastSeen.map { RFC3339.text($0) } ?? "never", Self.tunnel(device), device.name ?? "-",
            ]
        }
        output.write(TextTable.text(["DEVICE", "STATE", "ADDRESSES", "LAST SEEN", "TUNNEL", "NAME"], rows))
    }

    func deviceShow(_ text: String) async throws(CommandFailure) {
        let device = try await find(text)
        let id = device.id
        let forwards = try await stored { () async throws(StoreError) in try await store.forwards(of: id) }
        if isJSON {
            emitJSON { writer in
                Self.write(device, to: &writer)
                writer.member("forward_count", forwards.count)
            }
            return
        }
        var lines: [(String, String)] = [
            ("device", device.id), ("name", device.name ?? "-"), ("state", Self.state(device)),
            ("addresses", Self.addresses(device)), ("hardware", device.hwid), ("token", device.tokenID),
            ("created", RFC3339.text(device.createdAt)),
        ]
        if let revocation = device.revocation {
            lines.append((revocation.kind.rawValue, RFC3339.text(revocation.at)))
        }
        lines.append(("last seen", device.lastSeen.map { RFC3339.text($0) } ?? "never"))
        if let report = device.report {
            lines.append(("seen from", report.address ?? "-"))
            lines.append(("status", ShownText.plain(report.status)))
            lines.append(("tunnel", report.isTunnelUp ? "up" : "down"))
            lines.append(("handshake", report.lastHandshake.map { RFC3339.text($0) } ?? "never"))
        }
        for keys in device.keys {
            lines.append(("public key", "\(Self.publicKey(keys)) (\(Self.state(keys, of: device)))"))
        }
        lines.append(("forwards", "\(forwards.count)"))
        let width = lines.map(\.0.count).max() ?? 0
        output.write(
            lines.map { name, value in
                name + ":" + String(repeating: " ", count: width - name.count + 1) + value + "\n"
            }.joined())
    }

    func deviceRevoke(_ text: String) async throws(CommandFailure) {
        let device = try await find(text)
        let now = clock.now()
        let isNews = try await stored { () async throws(StoreError) in
            try await store.revokeDevice(device.id, as: .revoked, at: now)
        }
        guard isNews else { throw Self.isRevoked(device) }
        emitDone("device \(device.id) is revoked") { $0.member("id", device.id) }
    }

    func rotateKeys(_ text: String) async throws(CommandFailure) {
        let device = try await find(text)
        // A server that uses no preshared keys gave the device none.
        let usesPresharedKeys = device.newestKeys?.presharedKey != nil
        let now = clock.now()
        let generation = try await stored { () async throws(StoreError) in
            try await store.addKeys(
                to: device.id, privateKey: SecretBytes(randomByteCount: 32),
                presharedKey: usesPresharedKeys ? SecretBytes(randomByteCount: 32) : nil, at: now)
        }
        guard let generation else { throw Self.isRevoked(device) }
        emitDone("device \(device.id) gets new keys (generation \(generation)) with its next heartbeat") {
            $0.member("id", device.id)
            $0.member("generation", generation)
        }
    }

    // MARK: Forms

    private static func write(_ device: DeviceRecord, to writer: inout JSONWriter) {
        writer.member("id", device.id)
        writer.optionalMember("name", device.name)
        writer.member("state", state(device))
        writer.member("hwid", device.hwid)
        writer.member("token", device.tokenID)
        writer.name("addresses")
        writer.beginArray()
        for address in device.addresses { writer.value(address.description) }
        writer.endArray()
        writer.member("created", RFC3339.text(device.createdAt))
        writer.optionalMember("revoked", device.revocation?.at)
        writer.optionalMember("last_seen", device.lastSeen)
        writer.optionalMember("last_address", device.report?.address)
        writer.optionalMember("status", device.report?.status)
        writer.name("tunnel_up")
        if let report = device.report { writer.value(report.isTunnelUp) } else { writer.null() }
        writer.optionalMember("last_handshake", device.report?.lastHandshake)
        writer.name("keys")
        writer.beginArray()
        for keys in device.keys {
            writer.beginObject()
            writer.member("generation", keys.generation)
            writer.member("public_key", publicKey(keys))
            writer.member("state", state(keys, of: device))
            writer.member("created", RFC3339.text(keys.createdAt))
            writer.optionalMember("delivered", keys.deliveredAt)
            writer.optionalMember("used", keys.usedAt)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func state(_ device: DeviceRecord) -> String {
        device.revocation?.kind.rawValue ?? "active"
    }

    private static func addresses(_ device: DeviceRecord) -> String {
        device.addresses.isEmpty ? "-" : device.addresses.map(\.description).joined(separator: ",")
    }

    private static func tunnel(_ device: DeviceRecord) -> String {
        device.report.map { $0.isTunnelUp ? "up" : "down" } ?? "-"
    }

    private static func publicKey(_ keys: DeviceKeys) -> String {
        keys.wireGuardPrivateKey?.publicKey.base64 ?? "-"
    }

    private static func state(_ keys: DeviceKeys, of device: DeviceRecord) -> String {
        if keys.generation == device.keysInUse?.generation { return "current" }
        return keys.deliveredAt == nil ? "waiting for the next heartbeat" : "delivered"
    }
}
