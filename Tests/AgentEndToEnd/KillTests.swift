// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("Sudden ends", .enabled(if: Machine.isReady, Machine.skipReason))
struct KillTests {
    /// Where the random moments come from: `NEXUSGUARD_SEED` repeats a run.
    private static let seed =
        ProcessInfo.processInfo.environment["NEXUSGUARD_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...UInt64(UInt32.max))

    /// Kills the agent within a time of now, and starts it again.
    ///
    /// - Returns: When it was killed, in milliseconds from now.
    private func kill(_ agent: Agent, within milliseconds: Int, _ random: inout SeededGenerator) async throws
        -> Int
    {
        let moment = random.below(milliseconds)
        try await Task.sleep(for: .milliseconds(moment))
        try await agent.kill()
        return moment
    }

    /// What became of one start after a sudden end.
    ///
    /// - Returns: How long the connection took.
    private func expectConnection(
        _ agent: Agent, _ site: Site, _ occasion: String
    ) async throws -> Duration {
        do {
            let start = ContinuousClock.now
            try agent.launch()
            try await Shell.eventually("the agent is connected") {
                try await agent.run("status", "--check", "ready").succeeded
            }
            let taken = ContinuousClock.now - start
            #expect(try await agent.namespace.ping(Site.inner), "\(occasion)")
            let devices = try await site.control.devices().filter { $0.name == agent.name }
            #expect(devices.count == 1 && devices[0].state == "active", "\(occasion): \(devices)")
            return taken
        } catch {
            let lines = agent.log.split(separator: "\n").suffix(40).joined(separator: "\n")
            throw ShellError.neverTrue("\(occasion): \(error)\n\(lines)")
        }
    }

    @Test("after each of 50 sudden ends, in provisioning, rebuilding or writing, the next start connects")
    func kills() async throws {
        print("the moments of the sudden ends come from NEXUSGUARD_SEED=\(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        try await Lab.with { lab in
            let site = try await Site(lab)
            let place = try await site.place(1)
            let wish = try await wish(lab, in: place)
            var last: Agent?
            var times: [Duration] = []
            // The answer to each request for an identity takes a while: some ends come while the server has
            // made it and the agent does not know.
            try site.control.setFaults("delay=100ms@provision")
            for number in 1...20 {
                let token = try await site.control.token(name: "device\(number)")
                let agent = try site.agent(number, in: place, settings: ["token_file = \(token.path)"])
                try prepare(agent, wish: wish)
                let child = try agent.launch()
                let moment = try await kill(agent, within: 500, &random)
                #expect(child.poll() == 128 + SIGKILL)
                times.append(
                    try await expectConnection(agent, site, "provision \(number), after \(moment) ms"))
                if let former = last { try FileManager.default.removeItem(atPath: former.stateDirectory) }
                last = agent
                if number < 20 { try await agent.stop() }
            }
            guard let agent = last else { return }

            // Each heartbeat brings new keys, and the first one comes as soon as the tunnel is up.
            try site.control.setFaults("rotate-every=1@heartbeat")
            for number in 1...15 {
                if number.isMultiple(of: 2) { _ = try await site.control.command("rotate-keys", agent.name) }
                let moment = try await kill(agent, within: 700, &random)
                times.append(try await expectConnection(agent, site, "rebuild \(number), after \(moment) ms"))
            }
            try site.control.setFaults()

            // Settings and wishes are written one after the other.
            for number in 1...15 {
                let writer = Task {
                    for round in 0..<40 {
                        let value = round.isMultiple(of: 2) ? "yes" : "no"
                        guard try await agent.run("settings", "set", "persistsLog=\(value)").succeeded else {
                            break
                        }
                    }
                }
                let moment = try await kill(agent, within: 300, &random)
                _ = try? await writer.value
                times.append(try await expectConnection(agent, site, "write \(number), after \(moment) ms"))
            }
            #expect(times.count == 50)
            #expect(try await site.control.devices().count == 20)
            times.sort()
            print(
                "connected again after \(times[times.count / 2]) in the middle, \(times.last ?? .zero) at most"
            )
            try await agent.stop()
        }
    }

    /// The settings of an agent that wants its tunnel up and has nothing to bring up.
    private func wish(_ lab: Lab, in place: Namespace) async throws -> String {
        let agent = try Agent(lab, in: place, name: "wish", settings: [])
        try await agent.start()
        // No identity is to be had yet, but the wish is stored.
        #expect(try await agent.run("up").status == 6)
        try await agent.stop()
        return "\(agent.stateDirectory)/agent.json"
    }

    /// Has an agent want its tunnel up, with nothing else stored.
    private func prepare(_ agent: Agent, wish: String) throws {
        try FileManager.default.createDirectory(
            atPath: agent.stateDirectory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: wish, toPath: "\(agent.stateDirectory)/agent.json")
    }
}
