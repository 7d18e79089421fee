// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import Harness

/// A TUN interface as the engine makes one: it goes when it is closed, or with the process.
///
/// The object ends on the thread that made it, and returns once the interface is gone.
final class HostTestTunnel: Sendable {
    private let descriptor: Int32
    private let name: String

    /// Makes an interface in the namespace of the calling thread.
    init(_ name: String) throws {
        self.name = name
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
        // A process that another test starts at this moment holds a copy of the descriptor until it runs its program.
        let deadline = ContinuousClock.now + .seconds(600)
        while if_nametoindex(name) != 0, ContinuousClock.now < deadline { usleep(1_000) }
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
