// SPDX-License-Identifier: MIT

internal import Foundation
internal import Harness
internal import Testing

@Suite("An idle daemon", .enabled(if: Machine.isReady && Implementation.isOurs, Machine.skipReason))
struct IdleTests {
    /// A daemon that sees a `/run` of its own.
    ///
    /// It watches the folder of its socket, where otherwise the sockets of other tests come and go.
    struct Secluded {
        let child: Child
        let namespace: Namespace
        let interface: String

        init(_ lab: Lab, in namespace: Namespace) async throws {
            self.namespace = namespace
            interface = lab.interfaceName()
            child = try lab.spawn(
                in: namespace, "bash", "-c",
                "mount -t tmpfs tmpfs /run && exec \(Implementation.tested.path) -f \(interface)")
            try await Shell.eventually("wg answers") { [self] in
                try await Shell.run(within + ["wg", "show", interface]).succeeded
            }
        }

        /// The words before a command that make it see what the daemon sees.
        private var within: [String] { ["nsenter", "-m", "-n", "-t", "\(child.pid)"] }

        /// Runs `wg` with arguments parted by spaces; it must succeed.
        @discardableResult
        func wg(_ line: String) async throws -> Output {
            try await Shell.check(within + ["wg"] + line.split(separator: " ").map(String.init))
        }

        /// The bytes received from and sent to the only peer.
        func transfer() async throws -> [Int] {
            let words = try await wg("show \(interface) transfer").text.split(whereSeparator: \.isWhitespace)
            guard words.count == 3 else { throw ShellError.neverTrue("wg shows one peer") }
            return words.dropFirst().map { Int($0) ?? -1 }
        }
    }

    /// How long the daemons are watched: `NEXUSGUARD_IDLE_SECONDS`, else 4. A session is renewed after 120 s.
    static let seconds = min(
        Int(ProcessInfo.processInfo.environment["NEXUSGUARD_IDLE_SECONDS"] ?? "") ?? 4, 90)

    /// The system calls that daemons finish while nothing happens.
    private func calls(_ lab: Lab, _ daemons: [Secluded]) async throws -> [String] {
        var traces: [(path: String, child: Child)] = []
        for daemon in daemons {
            let path = lab.path(of: daemon.interface)
            let child = try lab.spawn(
                in: daemon.namespace, "strace", "-f", "-qq", "-o", path, "-p", "\(daemon.child.pid)")
            traces.append((path, child))
            try await Shell.eventually("strace is attached") {
                if let status = child.poll() {
                    throw ShellError.neverTrue("strace runs (\(status)): \(child.standardError)")
                }
                let status = try await Shell.check(["cat", "/proc/\(daemon.child.pid)/status"])
                return status.lines.contains { $0.hasPrefix("TracerPid:") && !$0.hasSuffix("\t0") }
            }
        }
        try await Task.sleep(for: .seconds(Self.seconds))
        var calls: [String] = []
        for trace in traces {
            #expect(trace.child.poll() == nil, "strace stays attached")
            try await trace.child.stop(SIGINT)
            calls += try await Shell.check(["cat", trace.path]).lines
        }
        // What is cut off by the end of the trace is the one call that waits, of each thread.
        return calls.filter { !$0.contains("<detached ...>") && !$0.contains("<unfinished ...>") }
    }

    @Test("makes no system call when it has no peer")
    func alone() async throws {
        try await Lab.with(slot: false) { lab in
            let daemon = try await Secluded(lab, in: try await lab.namespace())
            let finished = try await calls(lab, [daemon])
            #expect(finished.isEmpty, "\(finished.prefix(5))")
        }
    }

    @Test("makes no system call when it has a session, no keepalive interval and nothing to carry")
    func session() async throws {
        try await Lab.with(slot: false) { lab in
            let namespaces = [try await lab.namespace(), try await lab.namespace()]
            try await lab.cable(namespaces[0], "cable", namespaces[1], "cable")
            let ends = [
                try await Secluded(lab, in: namespaces[0]), try await Secluded(lab, in: namespaces[1]),
            ]
            let keys = [try await lab.keyPair(), try await lab.keyPair()]
            for (number, end) in ends.enumerated() {
                try await end.namespace.ip("address add 192.0.2.\(number + 1)/24 dev cable")
                try await end.wg(
                    "set \(end.interface) listen-port 51820 private-key \(keys[number].path)"
                        + " peer \(keys[1 - number].publicKey) allowed-ips 10.77.0.\(2 - number)/32"
                        + " endpoint 192.0.2.\(2 - number):51820")
                try await end.namespace.ip("address add 10.77.0.\(number + 1)/24 dev \(end.interface)")
                // Otherwise the kernel solicits routers through the tunnel now and then.
                try await end.namespace.ip("link set \(end.interface) addrgenmode none")
                try await end.namespace.ip("link set \(end.interface) up")
            }
            #expect(try await ends[0].namespace.ping("10.77.0.2"))
            // The end that received last answers with a keepalive after 10 s; then no timer is due for long.
            let received = try await ends[1].transfer()[0]
            try await Shell.eventually("the keepalive has come") {
                try await ends[1].transfer()[0] > received
            }
            let settled = [try await ends[0].transfer(), try await ends[1].transfer()]
            let finished = try await calls(lab, ends)
            #expect(finished.isEmpty, "\(finished.prefix(5))")
            #expect(try await [ends[0].transfer(), ends[1].transfer()] == settled)
            #expect(try await ends[0].namespace.ping("10.77.0.2"))
            // The same session carried it: an initiation would have added 148 bytes.
            let sent = try await ends[0].transfer()[1] - settled[0][1]
            #expect(sent > 0 && sent % 128 == 0, "\(sent) bytes are echo requests")
        }
    }
}
