// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import WireGuardProtocol

/// Two TUNs in two namespaces, and what one gives is written to the other.
struct TunTestWire: ~Copyable {
    /// The namespace of the host whose address ends in 1.
    let first: Int32
    /// The namespace of the host whose address ends in 2.
    let second: Int32
    private var firstTun: TunInterface
    private var secondTun: TunInterface
    private var batch: PacketBatch
    private(set) var packetCount = 0
    private(set) var writeCount = 0
    private(set) var droppedCount = 0
    private(set) var largestPacket = 0

    /// Makes both hosts; the calling thread is in the first one's namespace before and after.
    init(prefix: String) throws {
        let length = prefix.contains(":") ? "/64 nodad" : "/24"
        let ends = try Self.makeEnds(prefix, length)
        let firstTun = try TunInterface(adopting: ends.firstTun)
        self.init(
            first: ends.first, second: ends.second, firstTun: firstTun,
            secondTun: try TunInterface(adopting: ends.secondTun))
    }

    private init(
        first: Int32, second: Int32, firstTun: consuming TunInterface, secondTun: consuming TunInterface
    ) {
        self.first = first
        self.second = second
        self.firstTun = firstTun
        self.secondTun = secondTun
        batch = PacketBatch(slotCapacity: 100, byteCapacity: 0)
    }

    private static func makeEnds(
        _ prefix: String, _ length: String
    ) throws -> (first: Int32, second: Int32, firstTun: Int32, secondTun: Int32) {
        let first = try TunTestNamespace.descriptor()
        let firstTun = try makeEnd("tuntest1", "\(prefix)1\(length)")
        try SystemCall.run("unshare") { linux_unshare(linux_clone_newnet) }
        let second = try TunTestNamespace.descriptor()
        let secondTun = try makeEnd("tuntest2", "\(prefix)2\(length)")
        try TunTestNamespace.enter(first)
        return (first, second, firstTun, secondTun)
    }

    /// A TUN with an address, up, in the calling thread's namespace.
    private static func makeEnd(_ name: String, _ address: String) throws -> Int32 {
        let flags = linux_iff_tun | linux_iff_no_pi | linux_iff_vnet_hdr
        let tun = try TunTestNamespace.rawDescriptor(name, flags: flags)
        try TunTestNamespace.ip("address add \(address) dev \(name)")
        try TunTestNamespace.ip("link set \(name) up mtu 1420")
        return tun
    }

    /// Whether both ends join UDP datagrams.
    var hasUDPOffload: Bool { firstTun.hasUDPOffload && secondTun.hasUDPOffload }

    /// Carries all packets that wait, both ways.
    mutating func carry() {
        var isFull = true
        while isFull {
            isFull = firstTun.read(into: &batch).isFull
            prepare()
            count(secondTun.write(&batch))
            batch.removeAll()
            isFull = secondTun.read(into: &batch).isFull || isFull
            prepare()
            count(firstTun.write(&batch))
            batch.removeAll()
        }
    }

    private mutating func prepare() {
        for index in 0..<batch.count {
            batch.slots[index].state = .ready
            largestPacket = max(largestPacket, batch.slots[index].byteCount)
        }
    }

    private mutating func count(_ result: TunWriteResult) {
        packetCount += result.packetCount
        writeCount += result.writeCount
        droppedCount += result.droppedCount
    }

    deinit {
        SystemCall.close(first)
        SystemCall.close(second)
    }
}
