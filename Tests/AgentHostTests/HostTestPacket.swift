// SPDX-License-Identifier: MIT

import AgentHost
import CLinux
import Glibc
import Harness
import NexusGuard

/// Sockets that see which way packets go.
enum HostTestPacket {
    /// Sends one datagram from an unconnected socket, as a programme of this host does.
    ///
    /// - Returns: 0, or the error number of the refusal.
    static func send(to address: String, port: UInt16 = 9, mark: UInt32 = 0) throws -> Int32 {
        let descriptor = socket(address.contains(":") ? AF_INET6 : AF_INET, linux_udp_socket_type, 0)
        defer { close(descriptor) }
        var mark = mark
        setsockopt(descriptor, SOL_SOCKET, linux_so_mark, &mark, socklen_t(MemoryLayout<UInt32>.size))
        return withAddress(address, port) { start, count in
            sendto(descriptor, "hello", 5, 0, start, count) == 5 ? 0 : errno
        }
    }

    /// Calls `body` with the socket address.
    static func withAddress<Value>(
        _ text: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        if text.contains(":") {
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            inet_pton(AF_INET6, text, &name.sin6_addr)
            return withUnsafePointer(to: name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        inet_pton(AF_INET, text, &name.sin_addr)
        return withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Sees every frame that arrives at an interface.
final class HostTestCapture: Sendable {
    private let descriptor: Int32

    private static let packetFamily: Int32 = 17

    /// Starts to capture in the namespace of the calling thread.
    init(_ interface: String) throws {
        let everything = UInt16(3).bigEndian
        descriptor = socket(Self.packetFamily, linux_datagram_socket_type | 0o4000, Int32(everything))
        guard descriptor >= 0 else {
            throw HostTestNamespace.ToolFailure(line: "socket AF_PACKET", output: "errno \(errno)")
        }
        // `struct sockaddr_ll`: family, protocol, interface.
        var address = [UInt8](repeating: 0, count: 20)
        withUnsafeBytes(of: UInt16(Self.packetFamily)) { address.replaceSubrange(0..<2, with: $0) }
        withUnsafeBytes(of: everything) { address.replaceSubrange(2..<4, with: $0) }
        withUnsafeBytes(of: if_nametoindex(interface)) { address.replaceSubrange(4..<8, with: $0) }
        let result = address.withUnsafeBytes { bytes in
            bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard result == 0 else {
            throw HostTestNamespace.ToolFailure(line: "bind AF_PACKET", output: "errno \(errno)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// The IP packets that came since the last call.
    func packets() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return packets }
            packets.append(Array(buffer[..<count]))
        }
    }
}

extension [UInt8] {
    /// The destination of an IP packet, and nothing for anything else.
    var destination: String? {
        switch first.map({ $0 >> 4 }) {
        case 4 where count >= 20: IPAddress(networkBytes: self[16..<20])?.description
        case 6 where count >= 40: IPAddress(networkBytes: self[24..<40])?.description
        default: nil
        }
    }
}
