// SPDX-License-Identifier: MIT

import AgentCore
import FoundationEssentials
import NexusGuard
import NexusGuardAgent
import Synchronization

/// A tunnel that does as a test says, and remembers what it was told.
final class FakeTunnel: TunnelControl {
    /// What was done with it, in order; a configuration is named by its endpoint.
    enum Call: Equatable {
        case start(String)
        case apply(String)
        case stop
        case refresh
    }

    private struct Model {
        var calls: [Call] = []
        var config: WireGuardConfig?
        var sentByteCount: UInt64 = 0
        /// When the last handshake was, by both clocks.
        var handshake: (at: Duration, date: Date)?
        /// Whether the next handshake need not wait for the keys to be old.
        var renewsHandshake = false
        var startError: AgentError?
        var applyError: AgentError?
        /// Whether a server answers handshakes of a configuration.
        var answers: @Sendable (WireGuardConfig) -> Bool = { _ in true }
    }

    private let model = Mutex(Model())
    private let clock: ManualClock

    init(clock: ManualClock) { self.clock = clock }

    var calls: [Call] { model.withLock { $0.calls } }
    var config: WireGuardConfig? { model.withLock { $0.config } }

    /// Fails to start like this; `nil` starts.
    func failStarts(_ error: AgentError?) { model.withLock { $0.startError = error } }
    /// Fails to change like this; `nil` changes.
    func failChanges(_ error: AgentError?) { model.withLock { $0.applyError = error } }
    /// Says which configurations the server answers.
    func answers(_ answers: @escaping @Sendable (WireGuardConfig) -> Bool) {
        model.withLock { $0.answers = answers }
    }
    /// Sends so many bytes more.
    func send(_ count: UInt64) { model.withLock { $0.sentByteCount += count } }
    /// Lets the interface disappear.
    func lose() { model.withLock { $0.config = nil } }

    func startTunnel(config: WireGuardConfig) async throws(AgentError) {
        let error = model.withLock { model in
            model.calls.append(.start("\(config.endpoint)"))
            guard model.startError == nil else { return model.startError }
            model.config = config
            model.handshake = nil
            return nil
        }
        if let error { throw error }
    }

    func apply(_ config: WireGuardConfig) async throws(AgentError) -> ConfigDifference {
        let result: Result<ConfigDifference, AgentError> = model.withLock { model in
            model.calls.append(.apply("\(config.endpoint)"))
            if let error = model.applyError { return .failure(error) }
            guard let former = model.config else { return .failure(.tunnelInitFailed("down")) }
            model.config = config
            let difference = config.difference(from: former)
            if difference == .identity { model.renewsHandshake = true }
            return .success(difference)
        }
        return try result.get()
    }

    func stopTunnel() async {
        model.withLock { model in
            model.calls.append(.stop)
            model.config = nil
            model.handshake = nil
        }
    }

    func isTunnelUp() -> Bool { model.withLock { $0.config != nil } }

    /// The server answers each 100 s, as if keys were renewed.
    func getLastHandshake() -> Date? {
        let (now, date) = (clock.now, clock.date)
        return model.withLock { model in
            guard let config = model.config else { return nil }
            let isDue = model.renewsHandshake || model.handshake.map { now - $0.at >= .seconds(100) } ?? true
            if isDue, model.answers(config) {
                model.handshake = (now, date)
                model.renewsHandshake = false
            }
            return model.handshake?.date
        }
    }

    func info() -> TunnelInfo? {
        let sentByteCount = model.withLock { $0.sentByteCount }
        return config.map { config in
            TunnelInfo(
                interface: "fake0", addresses: config.addresses.map(\.description),
                allowedIPs: config.allowedIPs.map(\.description), endpoint: "\(config.endpoint)",
                sentByteCount: sentByteCount, mtu: 1420)
        }
    }

    func networkChanged() async { model.withLock { $0.calls.append(.refresh) } }
}
