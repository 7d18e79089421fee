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
    /// The identifier of this host, 32 hexadecimal digits; the key `hwid`.
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

    /// Settings that fix nothing.
    public init() {}

    /// Reads a file of lines `key = value`; `#` begins a comment.
    ///
    /// - Returns: Settings that fix nothing, when there is no file.
    /// - Throws: `AgentError.configInvalid` that names the line and the key, and never a value.
    public init(contentsOf path: String) throws(AgentError) { throw .secretStore(ENOSYS) }

    /// The settings with what the administrator fixed in place of what the user chose.
    public func applied(to settings: AgentConfig) -> AgentConfig { settings }
}
