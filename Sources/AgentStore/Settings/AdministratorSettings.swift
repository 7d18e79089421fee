// SPDX-License-Identifier: MIT

public import AgentCore
internal import Glibc

/// What the administrator fixed in `/etc/nexusguard/agent.conf`, which the agent never writes.
///
/// Fields are `nil` where the file does not name them.
public struct AdministratorSettings: Hashable, Sendable {
    /// Where the file is unless the command line says otherwise.
    public static let defaultPath = "/etc/nexusguard/agent.conf"

    /// The base address of the control server; the key `server_url`.
    public var serverURL: String?
    /// The name of the interface; the key `interface`.
    public var interfaceName: String?
    /// The identifier of this host, 32 lowercase hexadecimal digits; the key `hwid`.
    public var hwid: String?
    /// A file with certificate authorities; the key `ca_file`.
    public var certificateAuthorityFile: String?
    /// A file that holds a token; the key `token_file`.
    public var tokenFile: String?
    /// The file of the host key that encrypts the stores; the key `host_key_file`.
    public var hostKeyFile: String?
    /// Whether plain HTTP is allowed to other hosts than loopback; the key `allow_plain_http`.
    public var allowsPlainHTTP: Bool?
    /// Whether requests carry a proof of the device's key; the key `authenticate_heartbeats`.
    public var authenticatesHeartbeats: Bool?
    /// Whether heartbeat responses must come encrypted; the key `require_encrypted_heartbeats`.
    public var requiresEncryptedHeartbeats: Bool?
    /// Whether the tunnel comes up when the host starts; the key `auto_start`.
    public var startsAutomatically: Bool?
    /// Whether the log is kept in a file over restarts; the key `persist_log`.
    public var persistsLog: Bool?
    /// The least important level that is logged; the key `log_level`.
    public var logLevel: LogLevel?
    /// How the page is reached; the keys that begin with `ui_`.
    public var page = PageSettings()

    /// Settings that fix nothing.
    public init() {}

    /// Reads a file of lines `key = value`.
    ///
    /// A `#` at the start of a line or after a blank begins a comment. A value may stand in double quotes. In keys a
    /// hyphen counts as an underscore. Truth values are `yes` and `no`, `true` and `false`, `on` and `off`, `1` and `0`.
    ///
    /// - Returns: Settings that fix nothing, when there is no file.
    /// - Throws: `AgentError.configInvalid` that names the line and the key, and never a value;
    ///   `AgentError.storeUnusable` for a file that others than root and the agent's user can write;
    ///   `AgentError.secretStore` when it cannot be read.
    public init(contentsOf path: String) throws(AgentError) {
        guard let text = try Self.read(path) else {
            self.init()
            return
        }
        try self.init(parsing: text, path: path)
    }

    /// The names of the fields of `AgentConfig` that are fixed, so that the user cannot change them.
    public var fixedSettings: [String] {
        var names: [String] = []
        if serverURL != nil { names.append("serverURL") }
        if interfaceName != nil { names.append("interfaceName") }
        if certificateAuthorityFile != nil { names.append("certificateAuthorityFile") }
        if allowsPlainHTTP != nil { names.append("allowsPlainHTTP") }
        if authenticatesHeartbeats != nil { names.append("authenticatesHeartbeats") }
        if requiresEncryptedHeartbeats != nil { names.append("requiresEncryptedHeartbeats") }
        if startsAutomatically != nil { names.append("startsAutomatically") }
        if persistsLog != nil { names.append("persistsLog") }
        return names
    }

    /// The settings with what the administrator fixed in place of what the user chose.
    public func applied(to settings: AgentConfig) -> AgentConfig {
        var settings = settings
        settings.serverURL = serverURL ?? settings.serverURL
        settings.interfaceName = interfaceName ?? settings.interfaceName
        settings.certificateAuthorityFile = certificateAuthorityFile ?? settings.certificateAuthorityFile
        settings.allowsPlainHTTP = allowsPlainHTTP ?? settings.allowsPlainHTTP
        settings.authenticatesHeartbeats = authenticatesHeartbeats ?? settings.authenticatesHeartbeats
        settings.requiresEncryptedHeartbeats =
            requiresEncryptedHeartbeats ?? settings.requiresEncryptedHeartbeats
        settings.startsAutomatically = startsAutomatically ?? settings.startsAutomatically
        settings.persistsLog = persistsLog ?? settings.persistsLog
        return settings
    }

    /// The text of the file; `nil` when there is none.
    private static func read(_ path: String) throws(AgentError) -> [UInt8]? {
        let limit = 64 << 10
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .secretStore(errno)
        }
        defer { close(file) }
        let system = PosixFileSystem()
        do {
            let status = try system.status(of: file)
            guard status.isRegular, status.byteCount <= limit else {
                throw AgentError.storeUnusable(path: path, reason: "is no ordinary file of at most 64 KiB")
            }
            // Whoever can write it decides which server gets the tunnel of this host.
            guard status.owner == 0 || status.owner == geteuid(), status.permissions & 0o022 == 0 else {
                throw AgentError.storeUnusable(
                    path: path, reason: "may be written by others than root and the agent's user")
            }
            return try system.readWhole(file, limit: limit).array()
        } catch let error as AgentError {
            throw error
        } catch let error as FileError {
            throw .secretStore(error.number)
        } catch {
            throw .secretStore(EIO)
        }
    }
}
