// SPDX-License-Identifier: MIT

import Glibc
import Harness

/// Runs tests in network namespaces of their own, which end with the thread that holds them.
enum HostTestNamespace {
    /// A tool that a test needs ended with a failure.
    typealias ToolFailure = Host.ToolFailure

    /// Whether such tests can run; prints the reason once when they can not.
    static let isAvailable = Machine.canChangeNetworks("The tests of the host's network")

    /// Runs `body` on a thread of its own in a new network namespace, and throws what it throws.
    static func run(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let work = Unmanaged.passRetained(
                Work {
                    do {
                        try Host.enterNewNamespace()
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
    static func tool(_ line: String) throws -> String { try Host.tool(line) }

    /// Runs a command to its end and returns its exit status and all that it printed.
    static func spawn(_ words: [String]) throws -> (status: Int32, output: String) { try Host.spawn(words) }

    /// All of the network that an agent could change, as the tools print it once the kernel has settled.
    static func picture() throws -> String { try Host.picture() }

    /// Makes an interface `up0` with default routes of both families, whose other end is `up1`.
    static func makeUplink() throws {
        for line in [
            "link add up0 type veth peer name up1", "link set up0 up", "link set up1 up",
            "addr add 192.0.2.2/24 dev up0", "addr add 2001:db8::2/64 dev up0 nodad",
            "route add default via 192.0.2.1", "-6 route add default via 2001:db8::1",
        ] {
            try ip(line)
        }
        for name in ["up0", "up1"] { try Host.awaitLink(name) }
    }

    /// Waits until a condition holds, which a busy machine may take long for.
    static func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        try Host.eventually(what, condition)
    }

    /// A fresh folder for one test.
    static func temporaryFolder() throws -> String { try Host.temporaryFolder() }
}
