// SPDX-License-Identifier: MIT

internal import CMicroHTTPD
internal import Glibc

extension ServerPeer {
    /// Who is at the other end of a connection.
    init(descriptor: Int32, address: UnsafePointer<sockaddr>?) {
        if let numeric = address.flatMap(NumericAddress.init) {
            self = .network(address: numeric.text, port: numeric.port)
        } else {
            self = Self.process(descriptor)
        }
    }

    private static func process(_ descriptor: Int32) -> ServerPeer {
        var credentials = ng_peer_credentials()
        var size = socklen_t(MemoryLayout<ng_peer_credentials>.size)
        guard getsockopt(descriptor, SOL_SOCKET, ng_so_peercred, &credentials, &size) == 0 else {
            // No user has this number, so nothing is allowed to it.
            return .unix(uid: .max, gid: .max, pid: 0, groups: [])
        }
        let further = groups(descriptor)
        return .unix(
            uid: credentials.uid, gid: credentials.gid, pid: credentials.pid,
            groups: further.contains(credentials.gid) ? further : [credentials.gid] + further)
    }

    /// The supplementary groups that the process had when it connected.
    private static func groups(_ descriptor: Int32) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 32)
        for _ in 0..<2 {
            var size = socklen_t(groups.count * 4)
            if getsockopt(descriptor, SOL_SOCKET, ng_so_peergroups, &groups, &size) == 0 {
                return Array(groups[..<(Int(size) / 4)])
            }
            // The kernel says how much room they need.
            guard errno == ERANGE else { return [] }
            groups = [UInt32](repeating: 0, count: Int(size) / 4)
        }
        return []
    }
}
