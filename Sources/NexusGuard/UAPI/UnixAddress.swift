// SPDX-License-Identifier: MIT

internal import Glibc

/// The address of a socket of the UNIX domain.
struct UnixAddress {
    /// The path in the file system.
    let path: String
    private var address = sockaddr_un()

    /// The bytes of `sun_path`, of which the last one is zero.
    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// Makes the address of a path, or gives `nil` if it is empty or too long.
    init?(path: String) {
        guard (1..<Self.capacity).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
        self.path = path
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: path.utf8)
        }
    }

    /// Calls `body` with the form that system calls take.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The path to which a socket is bound; empty when it has none, `nil` when it is of another domain.
    static func path(ofSocket descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        return withUnsafeBytes(of: address.sun_path) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
