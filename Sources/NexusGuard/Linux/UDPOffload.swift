// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// What the kernel does with many datagrams in one call.
package struct UDPOffload: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// One send is cut into datagrams of equal size (UDP_SEGMENT, GSO).
    package static let segmentation = UDPOffload(rawValue: 1)
    /// Datagrams of equal size from one sender arrive as one (UDP_GRO).
    package static let coalescing = UDPOffload(rawValue: 2)
    /// All that the kernel can do.
    package static let all: UDPOffload = [.segmentation, .coalescing]

    /// Switches on what is wanted of a socket, and says what the kernel can do.
    static func enable(_ wanted: UDPOffload, on descriptor: Int32) -> UDPOffload {
        var enabled: UDPOffload = []
        var value: Int32 = 0
        var byteCount = socklen_t(MemoryLayout<Int32>.size)
        if wanted.contains(.segmentation),
            getsockopt(descriptor, linux_sol_udp, linux_udp_segment, &value, &byteCount) == 0
        {
            enabled.insert(.segmentation)
        }
        value = 1
        // Before Linux 5.12 the kernel also merged datagrams inside other UDP tunnels, and then cut them wrongly.
        if wanted.contains(.coalescing), kernelIsAtLeast(major: 5, minor: 12),
            setsockopt(descriptor, linux_sol_udp, linux_udp_gro, &value, byteCount) == 0
        {
            enabled.insert(.coalescing)
        }
        return enabled
    }

    /// Whether the running kernel has at least this version, by the first two numbers of its release.
    private static func kernelIsAtLeast(major: Int, minor: Int) -> Bool {
        var name = utsname()
        guard uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: &name.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split(whereSeparator: { !$0.isNumber }).prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return false }
        return (numbers[0], numbers[1]) >= (major, minor)
    }
}
