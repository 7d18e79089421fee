// SPDX-License-Identifier: MIT

/// The tables of the store, and how older ones become them.
enum StoreSchema {
    /// The format that this release writes.
    static let version = 1

    /// Marks the file as the store of a control server; the ASCII text `NGCT`.
    static let applicationID = 0x4E47_4354

    /// Checks the file, and makes or migrates its tables.
    ///
    /// - Throws: `StoreError.damaged`, `.foreign`, `.newer` and whatever the statements throw.
    static func prepare(_ connection: SQLiteConnection) throws(StoreError) {
        // Before anything is written: the file may be somebody else's.
        try check(connection)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA foreign_keys = ON;
            PRAGMA secure_delete = ON;
            PRAGMA trusted_schema = OFF;
            PRAGMA synchronous = FULL;
            """)
        guard try number("user_version", connection) < version else { return }
        try connection.transaction { () throws(StoreError) in
            // Another process may have done it while this one waited.
            var present = try number("user_version", connection)
            while present < version {
                try connection.execute(steps[present])
                present += 1
            }
            try connection.execute("PRAGMA user_version = \(version)")
        }
    }

    private static func check(_ connection: SQLiteConnection) throws(StoreError) {
        let tables = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }
        let owner = try number("application_id", connection)
        guard owner == applicationID || (owner == 0 && tables == 0) else {
            throw .foreign(path: connection.path)
        }
        let present = try number("user_version", connection)
        guard present <= version else { throw .newer(path: connection.path, version: present) }
        let verdict = try connection.first("PRAGMA quick_check(1)") { $0.text(0) }
        guard verdict == "ok" else { throw .damaged(path: connection.path) }
    }

    private static func number(
        _ pragma: String, _ connection: SQLiteConnection
    ) throws(StoreError) -> Int {
        Int(try connection.first("PRAGMA \(pragma)") { $0.integer(0) } ?? 0)
    }

    /// From each format to the next, the first from an empty file. What stands here is never changed.
    private static let steps = [
        """
        PRAGMA application_id = \(applicationID);
        CREATE TABLE settings(
            name TEXT PRIMARY KEY,
            value BLOB NOT NULL
        ) STRICT;
        CREATE TABLE devices(
            id TEXT PRIMARY KEY,
            hwid TEXT NOT NULL,
            token_id TEXT NOT NULL REFERENCES tokens(id),
            provisioning_key BLOB NOT NULL CHECK(length(provisioning_key) = 32),
            ipv4 TEXT UNIQUE,
            ipv6 TEXT UNIQUE,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER,
            revocation TEXT,
            last_seen INTEGER,
            status TEXT,
            tunnel_up INTEGER,
            last_handshake INTEGER,
            last_address TEXT
        ) STRICT;
        CREATE TABLE tokens(
            id TEXT PRIMARY KEY,
            digest BLOB NOT NULL CHECK(length(digest) = 32),
            name TEXT,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            revoked_at INTEGER,
            device_id TEXT REFERENCES devices(id)
        ) STRICT;
        CREATE TABLE device_keys(
            device_id TEXT NOT NULL REFERENCES devices(id),
            generation INTEGER NOT NULL,
            private_key BLOB NOT NULL CHECK(length(private_key) = 32),
            preshared_key BLOB CHECK(length(preshared_key) = 32),
            created_at INTEGER NOT NULL,
            delivered_at INTEGER,
            used_at INTEGER,
            PRIMARY KEY(device_id, generation)
        ) STRICT;
        CREATE TABLE forwards(
            protocol TEXT NOT NULL,
            public_port INTEGER NOT NULL,
            device_id TEXT NOT NULL REFERENCES devices(id),
            target_address TEXT NOT NULL,
            target_port INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY(protocol, public_port)
        ) STRICT;
        CREATE INDEX forwards_of_device ON forwards(device_id);
        CREATE TABLE nonces(
            device_id TEXT NOT NULL REFERENCES devices(id),
            nonce TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            PRIMARY KEY(device_id, nonce)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX nonces_by_expiry ON nonces(expires_at);
        """
    ]
}
