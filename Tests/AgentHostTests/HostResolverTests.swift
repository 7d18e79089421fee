// SPDX-License-Identifier: MIT

import Glibc
import Harness
import NexusGuard
import Synchronization
import Testing

@testable import AgentHost

@Suite(
    "resolver beside the tunnel",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct HostResolverTests {
    private typealias Server = DNSTestServer

    /// Where the name of the question stands in an answer, as a pointer.
    private static let pointer: [UInt8] = [0xc0, 12]

    /// Runs `body` with a resolver whose files name these servers.
    ///
    /// - Parameter patience: How long a server is waited for: no machine is slow enough to reach the default.
    private static func run(
        servers: [String] = ["127.0.0.1"], hosts: String = "", patience: Duration = .seconds(600),
        _ body: @escaping @Sendable (HostResolver) throws -> Void
    ) async throws {
        try await HostTestNamespace.run {
            let folder = try HostTestNamespace.temporaryFolder()
            defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
            let lines = servers.map { "nameserver \($0)\n" }.joined()
            try write("# written by a test\noptions ndots:1\n\(lines)", "\(folder)/resolv.conf")
            try write(hosts, "\(folder)/hosts")
            var files = NameFiles()
            files.resolverFile = "\(folder)/resolv.conf"
            files.upstreamFile = "\(folder)/upstream"
            files.hostsFile = "\(folder)/hosts"
            try body(HostResolver(files: files, mark: FirewallMark.value, port: 5_353, patience: patience))
        }
    }

    private static func write(_ text: String, _ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw HostTestNamespace.ToolFailure(line: "write \(path)", output: "errno \(errno)")
        }
    }

    private static func texts(_ addresses: [IPAddress]) -> Set<String> { Set(addresses.map(\.description)) }

    @Test("addresses of both families are found; an address is its own name")
    func bothFamilies() async throws {
        try await Self.run { resolver in
            let server = try Server { question in
                let records = ["192.0.2.7", "192.0.2.8", "2001:db8::7"].map {
                    Server.address(Self.pointer, $0)
                }
                return [Server.answer(question, records.filter { $0[3] == question.type & 0xff })]
            }
            let found = try resolver.addresses(of: "vpn.example.net")
            #expect(Self.texts(found) == ["192.0.2.7", "192.0.2.8", "2001:db8::7"])
            #expect(Set(server.asked.map(\.name)) == ["vpn.example.net"])
            #expect(server.asked.count == 2)
            #expect(try resolver.addresses(of: "192.0.2.99").map(\.description) == ["192.0.2.99"])
            #expect(try resolver.addresses(of: "2001:db8::99").map(\.description) == ["2001:db8::99"])
            #expect(server.asked.count == 2)
        }
    }

    @Test("aliases are followed whatever their order, and records of others do not count")
    func aliases() async throws {
        try await Self.run { resolver in
            let server = try Server { question in
                guard question.type == 1 else { return [Server.answer(question)] }
                return [
                    Server.answer(
                        question,
                        [
                            Server.address(Server.labels("Edge.Example.ORG"), "192.0.2.7"),
                            Server.record(
                                Server.labels("mid.example.org"), 5, Server.labels("edge.example.org")),
                            Server.record(Self.pointer, 5, Server.labels("mid.example.org")),
                            Server.address(Server.labels("other.example.org"), "203.0.113.66"),
                            Server.record(Server.labels("edge.example.org"), 16, [3, 65, 66, 67]),
                        ])
                ]
            }
            #expect(try Self.texts(resolver.addresses(of: "vpn.example.net")) == ["192.0.2.7"])
            withExtendedLifetime(server) {}
        }
    }

    @Test("a name that does not exist is told so by the first server")
    func noSuchName() async throws {
        try await Self.run(servers: ["127.0.0.1", "127.0.0.2"]) { resolver in
            let first = try Server { [Server.answer($0, code: 3)] }
            let second = try Server("127.0.0.2") { question in
                [Server.answer(question, [Server.address(Self.pointer, "203.0.113.66")])]
            }
            let reason = "the name does not exist or has no address"
            #expect(throws: HostError.unresolved(name: "vpn.example.net", reason: reason, isTemporary: false))
            {
                try resolver.addresses(of: "vpn.example.net")
            }
            #expect(first.asked.count == 2 && second.asked.isEmpty)
        }
    }

    @Test("a server that fails or keeps silent gives way to the next one", arguments: [true, false])
    func nextServer(isSilent: Bool) async throws {
        // The first one is waited for in full; the second one has as long on a machine that is busy.
        let patience = Duration.seconds(isSilent ? 10 : 600)
        try await Self.run(servers: ["127.0.0.1", "127.0.0.2"], patience: patience) { resolver in
            let first = try Server { isSilent ? [] : [Server.answer($0, code: 2)] }
            let second = try Server("127.0.0.2") { question in
                let records = [Server.address(Self.pointer, "192.0.2.7")]
                return [Server.answer(question, question.type == 1 ? records : [])]
            }
            #expect(try Self.texts(resolver.addresses(of: "vpn.example.net")) == ["192.0.2.7"])
            #expect(!first.asked.isEmpty && second.asked.count == 2)
        }
    }

    @Test("when all servers fail the last failure is the reason")
    func allFail() async throws {
        try await Self.run { resolver in
            let server = try Server { [Server.answer($0, code: 5)] }
            let reason = "the name server 127.0.0.1 answers with code 5"
            #expect(throws: HostError.unresolved(name: "vpn.example.net", reason: reason, isTemporary: true))
            {
                try resolver.addresses(of: "vpn.example.net")
            }
            // Two rounds, both families.
            #expect(server.asked.count == 4)
        }
    }

    @Test("an answer that does not fit comes over TCP")
    func truncated() async throws {
        try await Self.run { resolver in
            let server = try Server { question in
                guard question.type == 1 else { return [Server.answer(question)] }
                guard question.isStream else { return [Server.answer(question, isTruncated: true)] }
                let records = (1...60).map { Server.address(Self.pointer, "192.0.2.\($0)") }
                return [Server.answer(question, records)]
            }
            #expect(try resolver.addresses(of: "vpn.example.net").count == 60)
            #expect(server.asked.contains { $0.isStream })
        }
    }

    @Test("answers to other questions are passed over")
    func forged() async throws {
        try await Self.run { resolver in
            let server = try Server { question in
                let bad = [Server.address(Self.pointer, question.type == 1 ? "203.0.113.66" : "2001:db8::66")]
                var number = question
                number.identifier &+= 1
                var name = question
                name.name = "vpn.example.com"
                var type = question
                type.type = 16
                var questionAgain = Server.answer(question, bad)
                questionAgain[2] &= 0x7f
                let good = [Server.address(Self.pointer, question.type == 1 ? "192.0.2.7" : "2001:db8::7")]
                return [Server.answer(number, bad), Server.answer(name, bad), Server.answer(type, bad)]
                    + [questionAgain, [1, 2, 3], Array(Server.answer(question, bad).dropLast(3))]
                    + [Server.answer(question, good)]
            }
            #expect(
                try Self.texts(resolver.addresses(of: "vpn.example.net")) == ["192.0.2.7", "2001:db8::7"])
            withExtendedLifetime(server) {}
        }
    }

    @Test("the file of hosts comes first, in any case")
    func hostsFile() async throws {
        let hosts = "# comment\n192.0.2.55\tother VPN.example.net # more\n2001:db8::55 vpn.example.net\nbad\n"
        try await Self.run(servers: [], hosts: hosts) { resolver in
            let found = try resolver.addresses(of: "vpn.EXAMPLE.net")
            #expect(Self.texts(found) == ["192.0.2.55", "2001:db8::55"])
            #expect(
                throws: HostError.unresolved(
                    name: "a.example", reason: "no name server is configured", isTemporary: false)
            ) {
                try resolver.addresses(of: "a.example")
            }
        }
    }

    @Test("behind a local stub the servers that it asks are asked")
    func stub() async throws {
        try await Self.run(servers: ["127.0.0.53"]) { resolver in
            let server = try Server("127.0.0.9") { question in
                let records = [Server.address(Self.pointer, "192.0.2.7")]
                return [Server.answer(question, question.type == 1 ? records : [])]
            }
            // The same path as the resolver file's, which holds the stub.
            let folder = String(resolver.files.resolverFile.dropLast("/resolv.conf".count))
            try Self.write("nameserver 127.0.0.9\n", "\(folder)/upstream")
            #expect(try Self.texts(resolver.addresses(of: "vpn.example.net")) == ["192.0.2.7"])
            #expect(server.asked.count == 2)
        }
    }

    @Test("addresses with a route come first")
    func order() async throws {
        try await Self.run(hosts: "192.0.2.9 both.example\n2001:db8::9 both.example\n") { resolver in
            try HostTestNamespace.ip("link add up0 type veth peer name up1")
            try HostTestNamespace.ip("link set up0 up")
            try HostTestNamespace.ip("link set up1 up")
            try HostTestNamespace.ip("addr add 192.0.2.2/24 dev up0")
            #expect(
                try resolver.addresses(of: "both.example").map(\.description) == ["192.0.2.9", "2001:db8::9"])
            try HostTestNamespace.ip("addr add 2001:db8::2/64 dev up0 nodad")
            #expect(
                try resolver.addresses(of: "both.example").map(\.description) == ["2001:db8::9", "192.0.2.9"])
        }
    }

    @Test("in a full tunnel the questions go out beside it")
    func besideTheTunnel() async throws {
        try await withHost { host, journal in
            try HostTestNamespace.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev up0 nud permanent")
            try withTunnel(samplePlan(), on: host, journal) { tunnel in
                let folder = try HostTestNamespace.temporaryFolder()
                defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
                try Self.write("nameserver 198.51.100.53\n", "\(folder)/resolv.conf")
                var files = NameFiles()
                files.resolverFile = "\(folder)/resolv.conf"
                let uplink = try HostTestCapture("up1")
                let resolver = HostResolver(files: files, mark: FirewallMark.value, port: 53)
                #expect(throws: HostError.self) { try resolver.addresses(of: "vpn.example.net") }
                #expect(uplink.packets().contains { $0.destination == "198.51.100.53" })
                #expect(tunnel.packets().isEmpty)
                // The system's resolver, in contrast, asks through the tunnel.
                let unmarked = HostResolver(files: files, mark: 0, port: 53)
                #expect(throws: HostError.self) { try unmarked.addresses(of: "vpn.example.net") }
                #expect(tunnel.packets().contains { $0.destination == "198.51.100.53" })
            }
        }
    }

    @Test("no answer whatever makes the reader fail", arguments: 1...4)
    func mutations(seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15
        func next() -> Int {
            // xorshift, so that a failure can be repeated.
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(truncatingIfNeeded: state >> 33)
        }
        let question = Server.Question(identifier: 7, name: "vpn.example.net", type: 1, isStream: false)
        let whole = Server.answer(
            question,
            [
                Server.record(Self.pointer, 5, Server.labels("edge.example.org")),
                Server.address(Server.labels("edge.example.org"), "192.0.2.7"),
            ])
        func read(_ bytes: [UInt8]) -> DNSMessage.Answer? {
            DNSMessage.answer(bytes, to: question.name, .ipv4, identifier: 7)
        }
        #expect(read(whole) == .addresses([IPAddress(ipv4: 0xC000_0207)]))
        for length in 0..<whole.count { #expect(read(Array(whole[..<length])) == nil) }
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...next() % 4 { bytes[next() % bytes.count] = UInt8(next() & 0xff) }
            if read(bytes) != nil { accepted += 1 }
        }
        #expect((1..<20_000).contains(accepted))
    }
}
