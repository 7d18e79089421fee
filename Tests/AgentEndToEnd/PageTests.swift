// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("The page of an agent", .enabled(if: Machine.isReady, Machine.skipReason))
struct PageTests {
    @Test("60 streams and 1,000 loads leave its memory as it was, and it ends in order with streams open")
    func load() async throws {
        try await Lab.with { lab in
            let agent = try Agent(lab, in: try await lab.namespace(), name: "agent", settings: [])
            try await agent.start()
            guard let child = agent.child else { throw ShellError.neverTrue("the agent runs") }
            let script = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "Scripts/page-load.py").path
            let client = try lab.spawn(
                in: agent.namespace,
                arguments: ["python3", "-B", script, agent.socket, "\(child.pid)", "60", "1000"])
            let output = try await client.wait(atMost: .seconds(1_200))
            guard output.succeeded else { throw ShellError.failed(output) }
            print(output.lines.first ?? "")
            let figures = (output.lines.last ?? "").split(separator: " ").compactMap { Int($0) }
            try #require(figures.count == 2, "\(output)")
            // One page that is not given back at each load would be 10 MB at least.
            #expect(figures[1] - figures[0] < 2048)
            #expect(figures[1] < 60_000)
            // The client has told it to end.
            let end = try await child.wait(atMost: Shell.patience)
            #expect(end.succeeded, "\(end)")
        }
    }
}
