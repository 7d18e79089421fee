// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSQLite
internal import FoundationEssentials

/// A row of a result; valid until the statement takes its next step.
struct SQLiteRow: ~Copyable {
    private let statement: OpaquePointer

    /// The row at which a statement stands.
    init(_ statement: OpaquePointer) {
        self.statement = statement
    }

    private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// A whole number; 0 where the column has no value.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// A whole number, if the column has a value.
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// A text; empty where the column has no value.
    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// A text, if the column has a value.
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Bytes; empty where the column has no value.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Bytes that are secret, if the column has a value.
    func secret(_ column: Int32) -> SecretBytes? {
        guard let start = sqlite3_column_blob(statement, column) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return SecretBytes(copying: UnsafeRawBufferPointer(start: start, count: count).bytes)
    }

    /// A time, if the column has a value.
    func time(_ column: Int32) -> Date? {
        optionalInteger(column).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    /// Whether the column has a value other than 0, if it has one.
    func flag(_ column: Int32) -> Bool? { optionalInteger(column).map { $0 != 0 } }
}
