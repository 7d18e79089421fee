// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Synchronization

/// An interface in memory: a test puts packets in at one end and takes them out at the other.
final class TunnelTestInterface: PacketInterface {
    private struct State {
        var outgoing: [[UInt8]] = []
        var delivered: [[UInt8]] = []
        var isRemoved = false
        var answersSilently = false
    }

    let name: String
    let mtu = 1420
    private let state = Mutex(State())
    private let bell: EventFD
    private let arrivals: EventFD
    private let onRead = Mutex<(@Sendable () -> Void)?>(nil)

    init(name: String) throws {
        self.name = name
        bell = try EventFD()
        arrivals = try EventFD()
    }

    var readinessDescriptor: Int32 { bell.descriptor }

    /// Something to do on the tunnel's thread at the next read.
    func atNextRead(_ body: @escaping @Sendable () -> Void) {
        onRead.withLock { $0 = body }
        bell.ring()
    }

    /// Puts packets in that the tunnel shall carry.
    func send(_ packets: [[UInt8]]) {
        state.withLock { $0.outgoing += packets }
        bell.ring()
    }

    /// Lets each packet that is written be answered with itself, addresses exchanged, without a ring of the bell.
    func answerSilently() {
        state.withLock { $0.answersSilently = true }
    }

    /// Makes the next read fail as if the interface were gone.
    func remove() {
        state.withLock { $0.isRemoved = true }
        bell.ring()
    }

    /// The first `count` packets that the tunnel delivered and that were not taken before.
    ///
    /// Gives fewer when ten minutes have passed, which no machine is slow enough to need.
    func take(_ count: Int) -> [[UInt8]] {
        let deadline = BootClock.now().nanoseconds + 600_000_000_000
        while true {
            let taken = state.withLock { state -> [[UInt8]]? in
                let isLate = BootClock.now().nanoseconds > deadline
                guard state.delivered.count >= count || isLate else { return nil }
                let taken = Array(state.delivered.prefix(count))
                state.delivered.removeFirst(taken.count)
                return taken
            }
            if let taken { return taken }
            var descriptor = pollfd(fd: arrivals.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, 1000)
            arrivals.silence()
        }
    }

    func read(into batch: inout OutboundBatch) throws(PacketInterfaceError) -> Bool {
        bell.silence()
        onRead.withLock { body in
            let present = body
            body = nil
            return present
        }?()
        if state.withLock({ $0.isRemoved }) { throw .removed }
        while let packet = state.withLock({ $0.outgoing.first }) {
            guard batch.append(packet.span.bytes) else { return true }
            state.withLock { _ = $0.outgoing.removeFirst() }
        }
        return false
    }

    func write(_ batch: inout InboundBatch) -> Int {
        var packets: [[UInt8]] = []
        batch.forEachPacket { packet in packet.withUnsafeBytes { packets.append(Array($0)) } }
        state.withLock { state in
            state.delivered += packets
            guard state.answersSilently else { return }
            for packet in packets {
                var answer = packet
                answer.replaceSubrange(12..<16, with: packet[16..<20])
                answer.replaceSubrange(16..<20, with: packet[12..<16])
                state.outgoing.append(answer)
            }
        }
        if !packets.isEmpty { arrivals.ring() }
        return 0
    }
}

/// An IPv4 packet of UDP's protocol number with a body that its number tells.
func testPacket(from source: UInt32, to destination: UInt32, number: Int, bodyByteCount: Int) -> [UInt8] {
    let byteCount = 20 + bodyByteCount
    var packet: [UInt8] = [0x45, 0, UInt8(byteCount >> 8), UInt8(byteCount & 255), 0, 0, 0, 0, 64, 17, 0, 0]
    for address in [source, destination] {
        packet += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: address >> $0) }
    }
    packet += (0..<bodyByteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
    return packet
}
