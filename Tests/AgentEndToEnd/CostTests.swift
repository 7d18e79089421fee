// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("What an agent costs", .enabled(if: Machine.isReady, Machine.skipReason))
struct CostTests {
    /// For how many heartbeats it is watched, one each 5 s or so; `NEXUSGUARD_SOAK_HEARTBEATS` names more.
    private static let count =
        ProcessInfo.processInfo.environment["NEXUSGUARD_SOAK_HEARTBEATS"].flatMap { Int($0) } ?? 8

    @Test("with the tunnel up it takes less than 40 MB, and no more after many heartbeats")
    func memory() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            #expect(try await agent.namespace.ping(Site.inner))
            guard let pid = agent.child?.pid else { throw ShellError.neverTrue("the agent runs") }
            // What the first requests load and keep is there before the measurement.
            try await agent.waitFor("a few heartbeats are accepted") { $0.counters.heartbeatsAccepted >= 3 }
            // Now and then the allocator takes more for a while; what a heartbeat keeps shows in each round.
            for round in 1...4 {
                let first = try residentKiB(pid)
                let firstTime = try processorTime(pid)
                let firstCount = try await agent.status().counters.heartbeatsAccepted
                let limit = Shell.patience + .seconds(10 * Self.count)
                try await agent.waitFor("many more are accepted", atMost: limit) {
                    $0.counters.heartbeatsAccepted >= firstCount + Self.count
                }
                let lastTime = try processorTime(pid)
                let lastCount = try await agent.status().counters.heartbeatsAccepted
                let last = try residentKiB(pid)
                let cost = (lastTime - firstTime) / Double(lastCount - firstCount)
                print(
                    "the agent: \(first) KiB resident, \(last) KiB after \(lastCount - firstCount) heartbeats; "
                        + "\((cost * 1e6).rounded() / 1e3) ms of the processor for each, all else included")
                #expect(last < 40_000)
                if last - first < 1024, cost < 0.02 { return }
                #expect(round < 4, "it grows by \(last - first) KiB and takes \(cost) s each time")
            }
        }
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
