// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// Something that happened in a device and that its owner may want to know.
package enum DeviceEvent: Hashable, Sendable {
    /// A handshake with this peer completed.
    case handshakeCompleted(PublicKey)
    /// The first handshake message to this peer left, or one after a failure.
    case handshakeStarted(PublicKey)
    /// No answer for 90 seconds: packets that waited are dropped, and the next packet starts anew.
    case handshakeGivenUp(PublicKey)
    /// The peer's datagrams now come from and go to another address.
    case endpointChanged(PublicKey, SocketAddress)
    /// The peer's initiation has a timestamp that is not newer than the last one: its clock may be behind.
    case clockBehind(PublicKey)
    /// The peer's public key is of low order; no handshake with it can succeed.
    case weakPeerKey(PublicKey)
    /// Whether handshake messages must now prove their source address with a cookie.
    case loadChanged(isUnderLoad: Bool)
}

/// What a call of the device wants done: datagrams to send and events to tell. Reused from call to call.
@safe
package struct Outbox: ~Copyable {
    /// One datagram in the outbox.
    package struct Entry: Sendable {
        /// Where the bytes start in `bytes`.
        package let offset: Int
        /// The number of bytes.
        package let byteCount: Int
        /// Where it goes.
        package let path: DatagramPath
        /// The peer that it goes to, for the clearing of a source address that no longer works.
        package let peer: UInt32
        /// The traffic class octet of the outer header: 0x88 for handshake messages, as AF41.
        package let trafficClass: UInt8

        /// Whether this datagram can leave in one call with another: same way, same size.
        package func leavesLike(_ other: Entry) -> Bool {
            byteCount == other.byteCount && peer == other.peer && trafficClass == other.trafficClass
                && path == other.path
        }
    }

    /// The datagrams, in the order in which they leave.
    package private(set) var entries: [Entry] = []
    /// What happened, in order.
    package private(set) var events: [DeviceEvent] = []
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private var used = 0

    /// Room before and after each datagram, so that it can be sealed in place.
    private static let room = 64 + 256

    /// An empty outbox.
    package init() {
        capacity = 16_384
        unsafe storage = .allocate(byteCount: capacity, alignment: 64)
        entries.reserveCapacity(16)
        events.reserveCapacity(16)
    }

    /// Adds a datagram whose bytes the caller writes in `body`.
    ///
    /// `body` gets `byteCount` bytes, and may overwrite 64 bytes before and 256 behind them.
    package mutating func send(
        byteCount: Int, to path: DatagramPath, peer: UInt32 = .max, trafficClass: UInt8 = 0,
        _ body: (UnsafeMutableRawPointer) -> Void
    ) {
        let footprint = (byteCount + Self.room + 63) & ~63
        if used + footprint > capacity {
            let larger = max(2 * capacity, used + footprint)
            let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 64)
            unsafe moved.copyMemory(from: storage, byteCount: used)
            unsafe storage.deallocate()
            unsafe storage = unsafe moved
            capacity = larger
        }
        let start = unsafe storage + used + 64
        unsafe body(start)
        entries.append(
            Entry(offset: used + 64, byteCount: byteCount, path: path, peer: peer, trafficClass: trafficClass)
        )
        used += footprint
    }

    /// The bytes of an entry; valid until the next change.
    package func bytes(of entry: Entry) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: storage + entry.offset, count: entry.byteCount)
    }

    /// Adds an event.
    package mutating func tell(_ event: DeviceEvent) {
        events.append(event)
    }

    /// Forgets what it holds; the memory stays for the next call.
    package mutating func removeAll() {
        // Mostly there is nothing, and emptying an empty array costs a hundred instructions.
        if !entries.isEmpty { entries.removeAll(keepingCapacity: true) }
        if !events.isEmpty { events.removeAll(keepingCapacity: true) }
        used = 0
    }

    deinit {
        unsafe storage.deallocate()
    }
}
