// SPDX-License-Identifier: MIT

internal import Glibc
internal import Harness
internal import Testing

@Suite("What the daemon refuses at its start", .enabled(if: Machine.isReady, Machine.skipReason))
struct RefusalTests {
    /// Expects status 1 and one sentence that holds one of the words.
    private func expectRefusal(
        _ output: Output, naming words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(output.status == 1, "\(output)", sourceLocation: sourceLocation)
        guard Implementation.isOurs else { return }
        let message = output.standardError
        #expect(
            message.trimmed.split(separator: "\n").count == 1, "\(output)", sourceLocation: sourceLocation)
        #expect(output.standardOutput.isEmpty, "\(output)", sourceLocation: sourceLocation)
        let names = words.contains { message.contains($0) }
        #expect(names, "no \(words) in \(output)", sourceLocation: sourceLocation)
    }

    @Test("a second start on the same name fails and does not disturb the first")
    func sameName() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let interface = pair.left.daemon.interface
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            let again = try await pair.left.namespace.run(Implementation.tested.path, interface)
            expectRefusal(again, naming: interface)
            #expect(try await pair.left.daemon.tryWg("show \(interface)").succeeded)
            #expect(try await pair.left.namespace.answers(to: 10, from: pair.right.inner4) == 10)
        }
    }

    @Test(
        "a name whose control socket serves another namespace is refused", .enabled(if: Implementation.isOurs)
    )
    func sameNameElsewhere() async throws {
        try await Lab.with { lab in
            let first = try await Daemon(.tested, in: try await lab.namespace(), lab)
            let elsewhere = try await lab.namespace()
            expectRefusal(
                try await elsewhere.run(Implementation.tested.path, first.interface), naming: first.interface)
            #expect(try await first.tryWg("show \(first.interface)").succeeded)
            #expect(try await !elsewhere.run("ip", "link", "show", first.interface).succeeded)
        }
    }

    @Test("a name of another kind of interface is refused and that one stays")
    func foreignInterface() async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            try await namespace.ip("link add \(interface) type veth peer name other")
            expectRefusal(try await namespace.run(Implementation.tested.path, interface), naming: interface)
            #expect(try await namespace.run("ip", "link", "show", interface).succeeded)
            #expect(access(Daemon.socketPath(of: interface), F_OK) != 0)
        }
    }

    @Test(
        "names that cannot be are refused", .enabled(if: Implementation.isOurs),
        arguments: ["sixteen-bytes-xx", "", ".", "..", "a/b", "a b", "../escape"])
    func names(name: String) async throws {
        try await Lab.with { lab in
            let namespace = try await lab.namespace()
            expectRefusal(
                try await namespace.run(Implementation.tested.path, name), naming: "name", "interface")
            #expect(try await namespace.ip("-o link show").lines.count == 1)
        }
    }

    @Test("a machine without /dev/net/tun is named as such")
    func noDevice() async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            let output = try await namespace.run(
                "bash", "-c",
                "mount -t tmpfs tmpfs /dev/net && exec \(Implementation.tested.path) \(interface)")
            expectRefusal(output, naming: "/dev/net/tun")
            #expect(access(Daemon.socketPath(of: interface), F_OK) != 0)
        }
    }

    @Test(
        "a caller without the privilege is told so",
        arguments: [
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"],
            ["setpriv", "--bounding-set", "-net_admin"],
        ])
    func noPrivilege(prefix: [String]) async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            // The folder above the executable may be closed to other users: hand them a copy.
            let copy = "/tmp/\(interface).tun"
            try await Shell.check(["install", "-m", "0755", Implementation.tested.path, copy])
            defer { unlink(copy) }
            let output = try await Shell.run(namespace.prefix + prefix + [copy, interface])
            expectRefusal(output, naming: "permi", "privilege", "CAP_NET_ADMIN", "root")
            #expect(access(Daemon.socketPath(of: interface), F_OK) != 0)
            #expect(try await !namespace.run("ip", "link", "show", interface).succeeded)
        }
    }

    @Test("no argument, an unknown option and two names are refused", .enabled(if: Implementation.isOurs))
    func arguments() async throws {
        for arguments in [[], ["--bogus"], ["one", "two"]] {
            let output = try await Shell.run([Implementation.tested.path] + arguments)
            #expect(output.status == 1, "\(output)")
            #expect(!output.standardError.isEmpty, "\(output)")
        }
    }

    @Test("--version and --help print to standard output and succeed", .enabled(if: Implementation.isOurs))
    func information() async throws {
        for option in ["--version", "--help"] {
            let output = try await Shell.run([Implementation.tested.path, option])
            #expect(output.succeeded && output.standardOutput.contains("nexusguard-tun"), "\(output)")
            #expect(output.standardError.isEmpty, "\(output)")
        }
    }
}
