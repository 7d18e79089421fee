// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHost
internal import FoundationEssentials
internal import NexusGuard
internal import Synchronization

extension TunnelWork {
    /// Without a handshake for this long the next of the server's addresses is tried.
    private static let patience: Duration = .seconds(5)
    /// A session that did not renew itself for this long is dead (`rejectAfterTime`), in seconds.
    private static let staleness: TimeInterval = 180
    /// The pauses before further attempts to start an engine that has ended, in seconds; the last one is repeated.
    private static let restartPauses = [0, 1, 2, 4, 8, 15, 30]

    /// Sends at once by the present way, then looks whether the server has moved.
    func networkChanged() {
        guard let running = state.withLock({ $0.running }), running.tunnel.isRunning else { return }
        do throws(HostError) {
            try host.verify()
        } catch {
            log.add(
                level: .error, tag: "tunnel", message: "the host's network can not be put right: \(error)")
        }
        sendNow(running)
        do throws(AgentError) {
            let server = try findServer(running.config.endpoint, former: running.server, usesSystem: false)
            // With another way to the server the MTU may be another one, too.
            try become(running.config, server, from: running)
            if server.chosen != running.server.chosen {
                let message = "the server is now at \(server.chosen)"
                log.add(level: .info, tag: "tunnel", message: message)
                if let changed = state.withLock({ $0.running }) { sendNow(changed) }
            }
        } catch {
            log.add(level: .warn, tag: "tunnel", message: "\(error)")
        }
    }

    /// Has the engine send a keepalive, or start a handshake where there is no session.
    ///
    /// Turning the interval of keepalives off and on does that, by the engine's public interface alone.
    func sendNow(_ running: Running) {
        let key = running.config.serverPublicKey
        var lines = ["public_key=\(key.hexadecimal)", "update_only=true"]
        let last = info?.lastHandshake ?? .distantPast
        if Date().timeIntervalSince(last) > Self.staleness,
            let address = try? running.tunnel.runtimeConfiguration().peers.first?.endpoint,
            address != running.server.endpoint
        {
            // It roamed to where nobody answers any more.
            lines.append("endpoint=\(running.server.endpoint)")
        }
        let interval = running.config.keepalive
        let intervals = interval == 0 ? [WireGuardConfig.defaultKeepalive, 0] : [0, interval]
        for interval in intervals {
            lines += ["persistent_keepalive_interval=\(interval)", "public_key=\(key.hexadecimal)"]
            lines.append("update_only=true")
        }
        do throws(TunnelError) {
            try running.tunnel.uapiSet(lines.joined(separator: "\n") + "\n")
        } catch {
            log.add(level: .debug, tag: "tunnel", message: "no keepalive could be asked for: \(error)")
        }
    }

    // MARK: - The engine's events

    /// Acts on what the engine tells, until it ends.
    func follow(_ events: AsyncStream<TunnelEvent>, _ generation: UInt64, _ thread: HostThread) {
        let follower = Task { [weak self] in
            for await event in events {
                guard let self, !Task.isCancelled else { return }
                switch event {
                case .interfaceUp: thread.enqueue { [weak self] in self?.greet(generation) }
                case .handshakeStarted: watchHandshake(generation, thread)
                case .stopped: restart(generation, thread)
                default: break
                }
            }
        }
        state.withLock { state in
            if state.generation == generation { state.running?.follower = follower }
        }
    }

    /// Has the first handshake start; with keepalives the engine does so itself.
    private func greet(_ generation: UInt64) {
        guard let running = present(generation), running.config.keepalive == 0 else { return }
        sendNow(running)
    }

    /// The tunnel, if it is still the same.
    private func present(_ generation: UInt64) -> Running? {
        state.withLock { state in state.generation == generation ? state.running : nil }
    }

    /// Tries the server's addresses one after the other until one answers.
    private func watchHandshake(_ generation: UInt64, _ thread: HostThread) {
        guard let running = present(generation), running.server.addresses.count > 1 else { return }
        let isFirst = state.withLock { state in
            defer { state.isSearching = true }
            return !state.isSearching
        }
        guard isFirst else { return }
        let start = Date()
        Task { [weak self] in
            var goesOn = true
            while goesOn {
                try? await Task.sleep(for: Self.patience)
                goesOn = await thread.perform { [weak self] in
                    self?.tryNextAddress(generation, since: start) ?? false
                }
            }
            self?.state.withLock { $0.isSearching = false }
        }
    }

    /// - Returns: Whether there is still no handshake, and another address to try.
    private func tryNextAddress(_ generation: UInt64, since start: Date) -> Bool {
        guard let running = present(generation), running.tunnel.isRunning else { return false }
        if let last = info?.lastHandshake, last >= start { return false }
        var server = running.server
        guard let next = server.next else { return false }
        server.chosen = next
        do throws(AgentError) {
            try become(running.config, server, from: running)
            log.add(level: .info, tag: "tunnel", message: "no answer, the server is tried at \(next)")
        } catch {
            log.add(level: .warn, tag: "tunnel", message: "\(error)")
        }
        return true
    }

    /// Starts the engine anew after it has ended by itself; the host keeps its rules meanwhile.
    private func restart(_ generation: UInt64, _ thread: HostThread) {
        guard present(generation) != nil else { return }
        log.add(level: .warn, tag: "tunnel", message: "the interface is gone; it is made anew")
        Task { [weak self] in
            for attempt in 0... {
                let pause = Self.restartPauses[min(attempt, Self.restartPauses.count - 1)]
                try? await Task.sleep(for: .seconds(pause))
                let isDone = await thread.perform { [weak self] in self?.startAnew(generation, thread) ?? true
                }
                if isDone { return }
            }
        }
    }

    /// - Returns: Whether no further attempt is needed.
    private func startAnew(_ generation: UInt64, _ thread: HostThread) -> Bool {
        guard let running = present(generation) else { return true }
        do throws(AgentError) {
            try start(running.config, running.server, on: thread)
            return true
        } catch {
            log.add(level: .error, tag: "tunnel", message: "\(error)")
            return false
        }
    }
}
