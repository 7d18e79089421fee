// SPDX-License-Identifier: MIT

package import AgentCore
package import FoundationEssentials

extension SQLiteStore {
    /// Adds a generation of keys, in place of one that the device never got; gives its number.
    package func addKeys(
        to id: String, privateKey: SecretBytes, presharedKey: SecretBytes?, at now: Date
    ) throws(StoreError) -> Int? {
        try connection.transaction { () throws(StoreError) -> Int? in
            guard
                try connection.first(
                    "SELECT 1 FROM devices WHERE id = ? AND revoked_at IS NULL", .text(id),
                    read: { $0.integer(0) })
                    != nil
            else { return nil }
            let present = try keys(of: id)
            let generation = (present.last?.generation ?? 0) + 1
            // The device may hold what it got last, and the server holds what it was seen to use; a generation
            // in between, or one that never left the server, is nobody's.
            let delivered = present.last { $0.deliveredAt != nil }?.generation
            let inUse = (present.last { $0.usedAt != nil } ?? present.first)?.generation
            for keys in present where keys.generation != delivered && keys.generation != inUse {
                try connection.run(
                    "DELETE FROM device_keys WHERE device_id = ? AND generation = ?", .text(id),
                    .integer(Int64(keys.generation)))
            }
            try connection.run(
                """
                INSERT INTO device_keys(device_id, generation, private_key, preshared_key, created_at)
                VALUES(?, ?, ?, ?, ?)
                """, .text(id), .integer(Int64(generation)), .secret(privateKey),
                presharedKey.map { .secret($0) } ?? .null, .time(now))
            return generation
        }
    }

    /// Notes that a generation was given to the device.
    package func noteDelivery(of generation: Int, to id: String, at now: Date) throws(StoreError) {
        try connection.run(
            """
            UPDATE device_keys SET delivered_at = ? WHERE device_id = ? AND generation = ?
            AND delivered_at IS NULL
            """, .time(now), .text(id), .integer(Int64(generation)))
    }

    /// Notes that the device uses a generation, and erases those before it; says whether that is news.
    package func noteUse(of generation: Int, by id: String, at now: Date) throws(StoreError) -> Bool {
        let isNews = try connection.transaction { () throws(StoreError) -> Bool in
            let count = try connection.run(
                """
                UPDATE device_keys SET used_at = ? WHERE device_id = ? AND generation = ? AND used_at IS NULL
                """, .time(now), .text(id), .integer(Int64(generation)))
            guard count > 0 else { return false }
            try connection.run(
                "DELETE FROM device_keys WHERE device_id = ? AND generation < ?", .text(id),
                .integer(Int64(generation)))
            return true
        }
        if isNews { forgetErased() }
        return isNews
    }

    /// The generations of a device, the oldest first.
    func keys(of id: String) throws(StoreError) -> [DeviceKeys] {
        let path = connection.path
        return try connection.all(
            """
            SELECT device_id, generation, private_key, preshared_key, created_at, delivered_at, used_at
            FROM device_keys WHERE device_id = ? ORDER BY generation
            """, .text(id)
        ) { (row: borrowing SQLiteRow) throws(StoreError) in try Self.keys(row, path: path) }
    }

    static func keys(_ row: borrowing SQLiteRow, path: String) throws(StoreError) -> DeviceKeys {
        guard let privateKey = row.secret(2), privateKey.count == 32, let createdAt = row.time(4) else {
            throw .damaged(path: path)
        }
        return DeviceKeys(
            generation: Int(row.integer(1)), privateKey: privateKey, presharedKey: row.secret(3),
            createdAt: createdAt, deliveredAt: row.time(5), usedAt: row.time(6))
    }
}
