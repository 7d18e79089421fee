// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc

/// The file of the log in a directory: made with mode 0600, opened, and set aside when it is damaged.
struct LogFile: Sendable {
    private static let name = "log.sqlite"

    /// The directory.
    let place: OpenDirectory
    /// How large the file may become.
    let byteLimit: Int

    /// Opens the file at the start of a run.
    ///
    /// - Returns: The file, its newest entries, the highest number that was ever in it, and what to log.
    /// - Throws: `AgentError.storeUnusable` for a file of a newer version, which stays as it is.
    func openForStart(
        limit: Int
    ) throws(AgentError) -> (
        database: LogDatabase, entries: [LogEntry], last: UInt64, note: String?
    ) {
        do throws(LogDatabaseError) {
            let database = try open()
            return (database, try database.newest(limit), try database.lastNumber(), nil)
        } catch .damaged {
            let note = "the log's file is damaged\(setAside()); a new one is begun"
            do throws(LogDatabaseError) {
                return (try open(), [], 0, note)
            } catch {
                throw agentError(error)
            }
        } catch {
            throw agentError(error)
        }
    }

    /// Opens the file, or makes it.
    func open() throws(LogDatabaseError) -> LogDatabase {
        try prepare()
        // SQLite refuses a path with a symbolic link anywhere in it, such as /var/run.
        guard let resolved = realpath(place.path, nil) else {
            throw .failed(code: 0, errorNumber: errno, text: "realpath")
        }
        defer { free(resolved) }
        return try LogDatabase(
            path: "\(String(cString: resolved))/\(Self.name)", byteLimit: byteLimit)
    }

    /// Renames the damaged file.
    ///
    /// - Returns: Words for a message.
    func setAside() -> String {
        do {
            // The log of writes first: without its file it would be taken for a part of the new one.
            for part in ["-wal", "-shm"] where try place.names().contains(Self.name + part) {
                _ = try place.setAside(Self.name + part)
            }
            return " and kept as \(try place.setAside(Self.name))"
        } catch {
            return " and cannot be renamed (\(error))"
        }
    }

    /// Makes the file where it is absent, and closes it to other users.
    private func prepare() throws(LogDatabaseError) {
        do {
            let system = place.fileSystem
            do {
                system.close(try system.create(Self.name, in: place.descriptor))
                return
            } catch let error where error.number == EEXIST {
                // Looked at below.
            }
            let file: Int32
            do {
                file = try system.openForReading(Self.name, in: place.descriptor)
            } catch let error where error.number == ELOOP {
                throw LogDatabaseError.damaged
            }
            defer { system.close(file) }
            let status = try system.status(of: file)
            guard status.isRegular, status.owner == geteuid() else { throw LogDatabaseError.damaged }
            if status.permissions & 0o777 != 0o600 { try system.setPermissions(0o600, of: file) }
        } catch let error as LogDatabaseError {
            throw error
        } catch let error as FileError {
            throw .failed(code: 0, errorNumber: error.number, text: error.call)
        } catch {
            throw .damaged
        }
    }

    private func agentError(_ error: LogDatabaseError) -> AgentError {
        switch error {
        case .newer(let version):
            .storeUnusable(
                path: "\(place.path)/\(Self.name)",
                reason: "is of version \(version) and this agent reads up to \(LogDatabase.version); "
                    + "install the newer agent again or move the file away")
        case .damaged: .secretStore(EIO)
        case .failed(_, let number, _): .secretStore(number == 0 ? EIO : number)
        }
    }
}
