// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import Harness

/// A TUN interface as the engine makes one: it goes when it is closed, or with the process.
final class HostTestTunnel: Sendable {
    private let descriptor: Int32

    /// Makes an interface in the namespace of the calling thread.
    init(_ name: String) throws {
        descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw HostTestNamespace.ToolFailure(line: "open /dev/net/tun", output: "errno \(errno)")
        }
        var request = linux_interface_request()
        withUnsafeMutableBytes(of: &request.name) { $0.copyBytes(from: name.utf8) }
        request.flags = linux_iff_tun | linux_iff_no_pi
        guard linux_ioctl(descriptor, linux_tunsetiff, &request) == 0 else {
            let number = errno
            close(descriptor)
            throw HostTestNamespace.ToolFailure(line: "TUNSETIFF \(name)", output: "errno \(number)")
        }
    }

    deinit {
        close(descriptor)
    }

    /// The packets that wait in the interface.
    func packets() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return packets }
            packets.append(Array(buffer[..<count]))
        }
    }

    /// Hands a packet to the host.
    func send(_ packet: [UInt8]) -> Bool { write(descriptor, packet, packet.count) == packet.count }
}
