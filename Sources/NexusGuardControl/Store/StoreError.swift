// SPDX-License-Identifier: MIT

/// Why the store of the control server did not do what it was asked for; nothing was changed then.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file or its directory cannot be used; the reason is the system's.
    case unavailable(path: String, reason: String)
    /// The file is no database, or it is damaged.
    case damaged(path: String)
    /// The file is a database of another application.
    case foreign(path: String)
    /// A newer release wrote the file.
    case newer(path: String, version: Int)
    /// Another process holds the database for too long.
    case busy(path: String)
    /// The disk has no room.
    case full(path: String)
    /// Something else; the reason is the database's and holds no values.
    case failed(path: String, reason: String)

    /// One sentence that says what to do where there is something to do.
    package var description: String {
        switch self {
        case .unavailable(let path, let reason): "\(path) cannot be used: \(reason)"
        case .damaged(let path):
            "\(path) is damaged or no database: restore it from a backup, or move it away to start anew "
                + "(all devices must then be provisioned again)"
        case .foreign(let path): "\(path) is a database of another application"
        case .newer(let path, let version):
            "\(path) was written by a newer release (format \(version)); this release reads formats up to "
                + "\(StoreSchema.version)"
        case .busy(let path): "\(path) is in use by another process for too long"
        case .full(let path): "\(path) cannot grow: the disk is full"
        case .failed(let path, let reason): "\(path): \(reason)"
        }
    }
}
