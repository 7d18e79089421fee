// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("What an agent costs", .enabled(if: Machine.isReady, Machine.skipReason))
struct CostTests {
    /// How many heartbeats are sent; `NEXUSGUARD_SOAK_HEARTBEATS` names another number, at least 2,000.
    private static let heartbeats =
        ProcessInfo.processInfo.environment["NEXUSGUARD_SOAK_HEARTBEATS"].flatMap { Int($0) } ?? 10_000

    @Test("with the tunnel up the daemon takes less than 40 MB")
    func memory() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            #expect(try await agent.namespace.ping(Site.inner))
            guard let pid = agent.child?.pid else { throw ShellError.neverTrue("the agent runs") }
            // What the first requests load and keep is there before the measurement.
            try await agent.waitFor("a few heartbeats are accepted") { $0.counters.heartbeatsAccepted >= 3 }
            let size = try residentKiB(pid)
            print("the agent with its tunnel up: \(size) KiB resident")
            #expect(size < 40_000)
        }
    }

    @Test("ten thousand heartbeats with new keys and forwards among them keep no memory, and cost under 5 ms")
    func heartbeats() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            try await site.control.liftRequestLimit()
            let place = try await site.place(1)
            let agent = try await site.connect(
                site.agent(1, in: place, program: [Program.soak, "--interval-ms", "1"]))
            guard let pid = agent.child?.pid else { throw ShellError.neverTrue("the agent runs") }
            // By then the ring of the log, the buffers of the requests and the heap have their sizes.
            let first = try await reach(1_000, agent, pid)
            var changes = 0
            var sizes = [first.size]
            for step in 1...8 {
                sizes.append(
                    try await reach(1_000 + (Self.heartbeats - 1_000) * step / 9, agent, pid).size)
                if step.isMultiple(of: 2) {
                    try await site.control.command("forward", "add", agent.name, "tcp", "80\(step)", "80")
                } else {
                    try await site.control.command("rotate-keys", agent.name)
                    changes += 1
                    try await agent.waitFor("the new keys are in use") { $0.counters.rebuilds == changes }
                }
            }
            let last = try await reach(Self.heartbeats, agent, pid)
            let count = last.count - first.count
            let cost = (last.seconds - first.seconds) / Double(count)
            print("resident, in KiB, each ninth of the way: \(sizes + [last.size])")
            print(
                "the agent: \(first.size) KiB resident after \(first.count) heartbeats, \(last.size) KiB after "
                    + "\(last.count); \((cost * 1e6).rounded() / 1e3) ms of the processor for each")
            #expect(last.size < 40_000)
            // One small object lost in each heartbeat, of 100 bytes with what the heap needs for it, would be more.
            #expect(last.size - first.size < count * 100 / 1_024)
            #expect(cost < 0.005)
            let status = try await agent.status()
            #expect(status.state == "connected" && status.health.isEmpty)
            #expect(status.counters.failures.isEmpty && status.counters.rollbacks == 0)
            #expect(status.counters.tunnelStarts == 1)
            #expect(try await agent.namespace.ping(Site.inner))
            #expect(try await site.control.devices().count == 1)
        }
    }

    /// What a process has taken.
    private struct Cost {
        let count: Int
        let size: Int
        let seconds: Double
    }

    /// Waits until so many heartbeats have been accepted.
    private func reach(_ count: Int, _ agent: Agent, _ pid: pid_t) async throws -> Cost {
        let status = try await agent.waitFor(
            "\(count) heartbeats are accepted", atMost: .seconds(600), every: .milliseconds(500)
        ) { $0.counters.heartbeatsAccepted >= count }
        return Cost(
            count: status.counters.heartbeatsAccepted, size: try residentKiB(pid),
            seconds: try processorTime(pid))
    }

    private func residentKiB(_ pid: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let line, let size = Int(line.filter(\.isNumber)) else {
            throw ShellError.neverTrue("process \(pid) has a size")
        }
        return size
    }

    /// The time that all threads of a process have had, in seconds.
    private func processorTime(_ pid: pid_t) throws -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            throw ShellError.neverTrue("process \(pid) has a clock")
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
