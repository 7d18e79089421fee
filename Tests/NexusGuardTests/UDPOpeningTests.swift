// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite("UDP transport: opening")
struct UDPOpeningTests {
    /// Sends one datagram to a transport on both families, and says which arrive.
    private func arrivals(at sink: inout UDPTransport, _ expected: Int) throws -> [IPAddress] {
        var source = try openTransport()
        let port = sink.port
        _ = send(
            [loopback4, loopback6].map {
                OutgoingDatagram(bytes: [UInt8](repeating: 1, count: 40), path: loopbackPath($0, port))
            }, by: &source)
        return try receiveAll(&sink, expected).map(\.path.remote.address)
    }

    @Test("both families share the port that the kernel chose")
    func chosenPort() throws {
        var transport = try openTransport()
        let port = transport.port
        let addresses = try arrivals(at: &transport, 2)
        #expect(port != 0)
        #expect(Set(addresses) == [loopback4, loopback6])
    }

    @Test("a taken port is refused and leaves the old sockets at work")
    func takenPort() throws {
        let other = try openTransport()
        var transport = try openTransport()
        let before = (transport.port, transport.descriptor4, transport.descriptor6)
        let taken = other.port
        var refusal: SystemCallError?
        do throws(SystemCallError) { try transport.open(port: taken, firewallMark: 0) } catch {
            refusal = error
        }
        let after = (transport.port, transport.descriptor4, transport.descriptor6)
        #expect(refusal == SystemCallError(call: "bind", errno: EADDRINUSE))
        #expect(before == after)
        let addresses = try arrivals(at: &transport, 2)
        #expect(addresses.count == 2)
    }

    @Test("another port replaces the old one; the same port changes nothing; closing frees it")
    func replacement() throws {
        var transport = try openQuietTransport()
        let first = transport.port
        let descriptor = transport.descriptor4
        try transport.open(port: first, firewallMark: 0)
        let descriptorAfter = transport.descriptor4
        #expect(descriptorAfter == descriptor)
        try transport.open(port: 0, firewallMark: 0)
        let second = transport.port
        #expect(second != first && second != 0)

        // The port of before is free again.
        var successor = UDPTransport()
        try successor.open(port: first, firewallMark: 0)
        let reopened = successor.port
        #expect(reopened == first)
        transport.close()
        let closed = (transport.isOpen, transport.port, transport.descriptor4, transport.descriptor6)
        #expect(closed == (false, 0, -1, -1))
    }

    @Test(
        "a kernel without IPv6 gets an IPv4 socket alone, and one without IPv4 the other",
        arguments: [true, false])
    func missingFamily(missesIPv6: Bool) throws {
        var faults = UDPFaults()
        faults.onSocket = { $0 == missesIPv6 ? EAFNOSUPPORT : nil }
        var transport = try openTransport(faults: faults)
        let descriptors = (transport.descriptor4, transport.descriptor6)
        #expect((descriptors.1 < 0) == missesIPv6)
        #expect((descriptors.0 < 0) == !missesIPv6)
        let addresses = try arrivals(at: &transport, 1)
        #expect(addresses == [missesIPv6 ? loopback4 : loopback6])

        let missing = loopbackPath(missesIPv6 ? loopback6 : loopback4, 9)
        let outgoing = OutgoingDatagram(bytes: [UInt8](repeating: 1, count: 40), path: missing)
        let reports = send([outgoing], by: &transport)
        #expect(reports.map(\.problem) == [.dropped(datagramCount: 1, errno: EAFNOSUPPORT)])
    }

    @Test("a kernel with neither family is an error")
    func noFamily() {
        var faults = UDPFaults()
        faults.onSocket = { _ in EAFNOSUPPORT }
        var transport = UDPTransport()
        transport.faults = faults
        var refusal: SystemCallError?
        do throws(SystemCallError) { try transport.open(port: 0, firewallMark: 0) } catch { refusal = error }
        #expect(refusal == SystemCallError(call: "socket", errno: EAFNOSUPPORT))
        let isOpen = transport.isOpen
        #expect(!isOpen)
    }

    @Test("a failure of the second family closes the first one's socket")
    func noLeak() throws {
        var faults = UDPFaults()
        faults.onSocket = { $0 ? EMFILE : nil }
        var transport = UDPTransport()
        transport.faults = faults
        let before = try openTransport().port
        var refusal: SystemCallError?
        do throws(SystemCallError) { try transport.open(port: before, firewallMark: 0) } catch {
            refusal = error
        }
        #expect(refusal == SystemCallError(call: "socket", errno: EMFILE))
        // Were the IPv4 socket still open, its port would be taken.
        var successor = UDPTransport()
        try successor.open(port: before, firewallMark: 0)
        let reopened = successor.port
        #expect(reopened == before)
    }

    @Test(
        "the mark is set on both sockets, at opening and later",
        .enabled(if: geteuid() == 0, "marks need root"))
    func firewallMark() throws {
        var transport = UDPTransport()
        try transport.open(port: 0, firewallMark: 0x51820)
        let descriptors = [transport.descriptor4, transport.descriptor6]
        #expect(try marks(descriptors) == [0x51820, 0x51820])
        try transport.setFirewallMark(0)
        #expect(try marks(descriptors) == [0, 0])
        try transport.setFirewallMark(0xFFFF_FFFF)
        #expect(try marks(descriptors) == [0xFFFF_FFFF, 0xFFFF_FFFF])
    }

    private func marks(_ descriptors: [Int32]) throws -> [UInt32] {
        try descriptors.map { descriptor in
            var value: UInt32 = 0
            var byteCount = socklen_t(4)
            try SystemCall.run("getsockopt") {
                getsockopt(descriptor, SOL_SOCKET, linux_so_mark, &value, &byteCount)
            }
            return value
        }
    }

    @Test("a handshake message carries its traffic class octet, on IPv4 and IPv6")
    func trafficClass() throws {
        for (address, level, type) in [
            (loopback4, Int32(IPPROTO_IP), IP_TOS),
            (loopback6, Int32(IPPROTO_IPV6), IPV6_TCLASS),
        ] {
            let sink = try openTransport()
            let descriptor = address.isIPv6 ? sink.descriptor6 : sink.descriptor4
            var source = try openTransport()
            let outcome = [UInt8](repeating: 1, count: 148).withUnsafeBytes {
                source.send($0, path: loopbackPath(address, sink.port), trafficClass: 0x88)
            }
            #expect(outcome == .sent)
            let octet = try receivedTrafficClass(descriptor, level: level, type: type)
            #expect(octet == 0x88)
        }
    }

    /// Receives one datagram by a plain call, and returns the octet that its control message of a type holds.
    private func receivedTrafficClass(
        _ descriptor: Int32, level: Int32, type: Int32
    ) throws -> UInt8? {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try SystemCall.run("poll") { poll(&poller, 1, 600_000) }
        var data = [UInt8](repeating: 0, count: 2048)
        var control = [UInt64](repeating: 0, count: 32)
        return try data.withUnsafeMutableBytes { data in
            try control.withUnsafeMutableBytes { control in
                var vector = iovec(iov_base: data.baseAddress, iov_len: data.count)
                return try withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    try SystemCall.run("recvmsg") { recvmsg(descriptor, &message, 0) }
                    var offset = 0
                    while offset + 16 <= message.msg_controllen {
                        let length = control.load(fromByteOffset: offset, as: Int.self)
                        if control.load(fromByteOffset: offset + 8, as: Int32.self) == level,
                            control.load(fromByteOffset: offset + 12, as: Int32.self) == type
                        {
                            return control[offset + 16]
                        }
                        offset += (length + 7) & ~7
                    }
                    return nil
                }
            }
        }
    }
}
