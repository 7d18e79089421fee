// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import WireGuardProtocol

/// Runs tests in network namespaces of their own, which end with the thread that holds them.
enum TunTestNamespace {
    /// A tool that a test needs ended with a failure.
    struct ToolFailure: Error {
        let words: [String]
    }

    /// Whether this process may make network namespaces and TUNs.
    static let isAvailable: Bool = geteuid() == 0 && access("/dev/net/tun", R_OK | W_OK) == 0

    /// Runs `body` on a thread of its own in a new network namespace, and throws what it throws.
    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        nonisolated(unsafe) var failure: (any Error)?
        let thread = try WorkerThread(name: "tun-test") {
            do {
                try SystemCall.run("unshare") { linux_unshare(linux_clone_newnet) }
                try body()
            } catch {
                failure = error
            }
        }
        thread.join()
        if let failure { throw failure }
    }

    /// A descriptor of the calling thread's network namespace, to be closed by the caller.
    static func descriptor() throws -> Int32 {
        try SystemCall.run("open ns/net") { open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC) }
    }

    /// Moves the calling thread into a network namespace.
    static func enter(_ descriptor: Int32) throws {
        try SystemCall.run("setns") { linux_setns(descriptor, linux_clone_newnet) }
    }

    /// Runs `ip` with the words of a line, in the namespace of the calling thread.
    static func ip(_ line: String) throws {
        let words = ["ip"] + line.split(separator: " ").map(String.init)
        var pointers = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var child = pid_t()
        let refusal = posix_spawnp(&child, "ip", nil, nil, &pointers, environ)
        guard refusal == 0 else { throw SystemCallError(call: "posix_spawnp ip", errno: refusal) }
        let process = child
        var status: Int32 = 0
        try SystemCall.run("waitpid") { waitpid(process, &status, 0) }
        guard status == 0 else { throw ToolFailure(words: words) }
    }

    /// A nonblocking socket that is bound to or, with `connects`, connected to an address.
    static func socket(_ type: Int32, _ address: String, port: UInt16, connects: Bool) throws -> Int32 {
        let isIPv6 = address.contains(":")
        let number = try SystemCall.run("socket") { Glibc.socket(isIPv6 ? AF_INET6 : AF_INET, type, 0) }
        var result: Int32 = 0
        func use(_ bytes: UnsafeRawBufferPointer) {
            let start = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            let count = socklen_t(bytes.count)
            result = SystemCall.orNegativeErrno {
                connects ? connect(number, start, count) : bind(number, start, count)
            }
        }
        if isIPv6 {
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port.bigEndian
            inet_pton(AF_INET6, address, &name.sin6_addr)
            withUnsafeBytes(of: name, use)
        } else {
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            inet_pton(AF_INET, address, &name.sin_addr)
            withUnsafeBytes(of: name, use)
        }
        guard result >= 0 || result == -EINPROGRESS else {
            throw SystemCallError(call: "connect or bind \(address)", errno: -result)
        }
        return number
    }

    /// A descriptor of `/dev/net/tun`, attached to a new interface with these flags.
    static func rawDescriptor(_ name: String, flags: UInt16) throws -> Int32 {
        let number = try SystemCall.run("open /dev/net/tun") { open("/dev/net/tun", O_RDWR | O_CLOEXEC) }
        var request = linux_interface_request()
        withUnsafeMutableBytes(of: &request.name) { $0.copyBytes(from: name.utf8) }
        request.flags = flags
        try SystemCall.run("TUNSETIFF") { linux_ioctl(number, linux_tunsetiff, &request) }
        return number
    }

    /// The packets that can be read until there are some that a test wants, or ten minutes have passed.
    ///
    /// A busy kernel hands packets to a TUN in its own time.
    static func packets(
        of tun: inout TunInterface, until isEnough: ([[UInt8]]) -> Bool
    ) -> [[UInt8]] {
        let deadline = BootClock.now() + .seconds(600)
        var all = packets(of: &tun)
        while !isEnough(all), BootClock.now() < deadline {
            usleep(1_000)
            all += packets(of: &tun)
        }
        return all
    }

    /// Waits until a descriptor can be read, at most ten minutes.
    static func awaitReadable(_ descriptor: Int32) throws {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try SystemCall.run("poll") { poll(&poller, 1, 600_000) }
    }

    /// Every packet that can be read now.
    static func packets(of tun: inout TunInterface, slotCapacity: Int = 64) -> [[UInt8]] {
        var batch = PacketBatch(slotCapacity: slotCapacity, byteCapacity: 0)
        var packets: [[UInt8]] = []
        while true {
            let result = tun.read(into: &batch)
            for index in 0..<batch.count {
                let slot = batch.slots[index]
                packets.append([UInt8](UnsafeRawBufferPointer(start: slot.data, count: slot.byteCount)))
            }
            batch.removeAll()
            if !result.isFull { return packets }
        }
    }

    /// Writes packets in one batch.
    static func write(_ packets: [[UInt8]], to tun: inout TunInterface) -> TunWriteResult {
        var batch = PacketBatch(slotCapacity: packets.count, byteCapacity: 1 << 20)
        for packet in packets {
            guard let data = batch.append(byteCount: packet.count) else { break }
            UnsafeMutableRawBufferPointer(start: data, count: packet.count).copyBytes(from: packet)
            batch.slots[batch.count - 1].state = .ready
        }
        return tun.write(&batch)
    }
}
