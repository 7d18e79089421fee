// SPDX-License-Identifier: MIT

internal import CLinux
internal import Foundation
internal import Glibc

/// Sockets for tests.
enum Sockets {
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    /// Listens at a free port of 127.0.0.1, or at a path.
    ///
    /// - Parameter host: The last bytes of another address in 127.0.0.0/8.
    static func listen(unixPath: String?, host: UInt32 = 1) throws -> (descriptor: Int32, port: UInt16) {
        let opened = try bound(unixPath: unixPath, host: host)
        guard Glibc.listen(opened.descriptor, 64) == 0 else {
            throw Failure(call: "listen", number: errno)
        }
        return opened
    }

    private static func bound(unixPath: String?, host: UInt32 = 1) throws -> (descriptor: Int32, port: UInt16)
    {
        let family = unixPath == nil ? AF_INET : AF_UNIX
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        let bound = withAddress(port: 0, host: host, unixPath: unixPath) { bind(descriptor, $0, $1) }
        guard bound == 0 else {
            throw Failure(call: "bind", number: errno)
        }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        if unixPath == nil {
            _ = withUnsafeMutableBytes(of: &address) {
                getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
            }
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Whether this machine has the loopback address of IPv6; prints once when it has not.
    static let hasIPv6: Bool = {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { if descriptor >= 0 { close(descriptor) } }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        let result = withUnsafeBytes(of: address) { bytes in
            bind(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        if result != 0 { print("AgentHTTP is not tested over IPv6: this machine has no ::1") }
        return result == 0
    }()

    /// Takes a port of 127.0.0.1 at which nobody listens, as long as the descriptor is open.
    static func reserve() throws -> (descriptor: Int32, port: UInt16) {
        try bound(unixPath: nil)
    }

    /// Connects to a port of 127.0.0.1, or to a path; reads give up after ten minutes.
    ///
    /// - Parameter host: The last byte of the address in 127.0.0.0/24 to connect from.
    static func connect(port: UInt16 = 0, unixPath: String? = nil, from host: UInt32 = 0) throws -> Int32 {
        let descriptor = socket(unixPath == nil ? AF_INET : AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        if host != 0 { withAddress(port: 0, host: host, unixPath: nil) { _ = bind(descriptor, $0, $1) } }
        let result = withAddress(port: port, unixPath: unixPath) { Glibc.connect(descriptor, $0, $1) }
        guard result == 0 else {
            let number = errno
            close(descriptor)
            throw Failure(call: "connect", number: number)
        }
        var patience = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
        return descriptor
    }

    /// Sends bytes; returns whether all were taken.
    @discardableResult
    static func send(_ descriptor: Int32, _ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, linux_msg_nosignal)
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Everything up to the end of the connection.
    static func readAll(_ descriptor: Int32) -> String {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: content, as: UTF8.self) }
            content += buffer[..<count]
        }
    }

    /// Sends a request to a server, in its own bytes, and returns all that comes until the server closes.
    static func exchange(
        port: UInt16 = 0, unixPath: String? = nil, from host: UInt32 = 0, _ text: String
    ) throws -> String {
        let descriptor = try connect(port: port, unixPath: unixPath, from: host)
        defer { close(descriptor) }
        send(descriptor, text)
        return readAll(descriptor)
    }

    private static func withAddress<Result>(
        port: UInt16, host: UInt32 = 1, unixPath: String?,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &storage) { bytes in
            if let unixPath {
                bytes.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
                bytes[2...].copyBytes(from: Array(unixPath.utf8) + [0])
                size = socklen_t(2 + unixPath.utf8.count + 1)
            } else {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = (0x7f00_0000 | host).bigEndian
                bytes.storeBytes(of: address, as: sockaddr_in.self)
            }
        }
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }
}
