// SPDX-License-Identifier: MIT

internal import AgentHost
package import NexusGuard

/// Finds the addresses of the control server's host.
package protocol ControlLookup: Sendable {
    /// The addresses of a name, the best first; empty when they cannot be found.
    func addresses(of name: String) async -> [IPAddress]
}

/// Asks the host's name servers beside the tunnel, on a thread of its own since that blocks.
struct HostControlLookup: ControlLookup {
    private let resolver = HostResolver()
    private let thread: HostThread

    /// Creates a lookup; `nil` when there is no room for a thread.
    init?() {
        guard let thread = try? HostThread(name: "control-lookup") else { return nil }
        self.thread = thread
    }

    func addresses(of name: String) async -> [IPAddress] {
        await thread.perform { [resolver] in
            (try? resolver.addresses(of: name)) ?? []
        }
    }
}
