// SPDX-License-Identifier: MIT

import AgentHTTP
import AgentStore
import Testing

@testable internal import NexusGuardAgent

@Suite("who may do what")
struct PermissionTests {
    private let policy = PeerPolicy(daemonUser: 990, operatorGroup: 991)

    @Test("root, the daemon's user and members of the group operate, others observe")
    func roles() {
        func role(_ user: UInt32, _ group: UInt32, _ groups: [UInt32] = []) -> PeerRole? {
            policy.role(of: .unix(uid: user, gid: group, pid: 1, groups: groups))
        }
        #expect(role(0, 0) == .controller)
        #expect(role(0, 1000) == .controller)
        #expect(role(990, 990) == .controller)
        #expect(role(1000, 991) == .controller)
        #expect(role(1000, 1000, [4, 24, 991]) == .controller)
        #expect(role(1000, 1000) == .observer)
        #expect(role(1000, 0, [0, 4]) == .observer)
        #expect(role(991, 1000, [990]) == .observer)
    }

    @Test("without the group nobody is in it, and a peer of the network is nobody")
    func missing() {
        let alone = PeerPolicy(daemonUser: 990, operatorGroup: nil)
        #expect(alone.role(of: .unix(uid: 1000, gid: 991, pid: 1, groups: [991, 0])) == .observer)
        #expect(alone.role(of: .network(address: "127.0.0.1", port: 1)) == nil)
        #expect(PeerPolicy(groupName: "no-such-group-here").operatorGroup == nil)
        #expect(PeerPolicy(groupName: "root").operatorGroup == 0)
    }

    @Test("an observer sees the redacted state and nothing else")
    func observer() async throws {
        let agent = try FakeAgent()
        let api = LocalAPI(control: agent, log: LogStore(), options: LocalAPI.Options())
        for route in APIRoute.allCases where route != .events {
            let request = ServerRequest(
                method: route.method, path: route.path,
                headers: [("Host", "localhost"), ("Content-Type", "application/json")],
                body: ["PUT", "POST"].contains(route.method) ? Array(#"{"up":true}"#.utf8) : [],
                peer: .unix(uid: 65_534, gid: 65_534, pid: 1, groups: [65_534]))
            guard case .response(let response) = await api.reply(to: request) else {
                Issue.record("no answer for \(route)")
                continue
            }
            let text = String(decoding: response.body, as: UTF8.self)
            switch route {
            case .status, .traffic, .metrics:
                #expect(response.status == 200)
                #expect(!text.contains("control.example.net"))
                #expect(!text.contains("devi"))
            case .health: #expect(response.status == 204)
            default:
                #expect(response.status == 403, "\(route)")
                #expect(text.contains(#""code":"not-permitted""#))
            }
        }
        #expect(await agent.calls.isEmpty)
    }
}
