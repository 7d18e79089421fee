// SPDX-License-Identifier: MIT

import CLinux
import Foundation
import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

/// One received datagram, copied out of the transport's memory.
struct ReceivedDatagram: Equatable {
    let bytes: [UInt8]
    let path: DatagramPath
    let congestion: UInt8
}

/// One datagram to send by a batch.
struct OutgoingDatagram {
    var bytes: [UInt8]
    var path: DatagramPath
    var congestion: UInt8 = 0
    var peer: UInt32 = 7
}

/// A problem that a send reported, with the peer's number.
struct ReportedProblem: Equatable {
    let peer: UInt32
    let problem: SendProblem
}

let loopback4 = IPAddress(ipv4: 0x7F00_0001)
let loopback6 = IPAddress(ipv6High: 0, low: 1)
let someInstant = Instant(nanoseconds: 5_000_000_000_000)

/// A path to a port of this machine.
func loopbackPath(_ address: IPAddress, _ port: UInt16, from local: IPAddress? = nil) -> DatagramPath {
    DatagramPath(remote: SocketAddress(address: address, port: port), localAddress: local)
}

/// Datagrams that differ from each other in their first two bytes, and in a pattern behind.
func numberedDatagrams(_ sizes: [Int]) -> [[UInt8]] {
    sizes.enumerated().map { number, size in
        (0..<size).map {
            $0 == 0 ? UInt8(number & 255) : $0 == 1 ? UInt8(number >> 8) : UInt8(($0 &* 31 &+ number) & 255)
        }
    }
}

/// An outbound batch as sealing leaves it; each datagram has at least 32 bytes.
func outboundBatch(_ datagrams: [OutgoingDatagram]) -> PacketBatch {
    let byteCount = datagrams.reduce(0) { $0 + $1.bytes.count }
    var batch = PacketBatch(slotCapacity: max(datagrams.count, 1), byteCapacity: byteCount)
    for (index, datagram) in datagrams.enumerated() {
        guard let data = batch.append(byteCount: datagram.bytes.count - 32) else {
            Issue.record("the batch is too small")
            break
        }
        datagram.bytes.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { (data - 16).copyMemory(from: base, byteCount: bytes.count) }
        }
        batch.slots[index].path = batch.addPath(datagram.path)
        batch.slots[index].congestion = datagram.congestion
        batch.slots[index].peer = datagram.peer
        batch.slots[index].state = .ready
    }
    return batch
}

/// Sends a batch and collects what was reported.
func send(
    _ datagrams: [OutgoingDatagram], by transport: inout UDPTransport, at now: Instant = someInstant
) -> [ReportedProblem] {
    var batch = outboundBatch(datagrams)
    var reports: [ReportedProblem] = []
    transport.send(&batch, at: now) { reports.append(ReportedProblem(peer: $0, problem: $1)) }
    return reports
}

/// Appends the datagrams of one receive call.
func receiveOnce(
    _ transport: inout UDPTransport, slotCapacity: Int, once: Bool = false,
    into received: inout [ReceivedDatagram]
) -> UDPReceiveResult {
    var batch = PacketBatch(slotCapacity: slotCapacity, byteCapacity: 1 << 20)
    let result = transport.receive(into: &batch, once: once)
    for index in 0..<batch.count {
        let slot = batch.slots[index]
        let bytes = UnsafeRawBufferPointer(start: slot.datagram, count: slot.datagramByteCount)
        received.append(
            ReceivedDatagram(bytes: Array(bytes), path: batch.path(slot.path), congestion: slot.congestion))
    }
    return result
}

/// Receives until `count` datagrams are there or nothing came for ten minutes, and then whatever else is there.
func receiveAll(
    _ transport: inout UDPTransport, _ count: Int, slotCapacity: Int = 256
) throws -> [ReceivedDatagram] {
    let epoll = try Epoll()
    if transport.descriptor4 >= 0 { try epoll.add(transport.descriptor4, for: .readable, token: 4) }
    if transport.descriptor6 >= 0 { try epoll.add(transport.descriptor6, for: .readable, token: 6) }
    var received: [ReceivedDatagram] = []
    while received.count < count {
        guard try epoll.wait(until: BootClock.now() + .seconds(600)) > 0 else { break }
        while receiveOnce(&transport, slotCapacity: slotCapacity, into: &received).hasMore {}
    }
    while receiveOnce(&transport, slotCapacity: slotCapacity, into: &received).hasMore {}
    return received
}

/// The memory that the datagrams take which wait at a socket, in bytes.
func waitingByteCount(at descriptor: Int32) throws -> Int {
    var values = [UInt32](repeating: 0, count: 16)
    var size = socklen_t(values.count * 4)
    try SystemCall.run("getsockopt") { getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &values, &size) }
    return Int(values[0])
}

/// Waits until so much waits at a socket, at most ten minutes: a busy kernel hands datagrams on in its own time.
func awaitBytes(_ count: Int, at descriptor: Int32) throws {
    let deadline = BootClock.now() + .seconds(600)
    while try waitingByteCount(at: descriptor) < count, BootClock.now() < deadline { usleep(1_000) }
}

/// Sends datagrams of one size by IPv4, which no offload joins, and returns when all wait at the other end.
func sendAndAwait(_ datagrams: [[UInt8]], by source: inout UDPTransport, at sink: inout UDPTransport) throws {
    let path = loopbackPath(loopback4, sink.port)
    let outgoing = datagrams.map { OutgoingDatagram(bytes: $0, path: path) }
    // What the kernel takes for one of them.
    _ = send(Array(outgoing.prefix(1)), by: &source)
    try awaitBytes(1, at: sink.descriptor4)
    let each = try waitingByteCount(at: sink.descriptor4)
    _ = try receiveAll(&sink, 1)
    _ = send(outgoing, by: &source)
    try awaitBytes(datagrams.count * each, at: sink.descriptor4)
}

/// Waits until an IPv6 address of this thread's namespace has its route, which the kernel makes in its own time.
///
/// - Parameter digits: The address as 32 hexadecimal digits.
func awaitRoute(to digits: String) throws {
    let deadline = BootClock.now() + .seconds(600)
    while BootClock.now() < deadline {
        let routes = try String(contentsOfFile: "/proc/thread-self/net/ipv6_route", encoding: .utf8)
        if routes.split(separator: "\n").contains(where: { $0.hasPrefix("\(digits) 80 ") }) { return }
        usleep(1_000)
    }
}

/// A transport that is open on a port below those that the kernel gives out: nobody takes it once it is free.
func openQuietTransport() throws -> UDPTransport {
    var transport = UDPTransport()
    for attempt in 1...1000 {
        do throws(SystemCallError) {
            try transport.open(port: UInt16.random(in: 20_000..<32_000), firewallMark: 0)
            break
        } catch {
            if attempt == 1000 { throw error }
        }
    }
    return transport
}

/// A transport that is open on a port of the kernel's choice.
func openTransport(
    offload: UDPOffload = .all, faults: UDPFaults = UDPFaults()
) throws -> UDPTransport {
    var transport = UDPTransport(offload: offload)
    transport.faults = faults
    try transport.open(port: 0, firewallMark: 0)
    return transport
}

/// Why a test that needs a network namespace cannot run, or `nil`.
let namespaceObstacle: String? = {
    guard geteuid() == 0 else { return "network namespaces need root" }
    return nil
}()

/// Runs a body on a thread of its own in a new network namespace whose loopback interface is up.
func inNewNetworkNamespace(_ body: @escaping @Sendable () throws -> Void) throws {
    try runOnThread {
        try SystemCall.run("unshare") { linux_unshare(linux_clone_newnet) }
        try runTool("ip", "link", "set", "lo", "up")
        try body()
    }
}

/// Runs a body on a new thread, and throws what it throws.
private func runOnThread(_ body: @escaping @Sendable () throws -> Void) throws {
    nonisolated(unsafe) var failure: (any Error)?
    let thread = try WorkerThread(name: "udp-test") {
        do { try body() } catch { failure = error }
    }
    thread.join()
    if let failure { throw failure }
}

/// Runs a tool in the namespace of the calling thread, which a child inherits.
func runTool(_ arguments: String...) throws {
    var child = pid_t()
    var words = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    let spawned = posix_spawnp(&child, arguments[0], nil, nil, &words, environ)
    guard spawned == 0 else { throw SystemCallError(call: "posix_spawnp", errno: spawned) }
    var status: Int32 = 0
    try SystemCall.run("waitpid") { waitpid(child, &status, 0) }
    guard status == 0 else { throw ToolFailure(arguments: arguments) }
}

/// A tool that a test needs ended with a failure.
struct ToolFailure: Error {
    let arguments: [String]
}
