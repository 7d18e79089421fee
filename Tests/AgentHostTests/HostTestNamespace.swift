// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import Testing

/// Runs tests in network namespaces of their own, which end with the thread that holds them.
enum HostTestNamespace {
    /// A tool that a test needs ended with a failure.
    struct ToolFailure: Error {
        let line: String
        let output: String
    }

    /// Why tests that change a network can not run here, or `nil`.
    static let obstacle: String? = {
        if geteuid() != 0 { return "not root" }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { return "no /dev/net/tun" }
        return nil
    }()

    /// Whether such tests can run; prints the reason once when they can not.
    static let isAvailable: Bool = {
        guard let obstacle else { return true }
        print("The tests of the host's network are skipped: \(obstacle)")
        let forbidsSkipping = getenv("NEXUSGUARD_SKIP_NOTHING").map { String(cString: $0) } == "1"
        return forbidsSkipping
    }()

    /// Runs `body` on a thread of its own in a new network namespace, and throws what it throws.
    static func run(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let work = Unmanaged.passRetained(
                Work {
                    do {
                        guard linux_unshare(linux_clone_newnet) == 0 else {
                            throw ToolFailure(line: "unshare", output: "errno \(errno)")
                        }
                        // `/sys` and `/proc/sys` follow the thread by themselves.
                        try ip("link set lo up")
                        try body()
                        continuation.resume()
                    } catch {
                        continuation.resume(throwing: error)
                    }
                })
            var thread = pthread_t()
            let result = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                    return nil
                }, work.toOpaque())
            if result == 0 {
                pthread_detach(thread)
            } else {
                work.release()
                continuation.resume(throwing: ToolFailure(line: "pthread_create", output: "errno \(result)"))
            }
        }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }
    }

    /// Runs `ip` with the words of a line, in the namespace of the calling thread, and returns what it prints.
    @discardableResult
    static func ip(_ line: String) throws -> String { try tool("ip \(line)") }

    /// Runs a command with the words of a line, in the namespace of the calling thread.
    @discardableResult
    static func tool(_ line: String) throws -> String {
        let words = line.split(separator: " ").map(String.init)
        let result = try spawn(words)
        guard result.status == 0 else { throw ToolFailure(line: line, output: result.output) }
        return result.output
    }

    /// Runs a command to its end and returns its exit status and all that it printed.
    static func spawn(_ words: [String]) throws -> (status: Int32, output: String) {
        var template = Array("/tmp/host-test.XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw ToolFailure(line: "mkstemp", output: "errno \(errno)") }
        unlink(template)
        defer { close(file) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, file, 1)
        posix_spawn_file_actions_adddup2(&actions, file, 2)
        var pointers = words.map { strdup($0) } + [nil]
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for pointer in pointers + variables { free(pointer) } }
        var child = pid_t()
        let refusal = posix_spawnp(&child, words[0], &actions, nil, &pointers, &variables)
        guard refusal == 0 else {
            throw ToolFailure(line: words.joined(separator: " "), output: "errno \(refusal)")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(file, &block, block.count, off_t(bytes.count))
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
        return (code, String(decoding: bytes, as: UTF8.self))
    }

    /// All of the network that an agent could change, as the tools print it once the kernel has settled.
    static func picture() throws -> String {
        try eventually("addresses are usable") { try isSettled() }
        var text = ""
        for line in [
            "ip -4 route show table all", "ip -6 route show table all", "ip -4 rule", "ip -6 rule", "ip addr",
            "nft list ruleset", "sysctl net.ipv4.conf.all.src_valid_mark net.ipv4.conf.all.rp_filter",
        ] {
            text += "# \(line)\n\(try spawn(line.split(separator: " ").map(String.init)).output)"
        }
        return text
    }

    /// Whether each IPv6 address is known to be the only one and has its route in the local table.
    ///
    /// The kernel does both in its own time after the address was added.
    private static func isSettled() throws -> Bool {
        let lines = try ip("-6 -o addr").split(separator: "\n")
        guard !lines.contains(where: { $0.contains("tentative") }) else { return false }
        let routes = try ip("-6 route show table local").split(separator: "\n").map {
            $0.split(separator: " ")
        }
        return lines.allSatisfy { line in
            // "2: up0    inet6 2001:db8::2/64 scope global nodad ..."
            let words = line.split(separator: " ")
            guard words.count > 3, words[1] != "lo" else { return true }
            let address = words[3].prefix { $0 != "/" }
            return routes.contains { $0.starts(with: ["local", address, "dev", words[1]]) }
        }
    }

    /// Makes an interface `up0` with default routes of both families, whose other end is `up1`.
    static func makeUplink() throws {
        for line in [
            "link add up0 type veth peer name up1", "link set up0 up", "link set up1 up",
            "addr add 192.0.2.2/24 dev up0", "addr add 2001:db8::2/64 dev up0 nodad",
            "route add default via 192.0.2.1", "-6 route add default via 2001:db8::1",
        ] {
            try ip(line)
        }
        try eventually("addresses are ready") { try isSettled() }
    }

    /// Waits until a condition holds, which a busy machine may take long for.
    static func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<12_000 {
            if try condition() { return }
            usleep(50_000)
        }
        Issue.record("never so: \(what)")
    }

    /// A fresh folder for one test.
    static func temporaryFolder() throws -> String {
        var template = Array("/tmp/host-test.XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else {
            throw ToolFailure(line: "mkdtemp", output: "errno \(errno)")
        }
        return String(cString: path)
    }
}
