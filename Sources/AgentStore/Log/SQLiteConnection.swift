// SPDX-License-Identifier: MIT

internal import CSQLite

/// A connection to an SQLite file; used by one thread at a time.
final class SQLiteConnection {
    private let handle: OpaquePointer

    /// Opens a file that exists; a symbolic link is not followed.
    init(path: String) throws(LogDatabaseError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = Self.error(code, opened)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_busy_timeout(handle, 2000)
        _ = csqlite_make_defensive(handle)
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    /// Prepares one statement.
    func prepare(_ text: String) throws(LogDatabaseError) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, text, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Self.error(code, handle) }
        return SQLiteStatement(statement, connection: self)
    }

    /// Runs one statement and drops its rows.
    func run(_ text: String) throws(LogDatabaseError) {
        let statement = try prepare(text)
        while try statement.step() {}
    }

    /// The number in the first row; 0 when there is none.
    func number(_ text: String) throws(LogDatabaseError) -> Int {
        let statement = try prepare(text)
        return try statement.step() ? Int(statement.number(0)) : 0
    }

    /// The text in the first row; empty when there is none.
    func text(_ text: String) throws(LogDatabaseError) -> String {
        let statement = try prepare(text)
        return try statement.step() ? statement.text(0) : ""
    }

    /// Runs statements that take effect together or not at all.
    func transaction(_ body: () throws(LogDatabaseError) -> Void) throws(LogDatabaseError) {
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            // Some failures have ended the transaction already.
            try? run("ROLLBACK")
            throw error
        }
    }

    /// The error of the last call.
    func error(_ code: Int32) -> LogDatabaseError { Self.error(code, handle) }

    private static func error(_ code: Int32, _ handle: OpaquePointer?) -> LogDatabaseError {
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT: .damaged
        // A table that lacks a column, or is a view.
        case SQLITE_ERROR: .damaged
        default:
            .failed(
                code: code, errorNumber: sqlite3_system_errno(handle),
                text: String(cString: sqlite3_errstr(code)))
        }
    }
}

/// A prepared statement.
final class SQLiteStatement {
    private let handle: OpaquePointer
    /// A statement must end before its connection does.
    private let connection: SQLiteConnection

    /// Takes a statement.
    init(_ handle: OpaquePointer, connection: SQLiteConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Goes to the next row; `false` at the end.
    func step() throws(LogDatabaseError) -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw connection.error(code)
        }
    }

    /// Makes the statement ready to run again.
    func reset() { sqlite3_reset(handle) }

    /// Sets a parameter, counted from 1.
    func bind(_ number: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, number) }

    /// Sets a parameter, counted from 1.
    func bind(_ text: String, at index: Int32) {
        _ = csqlite_bind_text(handle, index, text, Int32(clamping: text.utf8.count))
    }

    /// A column, counted from 0.
    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A column, counted from 0.
    func text(_ column: Int32) -> String {
        sqlite3_column_text(handle, column).map { String(cString: $0) } ?? ""
    }
}
