// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite(
    "transfer between two TUNs",
    .enabled(if: TunTestNamespace.isAvailable, "TUNs and network namespaces need root"))
struct TunTransferTests {
    @Test("TCP of 10 MB arrives intact, in far fewer writes than packets", arguments: ["10.0.0.", "fd00::"])
    func tcp(prefix: String) throws {
        try TunTestNamespace.run {
            var wire = try TunTestWire(prefix: prefix)
            try TunTestNamespace.enter(wire.second)
            let type = linux_stream_socket_type
            let listener = try TunTestNamespace.socket(type, prefix + "2", port: 7, connects: false)
            try SystemCall.run("listen") { listen(listener, 1) }
            try TunTestNamespace.enter(wire.first)
            let sender = try TunTestNamespace.socket(type, prefix + "2", port: 7, connects: true)
            defer {
                SystemCall.close(listener)
                SystemCall.close(sender)
            }
            let payload = TunTestPacket.payload(10_000_000)
            var received: [UInt8] = []
            var receiver: Int32 = -1
            var sent = 0
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let deadline = BootClock.now() + .seconds(600)
            while received.count < payload.count, BootClock.now() < deadline {
                if receiver < 0 { receiver = accept(listener, nil, nil) }
                let chunk = Array(payload[sent..<min(sent + 100_000, payload.count)])
                if !chunk.isEmpty { sent += max(send(sender, chunk, chunk.count, 0), 0) }
                wire.carry()
                if receiver >= 0 {
                    let count = recv(receiver, &buffer, buffer.count, linux_msg_dontwait)
                    if count > 0 { received += buffer[..<count] }
                }
            }
            if receiver >= 0 { SystemCall.close(receiver) }
            #expect(received == payload)
            #expect(wire.packetCount > 7_000)
            #expect(wire.largestPacket == 1_420)
            #expect(wire.writeCount * 5 < wire.packetCount)
            #expect(wire.droppedCount == 0)
        }
    }

    @Test("UDP segments arrive as the datagrams that they are", arguments: ["10.0.0.", "fd00::"])
    func udp(prefix: String) throws {
        try TunTestNamespace.run {
            var wire = try TunTestWire(prefix: prefix)
            let type = linux_udp_socket_type
            try TunTestNamespace.enter(wire.second)
            let receiver = try TunTestNamespace.socket(type, prefix + "2", port: 7, connects: false)
            try TunTestNamespace.enter(wire.first)
            let sender = try TunTestNamespace.socket(type, prefix + "2", port: 7, connects: true)
            defer {
                SystemCall.close(receiver)
                SystemCall.close(sender)
            }
            var size: Int32 = 1_000
            try SystemCall.run("setsockopt UDP_SEGMENT") {
                setsockopt(
                    sender, linux_sol_udp, linux_udp_segment, &size,
                    socklen_t(MemoryLayout<Int32>.size))
            }
            let payload = TunTestPacket.payload(20_500)
            try SystemCall.run("send") { send(sender, payload, payload.count, 0) }
            wire.carry()
            var received: [[UInt8]] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            // A busy kernel hands packets that were written to a TUN to their sockets in its own time.
            let deadline = BootClock.now() + .seconds(600)
            while received.count < 21, BootClock.now() < deadline {
                let count = recv(receiver, &buffer, buffer.count, linux_msg_dontwait)
                if count >= 0 { received.append(Array(buffer[..<count])) } else { usleep(1_000) }
            }
            #expect(received.map(\.count) == Array(repeating: 1_000, count: 20) + [500])
            #expect(received.flatMap(\.self) == payload)
            #expect(wire.droppedCount == 0)
            if wire.hasUDPOffload { #expect(wire.writeCount < 10) }
        }
    }
}
