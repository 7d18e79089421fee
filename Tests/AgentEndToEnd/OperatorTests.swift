// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("The group of operators", .enabled(if: Machine.isReady, Machine.skipReason))
struct OperatorTests {
    private static let group = "4242"

    /// An agent that sees a group file of the test's own in the place of the host's.
    private func agent(_ lab: Lab, _ site: Site, groups: String) async throws -> Agent {
        let script = #"mount --bind "$0" /etc/group && exec "$@""#
        return try site.agent(
            1, in: try await site.place(1),
            program: ["unshare", "--mount", "--", "sh", "-c", script, groups, Program.agent]
                + ["--log-level", "debug"])
    }

    private func run(_ agent: Agent, groups: [String], _ words: [String], input: String = "") async throws
        -> Output
    {
        try await Shell.run(
            agent.namespace.prefix + ["setpriv", "--reuid=65534"] + groups + [Program.command]
                + ["--socket", agent.socket] + words, input: input)
    }

    @Test("its members operate the agent, by their first or a further group, and nobody else does")
    func members() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let member = "root:x:0:\nnexusguard:x:\(Self.group):\n"
            let groups = try lab.file("group", member)
            let agent = try await agent(lab, site, groups: groups)
            try await agent.start()
            let token = try await site.control.token(name: agent.name)
            let further = ["--regid=65534", "--groups=\(Self.group)"]
            let first = ["--regid=\(Self.group)", "--clear-groups"]
            let stranger = ["--regid=65534", "--groups=4243"]

            let provisioned = try await run(
                agent, groups: further, ["provision", "--token-stdin"], input: token.text + "\n")
            #expect(provisioned.succeeded, "\(provisioned)")
            let up = try await run(agent, groups: first, ["up", "--timeout", "250"])
            #expect(up.succeeded, "\(up)")
            #expect(try await agent.namespace.ping(Site.inner))
            let allowed: [[String]] = [
                ["refresh"], ["logs"], ["forwards"], ["hwid"], ["settings"], ["config", "show"],
                ["config", "export"], ["netcheck"], ["bugreport", "-o", "-"],
                ["settings", "set", "startsAutomatically=no"], ["restart", "--timeout", "250"],
                ["logs", "--clear"], ["down"], ["deprovision", "--yes"], ["reset", "--yes"],
            ]
            for words in allowed {
                let refused = try await run(agent, groups: stranger, words)
                #expect(refused.status == 5, "\(words): \(refused)")
                let groups = words.count.isMultiple(of: 2) ? first : further
                let output = try await run(agent, groups: groups, words)
                #expect(output.status != 5, "\(words): \(output)")
                if !["forwards", "netcheck"].contains(words[0]) {
                    #expect(output.succeeded, "\(words): \(output)")
                }
            }
            let whole = try await run(agent, groups: further, ["--json", "status"])
            #expect(whole.standardOutput.contains(#""hwid":"0000"#), "\(whole.standardOutput)")
            let redacted = try await run(agent, groups: stranger, ["--json", "status"])
            #expect(!redacted.standardOutput.contains("0000…"))
        }
    }

    @Test("who leaves the group has no say after the daemon was told to look again")
    func reload() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let groups = try lab.file("group", "nexusguard:x:\(Self.group):\n")
            let agent = try await agent(lab, site, groups: groups)
            try await agent.start()
            let words = ["--regid=65534", "--groups=\(Self.group)"]
            #expect(try await run(agent, groups: words, ["hwid"]).succeeded)
            // In place: another file would not be the one that the daemon sees.
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: groups))
            try file.write(contentsOf: Data("nexusguard:x:4244:\n".utf8))
            try file.close()
            agent.child?.signal(SIGHUP)
            try await Shell.eventually("the group is another one") {
                try await run(agent, groups: words, ["hwid"]).status == 5
            }
            #expect(
                try await run(agent, groups: ["--regid=65534", "--groups=4244"], ["hwid"]).succeeded)
        }
    }
}
