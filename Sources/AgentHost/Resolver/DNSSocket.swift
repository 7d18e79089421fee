// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard

/// A connected socket to a name server, whose packets carry a mark.
struct DNSSocket: ~Copyable {
    private let descriptor: Int32
    private let isStream: Bool
    /// What came in of a stream.
    private var received: [UInt8] = []

    /// How long the connection of a stream may take, in milliseconds.
    private static let connectionTime: Int32 = 1_000

    /// Connects; a datagram socket sends nothing for that.
    ///
    /// - Throws: `HostError.refused`.
    init(_ server: IPAddress, port: UInt16, mark: UInt32, isStream: Bool) throws(HostError) {
        self.isStream = isStream
        let family = server.isIPv6 ? AF_INET6 : AF_INET
        descriptor = socket(family, isStream ? linux_stream_socket_type : linux_udp_socket_type, 0)
        guard descriptor >= 0 else { throw .refused(operation: "socket", errno: errno, detail: nil) }
        if mark != 0 {
            var mark = mark
            // Refused without the capability; there is no full tunnel then either.
            setsockopt(descriptor, SOL_SOCKET, linux_so_mark, &mark, socklen_t(MemoryLayout<UInt32>.size))
        }
        let result = Self.withAddress(of: server, port) { connect(descriptor, $0, $1) }
        guard result == 0 || errno == EINPROGRESS && Self.waitUntilConnected(descriptor) else {
            throw .refused(operation: "connect to \(server)", errno: errno, detail: nil)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Sends a message.
    ///
    /// - Returns: Whether all of it was taken.
    func send(_ message: [UInt8]) -> Bool {
        let bytes = isStream ? [UInt8(message.count >> 8), UInt8(message.count & 0xff)] + message : message
        return Glibc.send(descriptor, bytes, bytes.count, linux_msg_nosignal) == bytes.count
    }

    /// The next message.
    ///
    /// - Parameter deadline: By `HostClock.boot`.
    /// - Returns: `nil` when none came in time, or the server refused.
    mutating func receive(until deadline: Int64) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if isStream, received.count >= 2 {
                let length = Int(received[0]) << 8 | Int(received[1])
                if received.count >= 2 + length { return Array(received[2..<2 + length]) }
            }
            let left = (deadline - HostClock.boot + 999_999) / 1_000_000
            guard left > 0 else { return nil }
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&polled, 1, Int32(clamping: left))
            if ready == 0 || ready < 0 && errno == EINTR { continue }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            if !isStream { return Array(buffer[..<count]) }
            received += buffer[..<count]
        }
    }

    private static func waitUntilConnected(_ descriptor: Int32) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&polled, 1, connectionTime) > 0 else {
            errno = ETIMEDOUT
            return false
        }
        var error: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &count)
        errno = error
        return error == 0
    }

    private static func withAddress(
        of server: IPAddress, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let bytes = server.networkBytes
        if server.isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
