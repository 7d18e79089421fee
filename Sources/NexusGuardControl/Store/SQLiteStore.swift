// SPDX-License-Identifier: MIT

package import AgentCore
internal import FoundationEssentials
internal import Glibc
internal import NexusGuard

/// The store in an SQLite database, with a write-ahead log so that commands can read while the server writes.
package actor SQLiteStore: ControlStore {
    /// The name of the database in the state directory.
    package static let fileName = "control.db"

    /// How many nonces of one device are remembered: more than one request a second for as long as a nonce counts.
    static let nonceLimit = 1200

    let connection: SQLiteConnection

    /// Opens the database of a state directory.
    ///
    /// - Parameters:
    ///   - directory: The state directory; made with mode 0700 when it is missing and `createsFile` is set.
    ///   - createsFile: Whether a missing database is made.
    /// - Throws: `StoreError`.
    package init(directory: String, createsFile: Bool) throws(StoreError) {
        if createsFile, mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw .unavailable(path: directory, reason: String(cString: strerror(errno)))
        }
        let connection = try SQLiteConnection(
            path: "\(directory)/\(Self.fileName)", createsFile: createsFile)
        try StoreSchema.prepare(connection)
        self.connection = connection
    }

    /// Runs a transaction that may be lost with the power but is otherwise whole: no wait for the disk.
    func lightTransaction<Result>(
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try connection.execute("PRAGMA synchronous = NORMAL")
        let result: Result
        do {
            result = try connection.transaction(body)
        } catch {
            try? connection.execute("PRAGMA synchronous = FULL")
            throw error
        }
        try connection.execute("PRAGMA synchronous = FULL")
        return result
    }

    /// Overwrites the write-ahead log, so that erased keys do not linger in it.
    ///
    /// Does nothing while another process reads; its next end or the next call makes up for it.
    func forgetErased() {
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// The server's WireGuard key; `candidate` becomes it when there is none yet.
    package func serverKey(orKeep candidate: SecretBytes) throws(StoreError) -> SecretBytes {
        try connection.transaction { () throws(StoreError) in
            try connection.run(
                "INSERT INTO settings(name, value) VALUES('server_private_key', ?) ON CONFLICT DO NOTHING",
                .secret(candidate))
            let kept = try connection.first(
                "SELECT value FROM settings WHERE name = 'server_private_key'"
            ) { $0.secret(0) }
            guard let kept, let kept, kept.count == 32 else { throw .damaged(path: connection.path) }
            return kept
        }
    }

    /// A number that changes when another process changes something.
    package func foreignChanges() throws(StoreError) -> Int {
        Int(try connection.first("PRAGMA data_version") { $0.integer(0) } ?? 0)
    }

    /// The forwards of a device, or all, by protocol and port.
    package func forwards(of id: String?) throws(StoreError) -> [ForwardRecord] {
        let path = connection.path
        return try connection.all(
            """
            SELECT device_id, protocol, public_port, target_address, target_port, created_at FROM forwards
            WHERE ?1 IS NULL OR device_id = ?1 ORDER BY protocol, public_port
            """, .text(id)
        ) { (row: borrowing SQLiteRow) throws(StoreError) in
            guard let transportProtocol = PortForward.TransportProtocol(rawValue: row.text(1)),
                let publicPort = UInt16(exactly: row.integer(2)),
                let target = try? IPAddress(row.text(3)),
                let targetPort = UInt16(exactly: row.integer(4)), let createdAt = row.time(5)
            else { throw .damaged(path: path) }
            return ForwardRecord(
                deviceID: row.text(0),
                forward: PortForward(
                    transportProtocol: transportProtocol, publicPort: publicPort, targetAddress: target,
                    targetPort: targetPort), createdAt: createdAt)
        }
    }

    /// Adds a forward; says why when it does not.
    package func addForward(_ record: ForwardRecord) throws(StoreError) -> ForwardRefusal? {
        let forward = record.forward
        return try connection.transaction { () throws(StoreError) -> ForwardRefusal? in
            let isKnown = try connection.first(
                "SELECT 1 FROM devices WHERE id = ? AND revoked_at IS NULL", .text(record.deviceID)
            ) { $0.integer(0) }
            guard isKnown != nil else { return .unknownDevice }
            let holder = try connection.first(
                "SELECT device_id FROM forwards WHERE protocol = ? AND public_port = ?",
                .text(forward.transportProtocol.rawValue), .integer(Int64(forward.publicPort))
            ) { $0.text(0) }
            if let holder { return .taken(deviceID: holder) }
            let count = try connection.first(
                "SELECT count(*) FROM forwards WHERE device_id = ?", .text(record.deviceID)
            ) { $0.integer(0) }
            guard (count ?? 0) < PortForward.largestCount else { return .tooMany }
            try connection.run(
                """
                INSERT INTO forwards(device_id, protocol, public_port, target_address, target_port, created_at)
                VALUES(?, ?, ?, ?, ?, ?)
                """, .text(record.deviceID), .text(forward.transportProtocol.rawValue),
                .integer(Int64(forward.publicPort)), .text(forward.targetAddress.description),
                .integer(Int64(forward.targetPort)), .time(record.createdAt))
            return nil
        }
    }

    /// Removes a forward; says whether there was one.
    package func removeForward(
        _ transportProtocol: PortForward.TransportProtocol, publicPort: UInt16
    ) throws(StoreError) -> Bool {
        try connection.run(
            "DELETE FROM forwards WHERE protocol = ? AND public_port = ?",
            .text(transportProtocol.rawValue), .integer(Int64(publicPort))) > 0
    }
}
