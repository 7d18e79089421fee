// SPDX-License-Identifier: MIT

package import WireGuardProtocol

/// Something that did not go as asked when the datagrams of a batch were sent.
package enum SendProblem: Hashable, Sendable {
    /// This host's address of the path no longer works, so the datagrams left from another one.
    ///
    /// The caller forgets the cached source of the peer.
    case sourceRefused
    /// Many datagrams in one send were refused with this error number, so they were sent one by one.
    ///
    /// Told once for each destination, for the log; no datagram was lost by it.
    case segmentationRefused(IPAddress, errno: Int32)
    /// So many datagrams were refused with this error number and are lost.
    case dropped(datagramCount: Int, errno: Int32)
}

/// What became of a single datagram.
package enum SendOutcome: Hashable, Sendable {
    /// The kernel took it.
    case sent
    /// The kernel took it, but not with this host's address of the path, which the caller now forgets.
    case sentWithoutSource
    /// The kernel refused it with this error number.
    case failed(errno: Int32)
}
