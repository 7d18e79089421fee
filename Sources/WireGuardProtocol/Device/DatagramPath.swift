// SPDX-License-Identifier: MIT

/// Both ends of a datagram: where the peer is, and which of this host's addresses talks to it.
package struct DatagramPath: Hashable, Sendable {
    /// The peer's address and port.
    package var remote: SocketAddress
    /// This host's address that the peer's datagrams arrive at; answers leave from it while it works.
    package var localAddress: IPAddress?
    /// The interface that the peer's datagrams arrive on, for a local address of link-local scope; 0 is any.
    package var interfaceIndex: UInt32

    /// A path, of which this host's end may be left to the routing table.
    package init(remote: SocketAddress, localAddress: IPAddress? = nil, interfaceIndex: UInt32 = 0) {
        self.remote = remote
        self.localAddress = localAddress
        self.interfaceIndex = interfaceIndex
    }
}
