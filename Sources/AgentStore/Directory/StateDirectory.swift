// SPDX-License-Identifier: MIT

public import AgentCore
internal import Glibc
internal import Synchronization

/// The directory that holds what the agent must remember, and the one that stands in for it.
///
/// It belongs to the user that runs the agent and has mode 0700. When it cannot be written, what is saved
/// goes to the directory that stands in, and comes back with the first save that succeeds here.
public final class StateDirectory: Sendable {
    /// The two directories, as far as they are open.
    private struct Places {
        var primary: OpenDirectory?
        var standIn: OpenDirectory?
    }

    /// The path as given, without slashes at its end.
    public let path: String
    /// Where problems go.
    let monitor: StoreMonitor
    /// The key that encrypts secrets; `nil` stores them in the clear.
    let hostKeys: HostKeyRing?
    /// How files are reached.
    let fileSystem: any FileSystem
    private let standInPath: String?
    private let places = Mutex(Places())

    /// Opens the directory and makes it where it is absent.
    ///
    /// - Parameters:
    ///   - path: An absolute path, such as `/var/lib/nexusguard`.
    ///   - fallback: A directory in memory such as `$RUNTIME_DIRECTORY`; a closed directory `store` in it
    ///     stands in when `path` cannot be written.
    ///   - hostKeyFile: The file of the key that encrypts secrets; `nil` stores them in the clear, in files
    ///     that only the agent's user can read. The key is made with the first save.
    ///   - log: Takes what happens to the files.
    /// - Throws: `AgentError.storeUnusable` for a directory that others own or can write;
    ///   `AgentError.secretStore` when neither directory can be used.
    public convenience init(
        path: String, fallback: String? = nil, hostKeyFile: String? = nil, log: (any LogSink)? = nil
    ) throws(AgentError) {
        try self.init(
            path: path, fallback: fallback, hostKeyFile: hostKeyFile, log: log,
            fileSystem: PosixFileSystem())
    }

    /// Opens the directory in a file system of the caller.
    package init(
        path: String, fallback: String?, hostKeyFile: String?, log: (any LogSink)?,
        fileSystem: any FileSystem
    ) throws(AgentError) {
        self.path = Self.withoutSlash(path)
        self.fileSystem = fileSystem
        standInPath = fallback.map { Self.withoutSlash($0) + "/store" }
        monitor = StoreMonitor(log: log)
        hostKeys = hostKeyFile.map { HostKeyRing(path: $0, fileSystem: fileSystem) }
        do {
            _ = try primary()
        } catch {
            guard case .file(let problem) = error, standIn(isNeeded: true) != nil else {
                throw error.agentError
            }
            monitor.noteDisplaced("", path: self.path, because: problem.description)
        }
    }

    /// Whether something could not be written to the directory and is held by the one that stands in.
    public var isDegraded: Bool { monitor.isDegraded }

    /// What needs attention now; each code at most once.
    public var health: [StoreHealth] { monitor.health }

    /// Makes this process the only agent that uses the directory, until it ends.
    ///
    /// - Throws: `AgentError.storeUnusable` while another process has it.
    public func lock() throws(AgentError) {
        do throws(StoreProblem) {
            let place = try usablePlace()
            do throws(FileError) {
                try fileSystem.lock(place.descriptor)
            } catch let error where error.number == EWOULDBLOCK {
                throw StoreProblem.refused(
                    .storeUnusable(path: place.path, reason: "another process of the agent uses it"))
            } catch {
                throw StoreProblem.file(error)
            }
        } catch {
            throw error.agentError
        }
    }

    /// The directory itself, opened now if it could not be before.
    func primary() throws(StoreProblem) -> OpenDirectory {
        try places.withLock { (places) throws(StoreProblem) in
            if let open = places.primary { return open }
            let open = try OpenDirectory(path: path, fileSystem: fileSystem)
            places.primary = open
            monitor.noteInPlace("", path: path)
            return open
        }
    }

    /// The directory that stands in, as far as there is one; made now if `isNeeded`.
    func standIn(isNeeded: Bool) -> OpenDirectory? {
        places.withLock { places -> OpenDirectory? in
            guard places.standIn == nil, let path = standInPath else { return places.standIn }
            do throws(StoreProblem) {
                places.standIn = try OpenDirectory(path: path, fileSystem: fileSystem, makes: isNeeded)
            } catch {
                if isNeeded { monitor.note("\(path) cannot stand in: \(error.agentError)", level: .warn) }
            }
            return places.standIn
        }
    }

    /// The directory itself where it can be opened, else the one that stands in.
    func usablePlace() throws(StoreProblem) -> OpenDirectory {
        do {
            return try primary()
        } catch {
            guard case .file = error, let place = standIn(isNeeded: true) else { throw error }
            return place
        }
    }

    /// The identifier of this host: configured, else stored, else made of the machine-id or drawn, and stored.
    ///
    /// - Parameter configured: 32 hexadecimal digits that the administrator chose.
    /// - Returns: 32 lowercase hexadecimal digits.
    /// - Throws: `AgentError.configInvalid` with the field `hwid`, when `configured` has another form;
    ///   `AgentError.storeUnusable` when the stored one is damaged and cannot be made again: a new one would
    ///   be another device to the server.
    public func hwid(configured: String? = nil) throws(AgentError) -> String {
        try hwid(configured: configured, machineID: MachineID(contentsOf: MachineID.defaultPath))
    }

    /// Whether any file here is encrypted, so that a new host key would come too late.
    func holdsSealedFiles() throws(FileError) -> Bool {
        let open = places.withLock { [$0.primary, $0.standIn].compactMap(\.self) }
        for place in open {
            for name in try place.names() where name.hasSuffix(".json") || name.hasSuffix(".json.tmp") {
                guard case .success(let bytes)? = try place.read(name), let frame = FileFrame(parsing: bytes),
                    case .sealed = frame.body
                else { continue }
                return true
            }
        }
        return false
    }

    private static func withoutSlash(_ path: String) -> String {
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
