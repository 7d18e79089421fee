// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Glibc

/// What a process may do that connected to the local socket.
enum PeerRole: Comparable {
    /// May see that the agent lives and how it is, but not who and where it is.
    case observer
    /// May see and change everything.
    case controller
}

/// Decides who operates the agent: root, the daemon's own user, and the members of one group.
struct PeerPolicy: Sendable {
    /// The daemon's effective user.
    let daemonUser: UInt32
    /// The group of operators; `nil` when the host has none of that name.
    let operatorGroup: UInt32?

    /// Takes the group by its name, as the host knows it now.
    init(groupName: String) {
        daemonUser = geteuid()
        operatorGroup = Self.identifier(ofGroup: groupName)
    }

    /// Takes numbers.
    init(daemonUser: UInt32, operatorGroup: UInt32?) {
        self.daemonUser = daemonUser
        self.operatorGroup = operatorGroup
    }

    /// The role of a peer; `nil` for one that did not come over a unix socket, which gets nothing.
    ///
    /// The kernel notes user and groups when the peer connects, so that they cannot be forged.
    func role(of peer: ServerPeer) -> PeerRole? {
        guard case .unix(let user, let group, _, let groups) = peer else { return nil }
        if user == 0 || user == daemonUser { return .controller }
        guard let operatorGroup else { return .observer }
        return group == operatorGroup || groups.contains(operatorGroup) ? .controller : .observer
    }

    private static func identifier(ofGroup name: String) -> UInt32? {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        var size = 4096
        while size <= 1 << 20 {
            var buffer = [CChar](repeating: 0, count: size)
            let result = getgrnam_r(name, &entry, &buffer, size, &found)
            if result == 0 { return found == nil ? nil : entry.gr_gid }
            guard result == ERANGE else { return nil }
            size *= 4
        }
        return nil
    }
}
