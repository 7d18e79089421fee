// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import Synchronization

/// An interface in memory: a test puts packets in at one end and takes them out at the other.
final class MemoryInterface: PacketInterface {
    private struct State {
        var outgoing: [[UInt8]] = []
        var delivered: [[UInt8]] = []
        var isRemoved = false
    }

    let name: String
    let mtu = 1420
    let readinessDescriptor: Int32
    private let state = Mutex(State())

    init(name: String) {
        self.name = name
        readinessDescriptor = eventfd(0, linux_eventfd_flags)
    }

    deinit {
        close(readinessDescriptor)
    }

    /// The packets that the tunnel delivered so far.
    var delivered: [[UInt8]] { state.withLock { $0.delivered } }

    /// Puts a packet in that the tunnel shall carry.
    func send(_ packet: [UInt8]) {
        state.withLock { $0.outgoing.append(packet) }
        ring()
    }

    /// Makes the next read fail as if the interface were gone.
    func remove() {
        state.withLock { $0.isRemoved = true }
        ring()
    }

    func read(into batch: inout OutboundBatch) throws(PacketInterfaceError) -> Bool {
        var count: UInt64 = 0
        _ = Glibc.read(readinessDescriptor, &count, 8)
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
        state.withLock { $0.delivered += packets }
        return 0
    }

    private func ring() {
        var one: UInt64 = 1
        _ = Glibc.write(readinessDescriptor, &one, 8)
    }

    /// An IPv4 packet with a body that its number tells.
    static func packet(from source: UInt32, to destination: UInt32, number: UInt8) -> [UInt8] {
        var packet: [UInt8] = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]
        for address in [source, destination] {
            packet += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: address >> $0) }
        }
        return packet + Array(repeating: number, count: 8)
    }
}
