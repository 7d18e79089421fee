// SPDX-License-Identifier: MIT

/// Why the control socket is not there.
package enum UAPISocketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another process answers at the path.
    case alreadyServed(path: String)
    /// The path is longer than a socket's path may be.
    case pathTooLong(path: String)
    /// Something that is no socket lies at the path.
    case notASocket(path: String)
    /// The descriptor to adopt is no listening socket of the UNIX domain.
    case notAListener(descriptor: Int32)
    /// A system call was refused.
    case refused(path: String, SystemCallError)

    /// One sentence that names the path.
    package var description: String {
        switch self {
        case .alreadyServed(let path): "\(path) is served by another process"
        case .pathTooLong(let path): "\(path) is too long for a socket"
        case .notASocket(let path): "\(path) is there and is not a socket"
        case .notAListener(let descriptor): "descriptor \(descriptor) is not a listening UNIX socket"
        case .refused(let path, let error): "\(path) can not be served: \(error)"
        }
    }
}
