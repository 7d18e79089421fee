// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Asks and changes interfaces by name, in the network namespace in which it was made.
package struct InterfaceControl: ~Copyable {
    private let descriptor: Int32

    /// Opens a socket for such questions; it carries no traffic.
    ///
    /// - Throws: `SystemCallError`, such as when no descriptors are left.
    package init() throws(SystemCallError) {
        try self.init(adopting: Self.openSocket())
    }

    /// Takes over a socket that `openSocket` gave, perhaps in another namespace.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// A socket for questions about the interfaces of the calling thread's namespace.
    static func openSocket() throws(SystemCallError) -> Int32 {
        // A Unix socket: kernels without IPv4 or IPv6 have it too.
        let type = linux_udp_socket_type
        return try SystemCall.run("socket") { socket(AF_UNIX, type, 0) }
    }

    /// The number of an interface.
    package func index(of name: String) throws(SystemCallError) -> UInt32 {
        let request = try ask(linux_siocgifindex, "ioctl SIOCGIFINDEX", Self.request(name))
        return UInt32(bitPattern: request.value)
    }

    /// The size of the largest packet of an interface.
    package func mtu(of name: String) throws(SystemCallError) -> Int {
        Int(try ask(linux_siocgifmtu, "ioctl SIOCGIFMTU", Self.request(name)).value)
    }

    /// Sets the size of the largest packet of an interface.
    package func setMTU(_ mtu: Int, of name: String) throws(SystemCallError) {
        var request = Self.request(name)
        request.value = Int32(clamping: mtu)
        _ = try ask(linux_siocsifmtu, "ioctl SIOCSIFMTU", request)
    }

    /// Whether an interface is up.
    package func isUp(_ name: String) throws(SystemCallError) -> Bool {
        try ask(linux_siocgifflags, "ioctl SIOCGIFFLAGS", Self.request(name)).flags & linux_iff_up != 0
    }

    /// Takes an interface up or down.
    package func setUp(_ isUp: Bool, _ name: String) throws(SystemCallError) {
        var request = try ask(linux_siocgifflags, "ioctl SIOCGIFFLAGS", Self.request(name))
        request.flags = isUp ? request.flags | linux_iff_up : request.flags & ~linux_iff_up
        _ = try ask(linux_siocsifflags, "ioctl SIOCSIFFLAGS", request)
    }

    /// A question about the interface with a name of at most 15 bytes.
    static func request(_ name: String) -> linux_interface_request {
        var request = linux_interface_request()
        withUnsafeMutableBytes(of: &request.name) { bytes in
            for (index, byte) in name.utf8.prefix(15).enumerated() { bytes[index] = byte }
        }
        return request
    }

    /// The name in an answer.
    static func name(in request: linux_interface_request) -> String {
        withUnsafeBytes(of: request.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func ask(
        _ number: UInt, _ name: String, _ request: linux_interface_request
    ) throws(SystemCallError) -> linux_interface_request {
        var request = request
        let descriptor = descriptor
        try SystemCall.run(name) { linux_ioctl(descriptor, number, &request) }
        return request
    }

    deinit {
        SystemCall.close(descriptor)
    }
}
