// SPDX-License-Identifier: MIT

import AgentHost
import Glibc
import Harness
import NexusGuard
import Testing

/// What `wg-quick` needs to run.
private let quickObstacle: String? = {
    let paths = ["/usr/bin/wg-quick", "/usr/bin/wg", "/usr/bin/wireguard-go"]
    let missing = paths.filter { access($0, X_OK) != 0 }
    return missing.isEmpty ? nil : "missing: \(missing.joined(separator: " "))"
}()

@Suite(
    "host plan: beside wg-quick",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"),
    .enabled(if: quickObstacle == nil, "\(quickObstacle ?? "")"))
struct HostPlanQuickTests {
    static let cases: [(addresses: [String], allowedIPs: [String])] = [
        (["10.9.0.2/24"], ["10.7.0.0/16", "10.9.0.0/24", "10.9.0.128/25"]),
        (["10.9.0.2/32", "fd00:9::2/128"], ["10.7.0.0/16", "10.7.3.0/24", "fd00:7::/32"]),
        (["10.9.0.2/32"], ["0.0.0.0/0"]),
        (["10.9.0.2/24", "fd00:9::2/64"], ["0.0.0.0/0", "::/0"]),
        (["10.9.0.2/24", "fd00:9::2/64"], ["0.0.0.0/0", "10.7.0.0/16", "fd00:7::/32", "fd00:9::/64"]),
        (["fd00:9::2/64"], ["::/0"]),
    ]

    /// Where packets to these addresses go shows what the routes mean.
    private static let destinations = [
        "10.7.1.1", "10.7.3.1", "10.9.0.7", "192.0.2.9", "198.51.100.9", "fd00:7::9", "fd00:9::9",
        "2001:db8::9", "2001:db8:5::9",
    ]

    @Test("routes, rules and the ways of packets are the same", arguments: cases)
    func same(_ addresses: [String], _ allowedIPs: [String]) async throws {
        nonisolated(unsafe) var theirs = Picture()
        nonisolated(unsafe) var ours = Picture()
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let folder = try HostTestNamespace.temporaryFolder()
            defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
            // The name of the interface is that of the file; the folder's has six random characters.
            let name = "ngq\(folder.suffix(6))"
            let path = "\(folder)/\(name).conf"
            try Self.write(Self.file(addresses, allowedIPs), to: path)
            let variables = "WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-go"
            try HostTestNamespace.tool("env \(variables) wg-quick up \(path)")
            theirs = try Picture(interface: name, table: 51820, mark: 51820)
            try HostTestNamespace.tool("wg-quick down \(path)")
        }
        try await withHost { host, journal in
            try withTunnel(samplePlan(addresses: addresses, allowedIPs: allowedIPs), on: host, journal) { _ in
                ours = try Picture(interface: "ng0", table: HostPlan.table, mark: FirewallMark.value)
            }
        }
        let families = [false, true].filter { isIPv6 in
            allowedIPs.contains { $0.hasSuffix("/0") && $0.contains(":") == isIPv6 }
        }
        #expect(ours.routes == theirs.routes)
        #expect(ours.markedWays == theirs.markedWays)
        for isIPv6 in families { #expect(ours.rules[isIPv6] == theirs.rules[isIPv6]) }
        if families.count == 1 {
            // Here wg-quick lets the other family out beside the tunnel, and this agent does not.
            let other = !families[0]
            #expect(
                ours.ways.filter { $0.key.contains(":") != other }
                    == theirs.ways.filter { $0.key.contains(":") != other })
            let leaks = ours.ways.filter { $0.key.contains(":") == other && $0.value == "up0" }
            #expect(leaks.keys.allSatisfy { ["192.0.2.9", "2001:db8::9"].contains($0) })
        } else {
            #expect(ours.ways == theirs.ways)
            #expect(ours.rules == theirs.rules)
        }
    }

    /// What shows of a tunnel's routes, with its own names replaced.
    private struct Picture {
        var routes: Set<String> = []
        var rules: [Bool: [String]] = [:]
        var ways: [String: String] = [:]
        var markedWays: [String: String] = [:]

        init() {}

        init(interface: String, table: UInt32, mark: UInt32) throws {
            for family in ["-4", "-6"] {
                for (label, number) in [("main", "main"), ("own", "\(table)")] {
                    let words = ["ip", family, "route", "show", "table", number, "dev", interface]
                    for line in try HostTestNamespace.spawn(words).output.split(separator: "\n")
                    where !line.contains("fe80::") && !line.hasPrefix("Error:") && !line.hasPrefix("Dump") {
                        let destination = line.split(separator: " ").first ?? ""
                        routes.insert("\(family) \(label) \(destination)")
                    }
                }
                let ignored = ["lookup local", "lookup main", "lookup default"]
                rules[family == "-6"] = try HostTestNamespace.ip("\(family) rule").split(separator: "\n")
                    .compactMap {
                        // The priority and the numbers of mark and table are each one's own.
                        let words = $0.split(separator: "\t", maxSplits: 1).last.map(String.init) ?? ""
                        if ignored.contains(where: { words.hasSuffix($0) }) { return nil }
                        let mine = words.split(separator: " ")
                        return mine.map { $0 == "\(table)" ? "T" : $0.hasPrefix("0x") ? "M" : String($0) }
                            .joined(separator: " ")
                    }
            }
            for destination in HostPlanQuickTests.destinations {
                ways[destination] = try Self.way(destination, 0, interface)
                markedWays[destination] = try Self.way(destination, mark, interface)
            }
        }

        /// The interface that a packet takes, or what refuses it.
        private static func way(_ destination: String, _ mark: UInt32, _ interface: String) throws -> String {
            let words = ["ip", "route", "get", destination] + (mark == 0 ? [] : ["mark", "\(mark)"])
            let result = try HostTestNamespace.spawn(words)
            guard result.status == 0 else { return "refused" }
            let output = result.output.split(separator: " ")
            guard let index = output.firstIndex(of: "dev") else { return result.output }
            return output[index + 1] == interface ? "tunnel" : String(output[index + 1])
        }
    }

    private static func file(_ addresses: [String], _ allowedIPs: [String]) -> String {
        """
        [Interface]
        PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=
        Address = \(addresses.joined(separator: ", "))

        [Peer]
        PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
        AllowedIPs = \(allowedIPs.joined(separator: ", "))
        Endpoint = 192.0.2.7:51820
        """
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw HostTestNamespace.ToolFailure(line: "write \(path)", output: "errno \(errno)")
        }
    }
}
