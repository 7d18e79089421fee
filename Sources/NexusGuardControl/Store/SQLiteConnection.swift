// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSQLite
internal import Glibc

/// One connection to a database; for one thread at a time.
final class SQLiteConnection {
    /// The file.
    let path: String
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// Opens a database, and makes it with mode 0600 when it is missing.
    ///
    /// - Parameter createsFile: Whether a missing file is made.
    /// - Throws: `StoreError`, such as `.unavailable`.
    init(path: String, createsFile: Bool) throws(StoreError) {
        // SQLite gives the files beside it (-wal, -shm) the mode of this one.
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (createsFile ? O_CREAT : 0)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw .unavailable(path: path, reason: String(cString: strerror(errno)))
        }
        close(descriptor)
        var opened: OpaquePointer?
        let options = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = sqlite3_open_v2(path, &opened, options, nil)
        guard code == SQLITE_OK, let opened else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
            sqlite3_close_v2(opened)
            throw .unavailable(path: path, reason: reason)
        }
        self.path = path
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Self.busyMilliseconds)
        csqlite_make_defensive(handle)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// How long a statement waits for another process.
    private static let busyMilliseconds: Int32 = 5000

    /// The number of rows that the last statement changed.
    var changedRowCount: Int { Int(sqlite3_changes(handle)) }

    /// Runs statements without parameters, parted by semicolons.
    func execute(_ text: String) throws(StoreError) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs one statement.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    func run(_ text: String, _ values: SQLiteValue...) throws(StoreError) -> Int {
        try step(text, values) { (_: borrowing SQLiteRow) throws(StoreError) in }
        return changedRowCount
    }

    /// The first row of a result, or `nil`.
    func first<Result>(
        _ text: String, _ values: SQLiteValue...,
        read: (borrowing SQLiteRow) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        var result: Result?
        try step(text, values) { (row: borrowing SQLiteRow) throws(StoreError) in
            if result == nil { result = try read(row) }
        }
        return result
    }

    /// All rows of a result.
    func all<Result>(
        _ text: String, _ values: SQLiteValue...,
        read: (borrowing SQLiteRow) throws(StoreError) -> Result
    ) throws(StoreError) -> [Result] {
        var results: [Result] = []
        try step(text, values) { (row: borrowing SQLiteRow) throws(StoreError) in
            results.append(try read(row))
        }
        return results
    }

    /// Runs `body` as one transaction that writes: all of it is kept, or nothing.
    func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try execute("BEGIN IMMEDIATE")
        let result: Result
        do {
            result = try body()
            try execute("COMMIT")
        } catch {
            // The error that ended the transaction tells more than one of this statement.
            try? execute("ROLLBACK")
            throw error
        }
        return result
    }

    /// Steps through a result.
    private func step(
        _ text: String, _ values: [SQLiteValue], row: (borrowing SQLiteRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let statement = try prepare(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, to: Int32(index + 1), of: statement) }
        while true {
            let code = sqlite3_step(statement)
            switch code {
            case SQLITE_ROW: try row(SQLiteRow(statement))
            case SQLITE_DONE: return
            default: throw error(code)
            }
        }
    }

    /// The statement of a text, compiled once.
    private func prepare(_ text: String) throws(StoreError) -> OpaquePointer {
        if let statement = statements[text] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code) }
        statements[text] = statement
        return statement
    }

    private func bind(
        _ value: SQLiteValue, to index: Int32, of statement: OpaquePointer
    ) throws(StoreError) {
        let code: Int32 =
            switch value {
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .text(let text): csqlite_bind_text(statement, index, text, Int32(text.utf8.count))
            case .bytes(let bytes):
                bytes.withUnsafeBytes { csqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count)) }
            case .secret(let secret):
                secret.withBytes { bytes in
                    bytes.withUnsafeBytes {
                        csqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count))
                    }
                }
            case .null: sqlite3_bind_null(statement, index)
            }
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// What an error code of this connection means.
    private func error(_ code: Int32) -> StoreError {
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED: .busy(path: path)
        case SQLITE_FULL: .full(path: path)
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM:
            .unavailable(path: path, reason: String(cString: sqlite3_errstr(code)))
        default: .failed(path: path, reason: String(cString: sqlite3_errstr(code)))
        }
    }
}
