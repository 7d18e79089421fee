// SPDX-License-Identifier: MIT

/// Where a server waits for connections.
public enum HTTPListener: Sendable {
    /// A unix socket at a path, with these permissions, such as `0o666`.
    ///
    /// A socket there that nobody listens on is replaced, any other file is an error. The path is removed
    /// when the server stops.
    case unix(path: String, mode: UInt32)
    /// A TCP port at exactly one numeric address; port 0 takes a free one.
    case tcp(address: String, port: UInt16, tls: TLSIdentity?)
    /// A socket that listens already, such as one from the service manager. The server closes it when it stops.
    case descriptor(Int32)
}
