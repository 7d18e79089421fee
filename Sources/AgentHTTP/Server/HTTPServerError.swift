// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Why a server cannot start.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address of a listener is not a numeric one, or a path is too long for a socket.
    case invalidAddress(String)
    /// The address or path could not be bound; the number is an error number of the system.
    case bind(address: String, errno: Int32)
    /// Another process listens on the unix socket at this path, or a file is there that is no socket.
    case pathInUse(String)
    /// The certificate and the key cannot be used; the text says why.
    case tls(String)
    /// The server was started before.
    case alreadyStarted
    /// The server could not be started for want of something else, such as threads.
    case failed(String)

    /// One sentence for people.
    public var description: String {
        switch self {
        case .invalidAddress(let address): "\(address): not an address to listen on"
        case .bind(let address, let number):
            "\(address): \(strerrordesc_np(number).map { String(cString: $0) } ?? "error \(number)")"
        case .pathInUse(let path): "\(path): another process listens here, or the file is no socket"
        case .tls(let reason): "TLS: \(reason)"
        case .alreadyStarted: "the server was started before"
        case .failed(let reason): reason
        }
    }
}
