// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite("UDP transport: refusals")
struct UDPFallbackTests {
    private static let segmentationErrors = [EIO, EINVAL, EMSGSIZE, EOPNOTSUPP]

    @Test(
        "a refused train arrives one by one, each datagram once and in order, told once a destination",
        arguments: segmentationErrors, [loopback4, loopback6])
    func refusedTrain(error: Int32, address: IPAddress) throws {
        var trainAttempts = 0
        var faults = UDPFaults()
        faults.onSend = {
            guard $0.datagramCount > 1 else { return nil }
            trainAttempts += 1
            return error
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let path = loopbackPath(address, sink.port)
        let datagrams = numberedDatagrams(Array(repeating: 1000, count: 100) + [77])
        let outgoing = datagrams.map { OutgoingDatagram(bytes: $0, path: path) }
        var reports = send(outgoing, by: &source)
        let received = try receiveAll(&sink, 101)
        #expect(received.map(\.bytes) == datagrams)

        // Within the same batch the train behind the refused one still tries; later batches do not.
        let attemptsOfFirstBatch = trainAttempts
        reports += send(outgoing, by: &source)
        let receivedAgain = try receiveAll(&sink, 101)
        #expect(receivedAgain.map(\.bytes) == datagrams)
        #expect(attemptsOfFirstBatch == 1)
        #expect(trainAttempts == 1)
        #expect(
            reports == [ReportedProblem(peer: 7, problem: .segmentationRefused(address, errno: error))])
    }

    @Test("segmentation to a destination is tried again after ten minutes")
    func retryAfterPeriod() throws {
        var refuses = true
        var trains = 0
        var faults = UDPFaults()
        faults.onSend = {
            guard $0.datagramCount > 1 else { return nil }
            trains += 1
            return refuses ? EIO : nil
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let outgoing = numberedDatagrams([100, 100, 100]).map {
            OutgoingDatagram(bytes: $0, path: loopbackPath(loopback4, sink.port))
        }
        let first = send(outgoing, by: &source)
        let early = send(outgoing, by: &source, at: someInstant + .seconds(599))
        let trainsEarly = trains
        let repeated = send(outgoing, by: &source, at: someInstant + .seconds(600))
        refuses = false
        let later = send(outgoing, by: &source, at: someInstant + .seconds(1200))
        let atOnce = send(outgoing, by: &source, at: someInstant + .seconds(1200))
        let received = try receiveAll(&sink, 15)
        #expect(first.count == 1)
        #expect(early.isEmpty && repeated.isEmpty && later.isEmpty && atOnce.isEmpty)
        #expect(trainsEarly == 1)
        #expect(trains == 4)
        #expect(received.count == 15)
    }

    @Test("a refusal that single datagrams meet too is not blamed on segmentation")
    func refusedAlways() throws {
        var faults = UDPFaults()
        faults.onSend = { _ in EINVAL }
        var source = try openTransport(faults: faults)
        let path = loopbackPath(loopback4, 9)
        var batch = outboundBatch(
            numberedDatagrams([64, 64, 64]).map { OutgoingDatagram(bytes: $0, path: path) })
        var reports: [SendProblem] = []
        source.send(&batch, at: someInstant) { reports.append($1) }
        let states = (0..<3).map { batch.slots[$0].state }
        #expect(reports == Array(repeating: .dropped(datagramCount: 1, errno: EINVAL), count: 3))
        #expect(states == [.finished, .finished, .finished])
    }

    @Test("a train that a packet filter refuses is dropped and counted at once")
    func refusedByFilter() throws {
        var attempts = 0
        var faults = UDPFaults()
        faults.onSend = { _ in
            attempts += 1
            return EPERM
        }
        var source = try openTransport(faults: faults)
        let path = loopbackPath(loopback4, 9)
        let reports = send(
            numberedDatagrams([64, 64, 64]).map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        #expect(reports == [ReportedProblem(peer: 7, problem: .dropped(datagramCount: 3, errno: EPERM))])
        #expect(attempts == 1)
    }

    @Test("a full socket is tried again, and then what is refused is dropped", arguments: [EAGAIN, ENOBUFS])
    func fullSocket(error: Int32) throws {
        var refusals = 2
        var attempts = 0
        var faults = UDPFaults()
        faults.onSend = { _ in
            attempts += 1
            refusals -= 1
            return refusals >= 0 ? error : nil
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let outgoing = numberedDatagrams([64, 64]).map {
            OutgoingDatagram(bytes: $0, path: loopbackPath(loopback4, sink.port))
        }
        let reports = send(outgoing, by: &source)
        let received = try receiveAll(&sink, 2)
        #expect(reports.isEmpty)
        #expect(received.count == 2)
        #expect(attempts == 3)

        refusals = .max
        let reportsOfFull = send(outgoing, by: &source)
        #expect(
            reportsOfFull == [ReportedProblem(peer: 7, problem: .dropped(datagramCount: 2, errno: error))])
        #expect(attempts == 8)
    }

    @Test("a datagram that fits no packet is dropped, and the others arrive")
    func oversizedDatagram() throws {
        var source = try openTransport()
        var sink = try openTransport()
        let path = loopbackPath(loopback4, sink.port)
        let datagrams = numberedDatagrams([100, 65_520, 100])
        let reports = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let received = try receiveAll(&sink, 2)
        #expect(reports == [ReportedProblem(peer: 7, problem: .dropped(datagramCount: 1, errno: EMSGSIZE))])
        #expect(received.map(\.bytes) == [datagrams[0], datagrams[2]])
    }

    @Test(
        "a source address that is not this host's is dropped, and the datagrams arrive without it",
        arguments: [
            (loopback4, IPAddress(ipv4: 0xC000_024D)),
            (loopback6, IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 0x77)),
        ])
    func staleSource(address: IPAddress, source stale: IPAddress) throws {
        var source = try openTransport()
        var sink = try openTransport()
        let path = loopbackPath(address, sink.port, from: stale)
        let datagrams = numberedDatagrams(Array(repeating: 300, count: 10) + [60, 300])
        let reports = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let single = datagrams[0].withUnsafeBytes { source.send($0, path: path, trafficClass: 0x88) }
        let received = try receiveAll(&sink, 13)
        // One report a call: the train of 11, and the datagram behind it.
        #expect(
            reports == Array(repeating: ReportedProblem(peer: 7, problem: .sourceRefused), count: 2))
        #expect(single == .sentWithoutSource)
        #expect(received.map(\.bytes) == datagrams + [datagrams[0]])
        #expect(received.allSatisfy { $0.path.remote.address == address })
    }

    @Test("a stale source and refused segmentation together lose nothing")
    func staleSourceAndRefusedTrain() throws {
        var faults = UDPFaults()
        faults.onSend = { $0.datagramCount > 1 ? EINVAL : nil }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let path = loopbackPath(loopback4, sink.port, from: IPAddress(ipv4: 0xC000_024D))
        let datagrams = numberedDatagrams(Array(repeating: 300, count: 5))
        let reports = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let received = try receiveAll(&sink, 5)
        #expect(received.map(\.bytes) == datagrams)
        #expect(
            reports.map(\.problem) == [.segmentationRefused(loopback4, errno: EINVAL), .sourceRefused])
    }

    @Test("a working source is used: the datagrams leave from that address")
    func workingSource() throws {
        var source = try openTransport()
        var sink = try openTransport()
        let local = IPAddress(ipv4: 0x7F00_0042)
        let path = loopbackPath(loopback4, sink.port, from: local)
        let datagrams = numberedDatagrams(Array(repeating: 300, count: 4))
        let reports = send(datagrams.map { OutgoingDatagram(bytes: $0, path: path) }, by: &source)
        let received = try receiveAll(&sink, 4)
        #expect(reports.isEmpty)
        #expect(received.allSatisfy { $0.path.remote.address == local && $0.path.localAddress == loopback4 })
    }

    @Test("the table of refused destinations is bounded, forgets by time, and knows who is new")
    func refusalTable() {
        var table = SegmentationRefusals()
        let addresses = (0..<5000).map { IPAddress(ipv4: 0x0A00_0000 + UInt32($0)) }
        let newOnes = addresses.filter { table.insert($0, at: someInstant) }.count
        let held = addresses.filter { table.holds($0, at: someInstant) }.count
        let heldLater = addresses.filter { table.holds($0, at: someInstant + SegmentationRefusals.period) }
            .count
        let lastIsNew = table.insert(addresses[4999], at: someInstant)
        table.remove(addresses[4999])
        let holdsRemoved = table.holds(addresses[4999], at: someInstant)
        #expect(newOnes == 5000)
        #expect((200...256).contains(held))
        #expect(heldLater == 0)
        #expect(!lastIsNew)
        #expect(!holdsRemoved)
    }

    /// Sends what an outbox holds, and returns what became of each call.
    private func sendAll(
        _ outbox: borrowing Outbox, by transport: inout UDPTransport
    ) -> [(count: Int, outcome: SendOutcome)] {
        var outcomes: [(count: Int, outcome: SendOutcome)] = []
        var next = 0
        while next < outbox.entries.count {
            let result = transport.send(outbox, from: next, at: someInstant)
            outcomes.append(result)
            next += result.count
        }
        return outcomes
    }

    @Test("replies of one size to one address leave in one call, others in calls of their own, all in order")
    func repliesLeaveTogether() throws {
        var attempts: [Int] = []
        var faults = UDPFaults()
        faults.onSend = {
            attempts.append($0.datagramCount)
            return nil
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let sizes = Array(repeating: 64, count: 100) + [92, 148, 148, 64]
        let datagrams = numberedDatagrams(sizes)
        var outbox = Outbox()
        for bytes in datagrams {
            outbox.send(byteCount: bytes.count, to: loopbackPath(loopback4, sink.port)) {
                $0.copyMemory(from: bytes, byteCount: bytes.count)
            }
        }
        let outcomes = sendAll(outbox, by: &source)
        #expect(outcomes.allSatisfy { $0.outcome == .sent })
        #expect(attempts == [64, 36, 1, 2, 1])
        #expect(try receiveAll(&sink, sizes.count).map(\.bytes) == datagrams)
    }

    @Test("replies that are refused together arrive one by one", arguments: segmentationErrors)
    func refusedReplies(error: Int32) throws {
        var attempts: [Int] = []
        var faults = UDPFaults()
        faults.onSend = {
            attempts.append($0.datagramCount)
            return $0.datagramCount > 1 ? error : nil
        }
        var source = try openTransport(faults: faults)
        var sink = try openTransport()
        let datagrams = numberedDatagrams(Array(repeating: 64, count: 5))
        var outbox = Outbox()
        for bytes in datagrams {
            outbox.send(byteCount: bytes.count, to: loopbackPath(loopback4, sink.port)) {
                $0.copyMemory(from: bytes, byteCount: bytes.count)
            }
        }
        let outcomes = sendAll(outbox, by: &source)
        #expect(outcomes.map(\.count) == [1, 1, 1, 1, 1])
        #expect(outcomes.allSatisfy { $0.outcome == .sent })
        #expect(attempts == [5, 1, 1, 1, 1, 1])
        #expect(try receiveAll(&sink, 5).map(\.bytes) == datagrams)
    }
}
