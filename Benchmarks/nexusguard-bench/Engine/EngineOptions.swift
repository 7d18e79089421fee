// SPDX-License-Identifier: MIT

/// What packets of the engine benchmark are like, and which way they go.
struct EngineOptions: Hashable, Sendable {
    /// The size of each inner packet in bytes.
    var packetByteCount = 1_420
    /// The number of packets in each batch; the last one may have fewer.
    var batchCount = 45
    /// Whether packets come from the splitter and go into the coalescer, as with a TUN that has virtio headers.
    var usesTun = false
    /// Whether datagrams go through UDP sockets on the loopback interface.
    var usesLoopback = false

    /// The smallest packet: headers of IPv4 and TCP, and a payload.
    static let smallestPacket = 48
    /// The largest packet that fits one datagram of IPv4 with all that is put around it.
    static let largestPacket = 65_000
}
