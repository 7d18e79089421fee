// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHost
internal import FoundationEssentials
internal import NexusGuard
internal import Synchronization

/// The blocking part of `TunnelManager`: its functions are called one after the other, on its thread.
final class TunnelWork: Sendable {
    /// A tunnel that is wanted up.
    struct Running {
        var tunnel: Tunnel
        var config: WireGuardConfig
        var server: TunnelServer
        var plan: HostPlan
        /// Follows the events of the engine.
        var follower: Task<Void, Never>?
    }

    struct State {
        var running: Running?
        /// Whether a search for an address that answers is under way.
        var isSearching = false
        /// Counts the tunnels, so that what is left of an old one does not touch a new one.
        var generation: UInt64 = 0
    }

    let options: TunnelManager.Options
    let host: HostNetwork
    let log: any LogSink
    let state = Mutex(State())
    private let resolver: HostResolver
    private let memory: EndpointMemory?

    init(options: TunnelManager.Options, host: HostNetwork, resolver: HostResolver, log: any LogSink) {
        self.options = options
        self.host = host
        self.resolver = resolver
        self.log = log
        memory = options.endpointFile.map { EndpointMemory(path: $0) }
    }

    /// Whether the engine runs.
    var isUp: Bool { state.withLock { $0.running?.tunnel.isRunning ?? false } }

    /// What there is to say of the tunnel; `nil` when it is down.
    var info: TunnelInfo? {
        guard let running = state.withLock({ $0.running }), running.tunnel.isRunning else { return nil }
        let peer = running.tunnel.statistics.peers[running.config.serverPublicKey]
        let handshake = peer?.latestHandshake.map { time in
            let parts = time.components
            return Date(timeIntervalSince1970: Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
        }
        return TunnelInfo(
            interface: running.plan.interfaceName, addresses: running.plan.addresses.map(\.description),
            allowedIPs: running.config.allowedIPs.map(\.description),
            endpoint: peer?.endpoint?.description ?? running.server.endpoint.description,
            lastHandshake: handshake, receivedByteCount: peer?.receivedByteCount ?? 0,
            sentByteCount: peer?.sentByteCount ?? 0, mtu: running.plan.mtu)
    }

    // MARK: - Up and down

    /// Brings the tunnel up.
    ///
    /// - Throws: `AgentError.tunnelInitFailed`; the host is then as it was before.
    func start(_ config: WireGuardConfig, on thread: HostThread) throws(AgentError) {
        // What an engine that has ended left on the host.
        stop()
        let server = try findServer(config.endpoint, former: nil, usesSystem: true)
        do throws(AgentError) {
            try start(config, server, on: thread)
        } catch {
            host.remove()
            host.releaseInterface()
            throw error
        }
    }

    /// Starts the engine, and sets the host up for it or puts right what is set up already.
    func start(
        _ config: WireGuardConfig, _ server: TunnelServer, on thread: HostThread
    ) throws(AgentError) {
        let name = options.interfaceName
        let mtu = config.mtu ?? host.suitableMTU(serverAddresses: [server.chosen])
        try onHost { () throws(HostError) in try host.claimInterface(name) }
        let tunnel = Tunnel(
            name: name, configuration: tunnelConfiguration(config, server), options: engineOptions(mtu: mtu))
        let events = tunnel.events
        try onEngine { () throws(TunnelError) in try tunnel.start() }
        do throws(AgentError) {
            let plan = try plan(config, server, mtu: mtu)
            try onHost { () throws(HostError) in try host.apply(plan) }
            let generation = state.withLock { state -> UInt64 in
                state.generation += 1
                state.running?.follower?.cancel()
                state.running = Running(tunnel: tunnel, config: config, server: server, plan: plan)
                return state.generation
            }
            follow(events, generation, thread)
        } catch {
            tunnel.stop()
            throw error
        }
    }

    /// Takes the tunnel down and undoes every change to the host.
    func stop() {
        let running = state.withLock { state -> Running? in
            state.generation += 1
            defer { state.running = nil }
            return state.running
        }
        guard let running else { return }
        running.follower?.cancel()
        host.remove()
        running.tunnel.stop()
        host.releaseInterface()
    }

    private func engineOptions(mtu: Int) -> TunnelOptions {
        var engine = TunnelOptions()
        engine.mtu = mtu
        // Addresses come first: the first packet then has one.
        engine.bringsInterfaceUp = false
        engine.exposesControlSocket = options.exposesControlSocket
        engine.timestampFile = options.timestampFile
        engine.logLevel = .debug
        engine.logHandler = { [log] level, line in
            log.add(level: level == .error ? .warn : .debug, tag: "tunnel", message: line)
        }
        return engine
    }

    // MARK: - Change in place

    /// Makes the tunnel this configuration.
    ///
    /// - Throws: `AgentError.tunnelInitFailed`; the former configuration is then back.
    func change(to config: WireGuardConfig) throws(AgentError) -> ConfigDifference {
        guard let running = state.withLock({ $0.running }), running.tunnel.isRunning else {
            throw .tunnelInitFailed("it is down and can not be changed")
        }
        let difference = config.difference(from: running.config)
        if difference <= .forwards {
            state.withLock { $0.running?.config = config }
            return difference
        }
        var server = running.server
        if config.endpoint != running.config.endpoint {
            server = try findServer(config.endpoint, former: server, usesSystem: false)
        }
        try become(config, server, from: running)
        // A session by new keys, or with a server elsewhere, does not wait until there is something to send.
        if difference == .identity || server.chosen != running.server.chosen,
            let changed = state.withLock({ $0.running })
        {
            sendNow(changed)
        }
        return difference
    }

    /// Changes engine and host, or neither.
    func become(
        _ config: WireGuardConfig, _ server: TunnelServer, from running: Running
    ) throws(AgentError) {
        let mtu = config.mtu ?? host.suitableMTU(serverAddresses: [server.chosen])
        let plan = try plan(config, server, mtu: mtu)
        let tunnel = running.tunnel
        let former = tunnelConfiguration(running.config, running.server)
        let next = tunnelConfiguration(config, server)
        try onEngine { () throws(TunnelError) in try tunnel.update(next) }
        do throws(AgentError) {
            try onHost { () throws(HostError) in try host.apply(plan) }
        } catch {
            // The host has put itself back.
            try onEngine { () throws(TunnelError) in try tunnel.update(former) }
            throw error
        }
        state.withLock { state in
            state.running?.config = config
            state.running?.server = server
            state.running?.plan = plan
        }
    }

    /// Finds the addresses of an endpoint.
    func findServer(
        _ endpoint: Endpoint, former: TunnelServer?, usesSystem: Bool
    ) throws(AgentError) -> TunnelServer {
        try onHost { () throws(HostError) in
            try TunnelServer(
                endpoint, former: former, resolver: resolver, memory: memory, usesSystem: usesSystem
            ) { host.hasRoute(to: $0) }
        }
    }

    private func tunnelConfiguration(
        _ config: WireGuardConfig, _ server: TunnelServer
    ) -> TunnelConfiguration {
        var config = config
        config.endpoint = server.endpoint
        return config.tunnelConfiguration(firewallMark: FirewallMark.value)
    }

    private func plan(
        _ config: WireGuardConfig, _ server: TunnelServer, mtu: Int
    ) throws(AgentError) -> HostPlan {
        let name = options.interfaceName
        let capabilities = try onHost { () throws(HostError) in try host.capabilities(ofInterface: name) }
        let plan = HostPlan(
            config: config, interfaceName: name, mtu: mtu, serverAddresses: server.addresses,
            capabilities: capabilities)
        if plan.addresses.isEmpty {
            throw .tunnelInitFailed("its addresses are all of IPv6, and this host has no IPv6 for it")
        }
        return plan
    }

    // MARK: - Errors

    /// Has a failure of the host show as one of the tunnel.
    private func onHost<Value>(_ body: () throws(HostError) -> Value) throws(AgentError) -> Value {
        do throws(HostError) {
            return try body()
        } catch {
            throw .tunnelInitFailed(error.description)
        }
    }

    /// Has a failure of the engine show as one of the tunnel.
    private func onEngine<Value>(_ body: () throws(TunnelError) -> Value) throws(AgentError) -> Value {
        do throws(TunnelError) {
            return try body()
        } catch {
            throw .tunnelInitFailed(error.description)
        }
    }
}
