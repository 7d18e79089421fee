// SPDX-License-Identifier: MIT

internal import AgentCore
package import FoundationEssentials
internal import NexusGuard

extension SQLiteStore {
    /// A device, revoked ones too.
    package func device(_ id: String) throws(StoreError) -> DeviceRecord? {
        let keys = try keys(of: id)
        let path = connection.path
        return try connection.first("\(Self.deviceColumns) WHERE devices.id = ?", .text(id)) {
            (row: borrowing SQLiteRow) throws(StoreError) in try Self.device(row, keys: keys, path: path)
        }
    }

    /// All devices, revoked ones too, the oldest first.
    package func devices() throws(StoreError) -> [DeviceRecord] {
        let path = connection.path
        let rows = try connection.all(
            """
            SELECT device_id, generation, private_key, preshared_key, created_at, delivered_at, used_at
            FROM device_keys ORDER BY device_id, generation
            """
        ) { (row: borrowing SQLiteRow) throws(StoreError) in (row.text(0), try Self.keys(row, path: path)) }
        let keys = Dictionary(grouping: rows) { $0.0 }.mapValues { $0.map { $0.1 } }
        return try connection.all("\(Self.deviceColumns) ORDER BY devices.created_at, devices.id") {
            (row: borrowing SQLiteRow) throws(StoreError) in
            try Self.device(row, keys: keys[row.text(0)] ?? [], path: path)
        }
    }

    /// Takes a device's identity; says whether it had one until now.
    package func revokeDevice(
        _ id: String, as kind: DeviceRecord.Revocation, at now: Date
    ) throws(StoreError) -> Bool {
        let isNews = try connection.transaction { () throws(StoreError) -> Bool in
            let count = try connection.run(
                """
                UPDATE devices SET revoked_at = ?2, revocation = ?3, ipv4 = NULL, ipv6 = NULL
                WHERE id = ?1 AND revoked_at IS NULL
                """, .text(id), .time(now), .text(kind.rawValue))
            guard count > 0 else { return false }
            try connection.run("DELETE FROM device_keys WHERE device_id = ?", .text(id))
            try connection.run("DELETE FROM forwards WHERE device_id = ?", .text(id))
            try connection.run(
                "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE device_id = ?", .time(now),
                .text(id))
            return true
        }
        if isNews { forgetErased() }
        return isNews
    }

    /// Notes a request, and refuses a nonce that was seen before.
    package func note(_ contact: Contact) throws(StoreError) -> Contact.Outcome {
        try lightTransaction { () throws(StoreError) -> Contact.Outcome in
            guard
                try connection.first(
                    "SELECT 1 FROM devices WHERE id = ?", .text(contact.deviceID),
                    read: {
                        $0.integer(0)
                    }) != nil
            else { return .unknownDevice }
            if let nonce = contact.nonce {
                try connection.run("DELETE FROM nonces WHERE expires_at < ?", .time(contact.at))
                let count = try connection.first(
                    "SELECT count(*) FROM nonces WHERE device_id = ?", .text(contact.deviceID)
                ) { $0.integer(0) }
                guard (count ?? 0) < Self.nonceLimit else { return .tooMany }
                let added = try connection.run(
                    "INSERT INTO nonces(device_id, nonce, expires_at) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
                    .text(contact.deviceID), .text(nonce.text), .time(nonce.until))
                guard added > 0 else { return .replayed }
            }
            if let report = contact.report {
                try connection.run(
                    """
                    UPDATE devices SET last_seen = ?, status = ?, tunnel_up = ?, last_handshake = ?,
                    last_address = ? WHERE id = ?
                    """, .time(contact.at), .text(report.status), .flag(report.isTunnelUp),
                    .time(report.lastHandshake), .text(report.address), .text(contact.deviceID))
            }
            return try device(contact.deviceID).map { .accepted($0) } ?? .unknownDevice
        }
    }

    private static let deviceColumns = """
        SELECT devices.id, devices.hwid, devices.token_id, tokens.name, devices.provisioning_key,
        devices.ipv4, devices.ipv6, devices.created_at, devices.revoked_at, devices.revocation,
        devices.last_seen, devices.status, devices.tunnel_up, devices.last_handshake, devices.last_address
        FROM devices LEFT JOIN tokens ON tokens.id = devices.token_id
        """

    private static func device(
        _ row: borrowing SQLiteRow, keys: [DeviceKeys], path: String
    ) throws(StoreError) -> DeviceRecord {
        guard let provisioningKey = row.secret(4)?.withBytes({ try? ProvisioningKey(rawRepresentation: $0) }),
            let createdAt = row.time(7)
        else { throw .damaged(path: path) }
        var addresses: [IPAddress] = []
        for text in [row.optionalText(5), row.optionalText(6)].compactMap({ $0 }) {
            guard let address = try? IPAddress(text) else { throw .damaged(path: path) }
            addresses.append(address)
        }
        var revocation: (DeviceRecord.Revocation, Date)?
        if let revokedAt = row.time(8) {
            revocation = (DeviceRecord.Revocation(rawValue: row.text(9)) ?? .revoked, revokedAt)
        }
        let lastSeen = row.time(10)
        let report =
            lastSeen == nil
            ? nil
            : DeviceRecord.Report(
                status: row.text(11), isTunnelUp: row.flag(12) ?? false, lastHandshake: row.time(13),
                address: row.optionalText(14))
        return DeviceRecord(
            id: row.text(0), hwid: row.text(1), tokenID: row.text(2), name: row.optionalText(3),
            provisioningKey: provisioningKey, addresses: addresses, createdAt: createdAt,
            revocation: revocation, lastSeen: lastSeen, report: report, keys: keys)
    }
}
