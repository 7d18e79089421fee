// SPDX-License-Identifier: MIT

public import AgentCore
internal import Glibc

/// The directory that holds what the agent must remember, and the one that stands in for it.
///
/// It belongs to the user that runs the agent and has mode 0700.
public final class StateDirectory: Sendable {
    /// The path as given.
    public let path: String

    /// Opens the directory and makes it where it is absent.
    ///
    /// - Parameters:
    ///   - path: An absolute path, such as `/var/lib/nexusguard`.
    ///   - fallback: A directory that stands in when `path` cannot be written, such as `$RUNTIME_DIRECTORY`.
    ///   - hostKeyFile: The file of the key that encrypts everything here; `nil` stores in the clear.
    ///   - log: Takes what happens to the files.
    /// - Throws: `AgentError.storeUnusable` for a directory that others own or can write, and for a lost
    ///   host key; `AgentError.secretStore` when neither directory can be used.
    public init(
        path: String, fallback: String? = nil, hostKeyFile: String? = nil, log: (any LogSink)? = nil
    ) throws(AgentError) {
        self.path = path
    }

    /// Whether something could not be written to the directory and is held by the one that stands in.
    public var isDegraded: Bool { false }

    /// What needs attention now; each code at most once.
    public var health: [StoreHealth] { [] }

    /// Makes this process the only agent that uses the directory, until it ends.
    ///
    /// - Throws: `AgentError.storeUnusable` while another process has it.
    public func lock() throws(AgentError) {}

    /// The identifier of this host: configured, else stored, else made and stored.
    ///
    /// - Parameter configured: 32 hexadecimal digits that the administrator chose.
    /// - Returns: 32 lowercase hexadecimal digits.
    /// - Throws: `AgentError.configInvalid` with the field `hwid`, when `configured` has another form;
    ///   `AgentError.storeUnusable` when the stored one is damaged and cannot be made again.
    public func hwid(configured: String? = nil) throws(AgentError) -> String { throw .secretStore(ENOSYS) }
}
