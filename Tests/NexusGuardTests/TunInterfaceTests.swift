// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite(
    "TUN interface", .enabled(if: TunTestNamespace.isAvailable, "TUNs and network namespaces need root"))
struct TunInterfaceTests {
    @Test("a new interface has its name, the MTU 1,420 and a number, and goes when it is closed")
    func life() throws {
        try TunTestNamespace.run {
            let tun = try TunInterface(name: "tuntest0")
            #expect(tun.name == "tuntest0")
            #expect(try tun.mtu() == 1_420)
            #expect(try tun.index() == if_nametoindex("tuntest0"))
            #expect(tun.hasOffload == true)
            #expect(try tun.isUp() == false)
            try tun.setUp(true)
            #expect(try tun.isUp() == true)
            try tun.setUp(false)
            #expect(try tun.isUp() == false)
            try tun.setMTU(1_280)
            #expect(try tun.mtu() == 1_280)
            tun.close()
            #expect(Self.disappears("tuntest0"))
        }
    }

    @Test("names that the kernel refuses are refused with their reason")
    func names() throws {
        for name in ["", "a/b", "a b", "a:b", "a\n", "\t", ".", "..", "a\u{0}b"] {
            #expect(Self.failure(opening: name) == .invalidName(name))
        }
        #expect(Self.failure(opening: "sixteen-bytes-xx") == .nameTooLong("sixteen-bytes-xx"))
        try TunTestNamespace.run {
            let tun = try TunInterface(name: "fifteen-bytes-x")
            #expect(tun.name == "fifteen-bytes-x")
            let numbered = try TunInterface(name: "tuntest%d")
            #expect(numbered.name == "tuntest0")
        }
    }

    @Test("a name that is taken is refused, by a TUN or another interface")
    func taken() throws {
        try TunTestNamespace.run {
            let tun = try TunInterface(name: "tuntest0")
            #expect(Self.failure(opening: "tuntest0") == .interfaceExists("tuntest0"))
            #expect(Self.failure(opening: "lo") == .interfaceExists("lo"))
            #expect(tun.name == "tuntest0")
        }
    }

    @Test("a persistent interface that was made without virtio headers is taken as it is")
    func persistent() throws {
        try TunTestNamespace.run {
            try TunTestNamespace.ip("tuntap add dev tuntest0 mode tun")
            let tun = try TunInterface(name: "tuntest0")
            #expect(try tun.mtu() == 1_420)
            tun.close()
            #expect(if_nametoindex("tuntest0") != 0)
        }
    }

    @Test("a descriptor from outside is taken over with and without virtio headers")
    func adopts() throws {
        try TunTestNamespace.run {
            let plain = linux_iff_tun | linux_iff_no_pi
            for flags in [plain, plain | linux_iff_vnet_hdr] {
                let number = try TunTestNamespace.rawDescriptor("tuntest0", flags: flags)
                var tun = try TunInterface(adopting: number, mtu: 1_300)
                #expect(tun.descriptor == number)
                #expect(tun.name == "tuntest0")
                #expect(try tun.mtu() == 1_300)
                #expect(tun.hasOffload == (flags != plain))
                try Self.exchange(&tun)
                tun.close()
                #expect(Self.disappears("tuntest0"))
            }
        }
    }

    @Test("descriptors that are no TUN are refused and left open")
    func adoptsNothingElse() throws {
        #expect(Self.failure(adopting: -1) == .notTunnelDescriptor(-1))
        #expect(Self.failure(adopting: 1_000_000) == .notTunnelDescriptor(1_000_000))
        try TunTestNamespace.run {
            let file = try SystemCall.run("open") { open("/dev/null", O_RDWR | O_CLOEXEC) }
            let unattached = try SystemCall.run("open") { open("/dev/net/tun", O_RDWR | O_CLOEXEC) }
            let tap = try TunTestNamespace.rawDescriptor("taptest0", flags: 0x0002 | linux_iff_no_pi)
            #expect(Self.failure(adopting: file) == .notTunnelDescriptor(file))
            #expect(Self.failure(adopting: unattached) == .notTunnelDescriptor(unattached))
            #expect(Self.failure(adopting: tap) == .unsuitableDescriptor(tap))
            for number in [file, unattached, tap] {
                #expect(SystemCall.isOpen(number))
                SystemCall.close(number)
            }
        }
    }

    @Test("garbage that is written is dropped and counted, and the interface lives on")
    func garbageOut() throws {
        try TunTestNamespace.run {
            var tun = try TunInterface(name: "tuntest0")
            let packet = TunTestPacket(transport: .udp, payload: [1]).bytes
            // Down: the kernel refuses everything.
            let down = TunTestNamespace.write([packet], to: &tun)
            #expect(down.droppedCount == 1)
            try tun.setUp(true)
            let rest = [UInt8](repeating: 7, count: 59)
            let garbage: [[UInt8]] = [[0x00] + rest, [0x50] + rest, [0xF0] + rest]
            let result = TunTestNamespace.write(garbage + [packet, [0x00]], to: &tun)
            #expect(result.droppedCount == 4)
            #expect(result.packetCount == 1)
            #expect(!result.isGone)
        }
    }

    @Test("garbage that is read goes into the batch as it is")
    func garbageIn() throws {
        try TunTestNamespace.run {
            var tun = try TunInterface(name: "tuntest0")
            try tun.setUp(true)
            _ = TunTestNamespace.packets(of: &tun)
            let raw = try SystemCall.run("socket") { socket(AF_PACKET, linux_udp_socket_type, 0) }
            defer { SystemCall.close(raw) }
            // `struct sockaddr_ll`: family, protocol in network order, interface, and no hardware address.
            var name = [UInt8](repeating: 0, count: 20)
            name[0] = UInt8(AF_PACKET)
            name[2] = 0x08
            withUnsafeBytes(of: try tun.index()) { name.replaceSubrange(4..<8, with: $0) }
            let garbage: [[UInt8]] = [[0x45], [0x00, 1], [0x5F] + [UInt8](repeating: 1, count: 40), [0xF0]]
            for packet in garbage {
                let sent = name.withUnsafeBytes { name in
                    sendto(
                        raw, packet, packet.count, 0,
                        name.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(name.count))
                }
                #expect(sent == packet.count)
            }
            let received = TunTestNamespace.packets(of: &tun) { received in
                received.count { garbage.contains($0) } >= garbage.count
            }
            #expect(received.filter { garbage.contains($0) } == garbage)
        }
    }

    @Test("a read that one packet is enough for leaves the others")
    func once() throws {
        try TunTestNamespace.run {
            var tun = try TunInterface(name: "tuntest0")
            try TunTestNamespace.ip("address add 10.0.0.2/24 dev tuntest0")
            try tun.setUp(true)
            let socket = try TunTestNamespace.socket(
                linux_udp_socket_type, "10.0.0.1", port: 5_000, connects: true)
            defer { SystemCall.close(socket) }
            // What the kernel says to a new link of its own accord comes in between, at any time.
            let payloads = (1...3).map { TunTestPacket.payload(200 + $0) }
            for payload in payloads { #expect(send(socket, payload, payload.count, 0) == payload.count) }
            var batch = PacketBatch(slotCapacity: 64, byteCapacity: 0)
            var found: [[UInt8]] = []
            let deadline = BootClock.now() + .seconds(600)
            while found.count < payloads.count, BootClock.now() < deadline {
                let result = tun.read(into: &batch, once: true)
                #expect(result.packetCount <= 1)
                #expect(!result.isFull)
                if result.packetCount == 1 {
                    let packet = UnsafeRawBufferPointer(
                        start: batch.slots[0].data, count: batch.slots[0].byteCount)
                    if let payload = payloads.first(where: { packet.suffix($0.count).elementsEqual($0) }) {
                        found.append(payload)
                    }
                }
                batch.removeAll()
            }
            #expect(found == payloads)
        }
    }

    @Test("reads and writes say so when the interface was deleted")
    func deleted() throws {
        try TunTestNamespace.run {
            var tun = try TunInterface(name: "tuntest0")
            try tun.setUp(true)
            try TunTestNamespace.ip("link del tuntest0")
            var batch = PacketBatch(slotCapacity: 4, byteCapacity: 0)
            let read = tun.read(into: &batch)
            let written = TunTestNamespace.write([[0x45, 0]], to: &tun)
            #expect(read.isGone)
            #expect(written.isGone)
            #expect(written.droppedCount == 1)
            #expect(tun.name == nil)
            #expect(throws: TunError.refused(SystemCallError(call: "ioctl TUNGETIFF", errno: ENODEV))) {
                _ = try tun.mtu()
            }
        }
    }

    /// Waits until there is no interface of a name.
    ///
    /// A process that another test starts at this moment holds a copy of the descriptor until it runs its program.
    private static func disappears(_ name: String) -> Bool {
        let deadline = BootClock.now() + .seconds(600)
        while if_nametoindex(name) != 0, BootClock.now() < deadline { usleep(1_000) }
        return if_nametoindex(name) == 0
    }

    /// Sends one datagram out through the interface and one in.
    private static func exchange(_ tun: inout TunInterface) throws {
        try TunTestNamespace.ip("address add 10.0.0.2/24 dev tuntest0")
        try tun.setUp(true)
        let type = linux_udp_socket_type
        let socket = try TunTestNamespace.socket(type, "10.0.0.1", port: 5_000, connects: true)
        defer { SystemCall.close(socket) }
        let payload = TunTestPacket.payload(700)
        try SystemCall.run("send") { send(socket, payload, payload.count, 0) }
        let packets = TunTestNamespace.packets(of: &tun) { packets in
            packets.contains { $0.first == 0x45 && $0.count == 728 }
        }
        let packet = try #require(packets.first { $0.first == 0x45 && $0.count == 728 })
        var expected = TunTestPacket(transport: .udp, source: 2, destination: 1)
        expected.sourcePort = UInt16(packet[20]) << 8 | UInt16(packet[21])
        expected.destinationPort = 5_000
        expected.identification = UInt16(packet[4]) << 8 | UInt16(packet[5])
        expected.payload = payload
        #expect(packet == expected.bytes)

        var answer = TunTestPacket(transport: .udp, source: 1, destination: 2)
        (answer.sourcePort, answer.destinationPort) = (5_000, expected.sourcePort)
        answer.payload = [1, 2, 3]
        let result = TunTestNamespace.write([answer.bytes], to: &tun)
        #expect(result.packetCount == 1)
        var received = [UInt8](repeating: 0, count: 10)
        try TunTestNamespace.awaitReadable(socket)
        let count = recv(socket, &received, 10, 0)
        #expect(count == 3)
        #expect(received.prefix(3) == [1, 2, 3])
    }

    private static func failure(opening name: String) -> TunError? {
        do throws(TunError) {
            _ = try TunInterface(name: name)
            return nil
        } catch {
            return error
        }
    }

    private static func failure(adopting descriptor: Int32) -> TunError? {
        do throws(TunError) {
            _ = try TunInterface(adopting: descriptor)
            return nil
        } catch {
            return error
        }
    }
}
