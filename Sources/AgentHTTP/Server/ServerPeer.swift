// SPDX-License-Identifier: MIT

/// Who sent a request to a server.
public enum ServerPeer: Hashable, Sendable {
    /// A process of this host, as the kernel saw it when it connected to the unix socket.
    ///
    /// `groups` holds the supplementary groups and `gid`. A process identifier may since belong to another
    /// process: it is for the log, never for a decision.
    case unix(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32])
    /// A host at a numeric address.
    case network(address: String, port: UInt16)
}
