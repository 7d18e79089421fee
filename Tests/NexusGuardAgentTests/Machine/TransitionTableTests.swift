// SPDX-License-Identifier: MIT

import AgentCore
import Testing

@testable import NexusGuardAgent

@Suite("the table of states and events")
struct TransitionTableTests {
    /// The columns: states as the agent comes to them.
    static let states: [(name: String, driver: MachineDriver)] = [
        ("boot", MachineDriver()),
        ("stopped", .stopped()),
        ("loading", with(MachineDriver()) { $0.send(.booted(wantsUp: true, isOnline: true)) }),
        ("provisioning", .provisioning()),
        ("provision retry", with(.provisioning()) { $0.send(.provisionFailed(.timeout)) }),
        ("tunnel retry", with(.starting()) { $0.send(.tunnelFailed(.tunnelInitFailed("busy"))) }),
        ("offline", with(.connected()) { $0.send([.heartbeatAccepted(.init()), .offline]) }),
        ("starting", .starting()),
        ("waiting", .waiting()),
        ("connected", .connected()),
        ("applying", .applying()),
        ("verifying", .verifying()),
        (
            "no token",
            with(MachineDriver()) {
                $0.send([.booted(wantsUp: true, isOnline: true), .loaded(.init(hasIdentity: false))])
            }
        ),
        ("revoked", with(.connected()) { $0.send(.heartbeatFailed(.init(.revoked))) }),
    ]

    /// The rows: for each event the phase that each state goes to; a dot stays.
    ///
    ///     boot stopped loading provisioning provision-retry tunnel-retry offline starting waiting
    ///     connected applying verifying no-token revoked
    static let table: [(AgentMachine.Event, String)] = [
        (.booted(wantsUp: true, isOnline: true), "AI .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.loaded(MachineDriver.identity), "        .  .  TU .  .  .  .  .  .  .  .  .  .  . "),
        (.loadFailed(.secretStore(5)), "           .  .  FL .  .  .  .  .  .  .  .  .  .  . "),
        (.shutdown, "                              ST ST ST ST ST ST ST ST ST ST ST ST ST ST"),
        (.up, "                                    .  AI .  .  PR TU HB .  .  .  .  .  AI . "),
        (.down, "                                  .  .  ST ST ST ST ST ST ST ST ST ST ST ST"),
        (.restart, "                               .  .  .  .  PR TU .  .  .  TU .  TU AI TU"),
        (.refresh, "                               .  .  .  .  PR TU HB .  .  .  .  .  AI . "),
        (.tokenSupplied(isPending: true), "        .  PR .  .  PR .  .  .  .  .  .  .  PR HB"),
        (.deprovision, "                           .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.reset, "                                 .  ST ST ST ST ST ST ST ST ST ST ST ST ST"),
        (otherServer, "                            .  .  .  .  PR TU HB .  .  .  .  .  AI HB"),
        (.configImported(difference: .peer), "     .  .  .  TU TU TU .  .  RB RB .  .  TU RB"),
        (.online, "                                .  .  .  .  PR TU HB .  .  .  .  .  .  . "),
        (.offline, "                               .  .  .  OF OF OF .  OF OF OF OF OF .  OF"),
        (.networkChanged, "                        .  .  .  .  PR TU .  .  .  .  .  .  .  . "),
        (.timer(nil), "                            .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.timer(handshake), "                      .  .  .  .  .  .  .  .  HB .  .  HB .  . "),
        (.timer(.init(isUp: false)), "             .  .  .  .  .  .  .  .  RT RT .  RT .  RT"),
        (.tunnelStarted, "                         .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.tunnelFailed(.tunnelInitFailed("x")), "  .  .  .  .  .  .  .  RT .  .  .  .  .  . "),
        (.tunnelStopped, "                         .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.applied(.peer), "                        .  .  .  .  .  .  .  .  .  .  HB .  .  . "),
        (.applied(.identity), "                    .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.applyFailed(.tunnelInitFailed("x")), "   .  .  .  .  .  .  .  .  .  .  HB .  .  . "),
        (.rolledBack, "                            .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.rollBackFailed(.secretStore(5)), "       .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.provisionAnswered, "                     .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.provisionFailed(.timeout), "             .  .  .  RT .  .  .  .  .  .  .  .  .  . "),
        (.provisionFailed(.init(.unauthorized)), " .  .  .  FL .  .  .  .  .  .  .  .  .  . "),
        (.heartbeatAccepted(.init()), "            .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.heartbeatAccepted(news), "               .  .  .  .  .  TU .  .  .  RB .  .  .  . "),
        (.heartbeatFailed(.timeout), "             .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.heartbeatFailed(.init(.unauthorized)), " .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.heartbeatFailed(.init(.revoked)), "      .  .  .  .  .  .  .  .  .  FL .  .  .  . "),
        (.heartbeatFailed(proof), "                .  .  .  .  .  FL .  .  .  FL .  .  .  . "),
        (.heartbeatFailed(.init(.networkOffline)), "  .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.forwardsFetched, "                       .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.forwardsFailed(.timeout), "              .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.deprovisioned, "                         .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.deprovisionFailed(.timeout), "           .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.stored(nil), "                           .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
        (.stored(.secretStore(28)), "              .  .  .  .  .  .  .  .  .  .  .  .  .  . "),
    ]

    static let news = AgentMachine.News(difference: .peer, digest: [7])
    static let proof = AgentMachine.Failure(.revoked, isProven: true)
    static let handshake = AgentMachine.Observation(isUp: true, lastHandshake: .seconds(1_001))
    static let otherServer = AgentMachine.Event.settingsChanged(
        hasServer: true, hasConfiguredToken: false, isOtherServer: true)
    static let phases: [Substring: AgentPhase] = [
        "AI": .appInit, "ST": .stopped, "PR": .provision, "RT": .appRetry, "OF": .offline,
        "TU": .tunnelUp, "HB": .heartbeat, "RB": .tunnelRebuild, "FL": .failed,
    ]

    static func with(_ driver: MachineDriver, _ change: (inout MachineDriver) -> Void) -> MachineDriver {
        var driver = driver
        change(&driver)
        return driver
    }

    @Test("each state goes where the table says with each event, and nothing is begun twice")
    func table() {
        #expect(Set(Self.states.map(\.driver.state.phase)) == Set(AgentPhase.allCases))
        for (event, row) in Self.table {
            let cells = row.split(separator: " ")
            #expect(cells.count == Self.states.count, "\(event)")
            for (cell, (name, before)) in zip(cells, Self.states) {
                var driver = before
                driver.send(event)
                let expected = cell == "." ? before.state.phase : Self.phases[cell]
                #expect(driver.state.phase == expected, "\(name) with \(event)")
                if before.state.request != nil, driver.state.request != nil {
                    #expect(!driver.effects.contains { $0.isRequest } || event.isAnswer, "\(name) \(event)")
                }
                if let deadline = driver.state.nextDeadline {
                    #expect(deadline >= driver.now, "\(name) with \(event)")
                }
            }
        }
    }

    @Test("what people are shown of each state is the one of the table")
    func shown() {
        let expected: [AgentState] = [
            .disconnected, .disconnected, .connecting, .connecting, .connecting, .connecting,
            .disconnected, .connecting, .connecting, .connected, .connected, .connecting, .failed, .failed,
        ]
        for ((name, driver), state) in zip(Self.states, expected) {
            #expect(driver.state.shown == state, "\(name)")
        }
    }

    @Test("an end in any state takes the tunnel down and sends nothing more")
    func shutdown() {
        for (name, before) in Self.states {
            var driver = before
            driver.send(.shutdown)
            var effects = driver.effects
            for answer in [AgentMachine.Event.tunnelStarted, .applied(.peer), .tunnelStopped] {
                driver.send(answer)
                effects += driver.effects
            }
            #expect(!driver.state.tunnelIsUp && driver.state.tunnelWork == nil, "\(name)")
            #expect(!effects.contains { $0.isRequest || $0 == .startTunnel }, "\(name)")
            #expect(driver.state.nextDeadline == nil, "\(name)")
        }
    }
}

extension AgentMachine.Effect {
    /// Whether it sends something to the server.
    var isRequest: Bool {
        switch self {
        case .provision, .sendHeartbeat, .fetchForwards, .deprovision: true
        default: false
        }
    }

    /// Whether it begins a change to the tunnel.
    var isTunnelWork: Bool {
        switch self {
        case .startTunnel, .stopTunnel, .applyCandidate, .rollBack: true
        default: false
        }
    }
}

extension AgentMachine.Event {
    /// Whether it ends a request.
    var isAnswer: Bool {
        switch self {
        case .provisionAnswered, .provisionFailed, .heartbeatAccepted, .heartbeatFailed, .forwardsFetched,
            .forwardsFailed, .deprovisioned, .deprovisionFailed:
            true
        default: false
        }
    }
}
