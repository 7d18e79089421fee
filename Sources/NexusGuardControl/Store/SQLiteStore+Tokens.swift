// SPDX-License-Identifier: MIT

internal import AgentCore
package import FoundationEssentials
internal import NexusGuard

extension SQLiteStore {
    /// Adds a token; says `false` when another has the identifier.
    package func addToken(_ token: TokenRecord) throws(StoreError) -> Bool {
        try connection.run(
            """
            INSERT INTO tokens(id, digest, name, created_at, expires_at) VALUES(?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """, .text(token.id), .bytes(token.digest), .text(token.name), .time(token.createdAt),
            .time(token.expiresAt)) > 0
    }

    /// All tokens, the oldest first.
    package func tokens() throws(StoreError) -> [TokenRecord] {
        let path = connection.path
        return try connection.all("\(Self.tokenColumns) ORDER BY created_at, id") {
            (row: borrowing SQLiteRow) throws(StoreError) in try Self.token(row, path: path)
        }
    }

    /// Takes a token back; says whether there is such a token.
    package func revokeToken(_ id: String, at now: Date) throws(StoreError) -> Bool {
        try connection.run(
            "UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", .time(now), .text(id)) > 0
    }

    /// Gives a device its identity: a new one, or the one that it got before.
    package func enrol(_ enrolment: Enrolment) throws(StoreError) -> Enrolment.Outcome {
        try connection.transaction { () throws(StoreError) -> Enrolment.Outcome in
            let path = connection.path
            let found = try connection.first("\(Self.tokenColumns) WHERE id = ?", .text(enrolment.tokenID)) {
                (row: borrowing SQLiteRow) throws(StoreError) in try Self.token(row, path: path)
            }
            guard let token = found, CryptoManager.areEqual(token.digest, enrolment.tokenDigest) else {
                return .refused
            }
            switch token.state(at: enrolment.at) {
            case .revoked, .expired: return .refused
            case .used:
                guard let id = token.deviceID, let device = try device(id) else {
                    throw .damaged(path: path)
                }
                guard device.revocation == nil else { return .refused }
                // The key is made of the token, which is right, and the hardware identifier.
                let isSame = device.provisioningKey.isEqual(to: enrolment.provisioningKey)
                return isSame ? .existing(device) : .boundElsewhere
            case .unused:
                guard let addresses = try freeAddresses(of: enrolment.pools) else { return .poolExhausted }
                try add(enrolment, addresses: addresses)
                guard let device = try device(enrolment.deviceID) else { throw .damaged(path: path) }
                return .created(device)
            }
        }
    }

    /// One free address of each pool, or `nil` when one has none.
    private func freeAddresses(of pools: [AddressPool]) throws(StoreError) -> [IPAddress]? {
        let used = try connection.all(
            """
            SELECT ipv4 FROM devices WHERE ipv4 IS NOT NULL
            UNION ALL SELECT ipv6 FROM devices WHERE ipv6 IS NOT NULL
            """
        ) { row in try? IPAddress(row.text(0)) }
        let usedAddresses = Set(used.compactMap { $0 })
        let addresses = pools.compactMap { $0.firstFree(besides: usedAddresses) }
        return addresses.count == pools.count ? addresses : nil
    }

    /// Adds a device and binds its token.
    private func add(_ enrolment: Enrolment, addresses: [IPAddress]) throws(StoreError) {
        let keys = enrolment.keys
        try connection.run(
            """
            INSERT INTO devices(id, hwid, token_id, provisioning_key, ipv4, ipv6, created_at)
            VALUES(?, ?, ?, ?, ?, ?, ?)
            """, .text(enrolment.deviceID), .text(enrolment.hwid), .text(enrolment.tokenID),
            .secret(enrolment.provisioningKey.withBytes { SecretBytes(copying: $0) }),
            .text(addresses.first { !$0.isIPv6 }?.description),
            .text(addresses.first { $0.isIPv6 }?.description), .time(enrolment.at))
        // The first generation counts as delivered: an answer that is cut is asked for again.
        try connection.run(
            """
            INSERT INTO device_keys(device_id, generation, private_key, preshared_key, created_at, delivered_at)
            VALUES(?, ?, ?, ?, ?, ?)
            """, .text(enrolment.deviceID), .integer(Int64(keys.generation)), .secret(keys.privateKey),
            keys.presharedKey.map { .secret($0) } ?? .null, .time(keys.createdAt), .time(enrolment.at))
        try connection.run(
            "UPDATE tokens SET device_id = ? WHERE id = ?", .text(enrolment.deviceID),
            .text(enrolment.tokenID))
    }

    private static let tokenColumns =
        "SELECT id, digest, name, created_at, expires_at, revoked_at, device_id FROM tokens"

    private static func token(
        _ row: borrowing SQLiteRow, path: String
    ) throws(StoreError) -> TokenRecord {
        guard let createdAt = row.time(3) else { throw .damaged(path: path) }
        return TokenRecord(
            id: row.text(0), digest: row.bytes(1), name: row.optionalText(2), createdAt: createdAt,
            expiresAt: row.time(4), revokedAt: row.time(5), deviceID: row.optionalText(6))
    }
}
