// SPDX-License-Identifier: MIT

internal import CCurl
internal import CLinux
internal import Glibc

/// A socket that waits for connections.
///
/// It is made here and not by libmicrohttpd, which cannot bind exactly one address of either family nor a path.
struct ListeningSocket {
    /// The descriptor, which does not block and is closed on exec.
    let descriptor: Int32
    /// The port; `nil` for a socket without one.
    let port: UInt16?
    /// The path to remove when the server stops.
    private let path: OwnPath?

    /// Opens a socket as the listener says.
    init(_ listener: HTTPListener) throws(HTTPServerError) {
        switch listener {
        case .unix(let path, let mode):
            (descriptor, self.path) = try Self.openUnix(path, mode: mode)
        case .tcp(let address, let port, _):
            descriptor = try Self.openTCP(address, port: port)
            path = nil
        case .descriptor(let given):
            descriptor = try Self.adopt(given)
            path = nil
        }
        port = Self.port(of: descriptor)
    }

    /// Closes the socket and removes its path.
    func close() {
        removePath()
        Glibc.close(descriptor)
    }

    /// Removes the path of the socket, if it is still this socket's.
    func removePath() {
        guard let path, path.isUnchanged else { return }
        unlink(path.path)
    }

    private static func openTCP(_ address: String, port: UInt16) throws(HTTPServerError) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let found = list?.pointee else {
            throw .invalidAddress(address)
        }
        defer { freeaddrinfo(list) }
        let name = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
        let descriptor = socket(found.ai_family, linux_stream_socket_type, 0)
        guard descriptor >= 0 else { throw .bind(address: name, errno: errno) }
        var yes: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
        if found.ai_family == AF_INET6 {
            // Exactly this address: not those of the other family as well.
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size)
        }
        guard bind(descriptor, found.ai_addr, found.ai_addrlen) == 0, listen(descriptor, backlog) == 0 else {
            let number = errno
            Glibc.close(descriptor)
            throw .bind(address: name, errno: number)
        }
        return descriptor
    }

    private static func openUnix(_ path: String, mode: UInt32) throws(HTTPServerError) -> (Int32, OwnPath?) {
        guard var address = unixAddress(path) else { throw .invalidAddress(path) }
        try removeStaleSocket(path, address: &address)
        let descriptor = socket(AF_UNIX, linux_stream_socket_type, 0)
        guard descriptor >= 0 else { throw .bind(address: path, errno: errno) }
        // Nobody can connect before `listen`, so there is no moment with other permissions.
        guard call(bind, descriptor, &address) == 0, chmod(path, mode) == 0, listen(descriptor, backlog) == 0
        else {
            let number = errno
            Glibc.close(descriptor)
            throw .bind(address: path, errno: number)
        }
        return (descriptor, OwnPath(path))
    }

    /// Removes a socket at the path that no process listens on.
    private static func removeStaleSocket(
        _ path: String, address: inout sockaddr_un
    ) throws(HTTPServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .pathInUse(path) }
        let probe = socket(AF_UNIX, linux_stream_socket_type, 0)
        guard probe >= 0 else { throw .bind(address: path, errno: errno) }
        defer { Glibc.close(probe) }
        guard call(connect, probe, &address) != 0, errno == ECONNREFUSED else { throw .pathInUse(path) }
        guard unlink(path) == 0 || errno == ENOENT else { throw .bind(address: path, errno: errno) }
    }

    private static func adopt(_ descriptor: Int32) throws(HTTPServerError) -> Int32 {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1
        else { throw .invalidAddress("descriptor \(descriptor)") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { return nil }
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { NumericAddress(UnsafePointer($0))?.port }
        }
    }

    private static func unixAddress(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isCopied = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard !bytes.isEmpty, bytes.count < room.count, !bytes.contains(0) else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        return isCopied ? address : nil
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32,
        _ address: inout sockaddr_un
    ) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static let backlog: Int32 = 128
}

/// A path that this process bound, and how to tell it from another's of the same name.
private struct OwnPath {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        device = status.st_dev
        inode = status.st_ino
    }

    var isUnchanged: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }
}
