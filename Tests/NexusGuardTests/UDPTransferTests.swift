// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite("UDP transport: transfer")
struct UDPTransferTests {
    private static let addresses = [loopback4, loopback6]

    /// Sends datagrams over loopback, and expects the same ones in order and no report.
    private func expectTransfer(
        _ datagrams: [[UInt8]], to address: IPAddress, sender: UDPOffload = .all, receiver: UDPOffload = .all,
        slotCapacity: Int = 256
    ) throws {
        var source = try openTransport(offload: sender)
        var sink = try openTransport(offload: receiver)
        let path = loopbackPath(address, sink.port)
        let reports = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let received = try receiveAll(&sink, datagrams.count, slotCapacity: slotCapacity)
        #expect(reports.isEmpty)
        #expect(received.map(\.bytes) == datagrams)
        let remote = SocketAddress(address: address, port: source.port)
        #expect(received.allSatisfy { $0.path == DatagramPath(remote: remote, localAddress: address) })
    }

    @Test("this kernel segments and coalesces, so that the other tests are about that")
    func offloadIsThere() throws {
        let transport = try openTransport()
        let offload = transport.offload
        #expect(offload == .all)
    }

    @Test("datagrams of one size leave in one call and arrive as the same datagrams", arguments: addresses)
    func train(address: IPAddress) throws {
        var attempts: [UDPFaults.SendAttempt] = []
        var faults = UDPFaults()
        faults.onSend = {
            attempts.append($0)
            return nil
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let datagrams = numberedDatagrams(Array(repeating: 1452, count: 45))
        let path = loopbackPath(address, sink.port)
        let reports = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let received = try receiveAll(&sink, 45)
        #expect(reports.isEmpty)
        #expect(attempts == [.init(datagramCount: 45, byteCount: 45 * 1452, namesSource: false)])
        #expect(received.map(\.bytes) == datagrams)
    }

    @Test("datagrams of mixed sizes arrive unchanged and in order", arguments: addresses)
    func mixedSizes(address: IPAddress) throws {
        let sizes = [100, 100, 100, 64, 1452, 1452, 32, 32, 33, 1452, 48, 1452, 1452, 1400, 1400]
        try expectTransfer(numberedDatagrams(sizes), to: address)
    }

    @Test(
        "with either end's offload off the same datagrams arrive",
        arguments: [[], .segmentation, .coalescing] as [UDPOffload],
        [[], .segmentation, .coalescing] as [UDPOffload])
    func withoutOffload(sender: UDPOffload, receiver: UDPOffload) throws {
        let datagrams = numberedDatagrams(Array(repeating: 500, count: 70) + [40])
        try expectTransfer(datagrams, to: loopback4, sender: sender, receiver: receiver)
    }

    @Test("datagrams of the largest size arrive whole", arguments: addresses)
    func largest(address: IPAddress) throws {
        try expectTransfer(numberedDatagrams([65_507, 65_507, 32]), to: address)
    }

    @Test("a train has at most 64 datagrams and 65,507 bytes")
    func trainLimits() throws {
        var counts: [Int] = []
        var sizes: [Int] = []
        var faults = UDPFaults()
        faults.onSend = {
            counts.append($0.datagramCount)
            sizes.append($0.byteCount)
            return nil
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let datagrams = numberedDatagrams(Array(repeating: 32, count: 150) + Array(repeating: 9000, count: 8))
        let path = loopbackPath(loopback4, sink.port)
        _ = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let received = try receiveAll(&sink, 158)
        #expect(counts == [64, 64, 22, 7, 1])
        #expect(sizes == [2048, 2048, 704, 63_000, 9000])
        #expect(received.map(\.bytes) == datagrams)
    }

    @Test("what a batch has no room for comes first in the next call", arguments: [1, 7, 44])
    func smallBatch(slotCapacity: Int) throws {
        let datagrams = numberedDatagrams(Array(repeating: 700, count: 45) + [90])
        try expectTransfer(datagrams, to: loopback4, slotCapacity: slotCapacity)
    }

    @Test("a flood of small datagrams fills the slots of a batch")
    func smallDatagrams() throws {
        var source = try openTransport(offload: [])
        var sink = try openTransport()
        let datagrams = numberedDatagrams(Array(repeating: 33, count: 600))
        try sendAndAwait(datagrams, by: &source, at: &sink)
        var received: [ReceivedDatagram] = []
        let results = (0..<3).map { _ in receiveOnce(&sink, slotCapacity: 256, into: &received) }
        #expect(results.map(\.datagramCount) == [256, 256, 88])
        #expect(results.map(\.hasMore) == [true, true, false])
        #expect(received.map(\.bytes) == datagrams)
    }

    @Test("a receive that one call is enough for leaves the rest, and starts where datagrams came from last")
    func once() throws {
        var source = try openTransport(offload: [])
        var sink = try openTransport()
        let paths = [loopbackPath(loopback6, sink.port), loopbackPath(loopback4, sink.port)]
        let datagrams = numberedDatagrams(Array(repeating: 50, count: 6))
        // Of either family one that says where datagrams came from last, and two that tell the order then.
        for (offset, path) in zip([0, 3], paths) {
            var received: [ReceivedDatagram] = []
            _ = send([OutgoingDatagram(bytes: datagrams[offset], path: path)], by: &source)
            received += try receiveAll(&sink, 1)
            for (other, descriptor) in zip(paths, [sink.descriptor6, sink.descriptor4]) {
                _ = send([OutgoingDatagram(bytes: datagrams[offset + 1], path: other)], by: &source)
                try awaitBytes(1, at: descriptor)
                let one = try waitingByteCount(at: descriptor)
                _ = send([OutgoingDatagram(bytes: datagrams[offset + 2], path: other)], by: &source)
                try awaitBytes(2 * one, at: descriptor)
            }
            let isIPv6 = path.remote.address.isIPv6
            for index in 1...2 {
                let result = receiveOnce(&sink, slotCapacity: 64, once: true, into: &received)
                #expect(result.datagramCount == 1)
                #expect(!result.hasMore)
                #expect(received.last?.bytes == datagrams[offset + index])
                #expect(received.last?.path.remote.address.isIPv6 == isIPv6)
            }
            received += try receiveAll(&sink, 2)
            #expect(received.map(\.path.remote.address.isIPv6) == [isIPv6, isIPv6, isIPv6, !isIPv6, !isIPv6])
        }
    }

    @Test("a flood of full frames fills the slots of a batch too")
    func fullFrames() throws {
        var source = try openTransport(offload: [])
        var sink = try openTransport()
        let datagrams = numberedDatagrams(Array(repeating: 1452, count: 300))
        try sendAndAwait(datagrams, by: &source, at: &sink)
        var received: [ReceivedDatagram] = []
        let first = receiveOnce(&sink, slotCapacity: 256, into: &received)
        let second = receiveOnce(&sink, slotCapacity: 256, into: &received)
        #expect([first.datagramCount, second.datagramCount] == [256, 44])
        #expect(received.map(\.bytes) == datagrams)
    }

    @Test("the ECN bits of each slot reach the other side, also within one batch", arguments: addresses)
    func congestionBits(address: IPAddress) throws {
        var source = try openTransport()
        var sink = try openTransport()
        let path = loopbackPath(address, sink.port)
        let bits: [UInt8] = [0, 0, 2, 2, 2, 1, 3, 3, 0]
        let datagrams = numberedDatagrams(Array(repeating: 200, count: bits.count))
        let outgoing = zip(datagrams, bits).map {
            OutgoingDatagram(bytes: $0, path: path, congestion: $1)
        }
        let reports = send(outgoing, by: &source)
        let received = try receiveAll(&sink, bits.count)
        #expect(reports.isEmpty)
        #expect(received.map(\.congestion) == bits)
        #expect(received.map(\.bytes) == datagrams)
    }

    @Test("slots that are not ready are left out and stay as they are")
    func onlyReadySlots() throws {
        var source = try openTransport()
        var sink = try openTransport()
        let path = loopbackPath(loopback4, sink.port)
        let datagrams = numberedDatagrams(Array(repeating: 100, count: 6))
        var batch = outboundBatch(datagrams.map { OutgoingDatagram(bytes: $0, path: path) })
        batch.slots[0].state = .finished
        batch.slots[3].state = .fresh
        source.send(&batch, at: someInstant) { _, _ in Issue.record("nothing to report") }
        let states = (0..<6).map { batch.slots[$0].state }
        let received = try receiveAll(&sink, 4)
        #expect(states == [.finished, .ready, .ready, .fresh, .ready, .ready])
        #expect(received.map(\.bytes) == [1, 2, 4, 5].map { datagrams[$0] })
    }

    @Test("an empty datagram arrives as one, for the device to count")
    func emptyDatagram() throws {
        var source = try openTransport()
        var sink = try openTransport()
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let outcome = source.send(empty, path: loopbackPath(loopback4, sink.port), trafficClass: 0)
        let received = try receiveAll(&sink, 1)
        #expect(outcome == .sent)
        #expect(received.map(\.bytes) == [[]])
    }

    @Test("a flood at one family does not keep the other family's datagrams back")
    func families() throws {
        var source = try openTransport(offload: [])
        var sink = try openTransport()
        let flood = numberedDatagrams(Array(repeating: 40, count: 100))
        let single = OutgoingDatagram(
            bytes: [UInt8](repeating: 9, count: 50), path: loopbackPath(loopback6, sink.port))
        try sendAndAwait(flood, by: &source, at: &sink)
        _ = send([single], by: &source)
        try awaitBytes(1, at: sink.descriptor6)
        var received: [ReceivedDatagram] = []
        for _ in 0..<2 { _ = receiveOnce(&sink, slotCapacity: 20, into: &received) }
        #expect(received.contains { $0.path.remote.address == loopback6 })
    }
}
