// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness

/// A daemon that was started in the background, and its interface.
struct Daemon: Sendable {
    /// The namespace in which it and its interface live.
    let namespace: Namespace
    /// The name of the interface.
    let interface: String
    /// Its process id.
    let pid: pid_t

    /// Starts a daemon; returns when the daemon's own start-up says that it is ready.
    init(_ implementation: Implementation, in namespace: Namespace, _ lab: Lab) async throws {
        try await self.init(implementation, in: namespace, interface: lab.interfaceName())
    }

    /// Starts a daemon on an interface of this name.
    init(
        _ implementation: Implementation, in namespace: Namespace, interface: String,
        environment: [String: String] = [:]
    ) async throws {
        self.namespace = namespace
        self.interface = interface
        try await namespace.check(implementation.path, interface, environment: environment)
        let listed = try await Shell.check(["ip", "netns", "pids", namespace.name]).lines
        let found = listed.compactMap { pid_t($0.trimmed) }.first { pid in
            let words = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
            return words.split(separator: 0).contains(Data(interface.utf8))
        }
        guard let found else { throw ShellError.neverTrue("a daemon of \(interface) runs after its start") }
        pid = found
    }

    /// The path of the control socket of an interface.
    static func socketPath(of interface: String) -> String { "/var/run/wireguard/\(interface).sock" }

    /// The path of the control socket.
    var socketPath: String { Self.socketPath(of: interface) }

    /// Whether the process is alive.
    var isRunning: Bool { kill(pid, 0) == 0 && !isZombie }

    private var isZombie: Bool {
        guard let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return true }
        return String(decoding: stat, as: UTF8.self).contains(") Z ")
    }

    /// The memory of the process that is present, in KiB.
    func residentKiB() throws -> Int {
        let status = String(
            decoding: FileManager.default.contents(atPath: "/proc/\(pid)/status") ?? Data(), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let line, let size = Int(line.filter(\.isNumber)) else {
            throw ShellError.neverTrue("process \(pid) has a size")
        }
        return size
    }

    /// Runs `wg` with arguments parted by spaces; it must succeed.
    @discardableResult
    func wg(_ line: String, input: String = "") async throws -> Output {
        try await Shell.check(
            namespace.prefix + ["wg"] + line.split(separator: " ").map(String.init), input: input)
    }

    /// Runs `wg` with arguments parted by spaces; it may fail.
    func tryWg(_ line: String) async throws -> Output {
        try await Shell.run(namespace.prefix + ["wg"] + line.split(separator: " ").map(String.init))
    }

    /// Whether the interface exists.
    func interfaceExists() async throws -> Bool {
        try await Shell.run(["ip", "-n", namespace.name, "link", "show", interface]).succeeded
    }

    /// Whether the process, the interface and the socket are all gone.
    func isGone() async throws -> Bool {
        guard !isRunning, access(socketPath, F_OK) != 0 else { return false }
        return try await !interfaceExists()
    }

    /// The one field after the public key that `wg show IFACE WHAT` prints for the only peer.
    func show(_ what: String) async throws -> [String] {
        try await wg("show \(interface) \(what)").text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// Seconds since 1970 at which the last handshake of the only peer was, or 0.
    func latestHandshake() async throws -> Int {
        try await Int(show("latest-handshakes").last ?? "0") ?? 0
    }

    /// Bytes received from and sent to the only peer.
    func transfer() async throws -> (received: Int, sent: Int) {
        let words = try await show("transfer")
        guard words.count == 3 else { return (0, 0) }
        return (Int(words[1]) ?? 0, Int(words[2]) ?? 0)
    }
}
