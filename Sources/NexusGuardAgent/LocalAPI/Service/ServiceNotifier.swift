// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Tells the service manager how the daemon is, by the protocol of sd_notify(3).
public struct ServiceNotifier: Sendable {
    /// The socket of the service manager: a path, or `@` and an abstract name; `nil` when there is none.
    private let address: String?
    /// How often the service manager wants to hear that the daemon lives; `nil` when it does not.
    public let watchdogInterval: Duration?

    /// Takes what the service manager put into the environment.
    ///
    /// - Parameters:
    ///   - environment: Gives the value of a variable.
    ///   - process: The identifier of this process, which a watchdog may be meant for alone.
    public init(environment: (String) -> String?, process: Int32) {
        let socket = environment("NOTIFY_SOCKET") ?? ""
        address = socket.hasPrefix("/") || (socket.hasPrefix("@") && socket.count > 1) ? socket : nil
        let isForUs = environment("WATCHDOG_PID").map { $0.isEmpty || $0 == "\(process)" } ?? true
        if isForUs, let microseconds = environment("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0 {
            watchdogInterval = .microseconds(microseconds)
        } else {
            watchdogInterval = nil
        }
    }

    /// The daemon is ready.
    public func ready(status: String) { send(["READY=1", "STATUS=\(Self.line(status))"]) }

    /// What the daemon does now.
    public func status(_ text: String) { send(["STATUS=\(Self.line(text))"]) }

    /// The daemon lives.
    public func alive() { send(["WATCHDOG=1"]) }

    /// The daemon ends in order.
    public func stopping() { send(["STOPPING=1"]) }

    /// The daemon reads its settings again; `ready` follows.
    public func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
        send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
    }

    /// Sends assignments in one datagram; a service manager that is gone is no concern of the daemon's.
    private func send(_ assignments: [String]) {
        guard let address else { return }
        let descriptor = socket(AF_UNIX, linux_datagram_socket_type, 0)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        defer { close(descriptor) }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        // An abstract name begins with a zero byte, and all bytes of the length given count.
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        let fits = withUnsafeMutableBytes(of: &target.sun_path) { field in
            guard path.count < field.count else { return false }
            field.copyBytes(from: path)
            return true
        }
        guard fits else { return }
        let isAbstract = path[0] == 0
        let head = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let length = socklen_t(head + path.count + (isAbstract ? 0 : 1))
        let message = Array(assignments.joined(separator: "\n").utf8)
        withUnsafeBytes(of: &target) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return }
            _ = sendto(descriptor, message, message.count, linux_msg_nosignal, address, length)
        }
    }

    /// A text that cannot begin another assignment.
    private static func line(_ text: String) -> String {
        text.replacing("\n", with: " ").replacing("\r", with: " ")
    }
}
