// SPDX-License-Identifier: MIT

internal import Synchronization
public import WireGuardCrypto
public import WireGuardProtocol

/// A WireGuard tunnel on this host.
///
/// `start` brings it up, `update` changes it while it runs, `stop` takes it down; a stopped tunnel can be
/// started again. All functions may be called on any thread; those that ask the running tunnel wait for its
/// answer, which takes microseconds. A tunnel that nobody holds any more stops.
public final class Tunnel: Sendable {
    /// Where the tunnel is in its life.
    private enum Phase {
        case idle
        /// `start` is under way; `stop` was called meanwhile, or not.
        case starting(isUnwanted: Bool)
        case running(TunnelRun)
    }

    private struct State {
        var configuration: TunnelConfiguration?
        var resolved: ResolvedConfiguration?
        var phase = Phase.idle
        /// Whether the descriptors of the options are used up.
        var hasTakenDescriptors = false
    }

    /// The name of the interface.
    public let name: String
    private let options: TunnelOptions
    private let customInterface: (any PacketInterface)?
    private let customTransport: (any DatagramTransport)?
    private let reporter: TunnelReporter
    private let state: Mutex<State>

    /// Creates a tunnel with an interface of its own; nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - name: The name of the interface, 1 to 15 bytes.
    ///   - configuration: Key, port and peers.
    ///   - options: How the tunnel is run.
    public convenience init(
        name: String, configuration: TunnelConfiguration, options: TunnelOptions = TunnelOptions()
    ) {
        self.init(name: name, initial: configuration, interface: nil, transport: nil, options: options)
    }

    /// Creates a tunnel with an interface of its own; nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - name: The name of the interface, 1 to 15 bytes.
    ///   - privateKey: This host's key.
    ///   - listenPort: The UDP port; 0 lets the system choose.
    ///   - peers: The peers.
    public convenience init(
        name: String, privateKey: PrivateKey, listenPort: UInt16 = 0, peers: [PeerConfiguration]
    ) {
        self.init(
            name: name,
            configuration: TunnelConfiguration(privateKey: privateKey, listenPort: listenPort, peers: peers))
    }

    /// Creates a tunnel that gets its inner packets, and if wanted its datagrams, from the embedder.
    ///
    /// - Parameters:
    ///   - interface: Where inner packets come from and go to.
    ///   - transport: What carries datagrams; `nil` stands for the system's UDP.
    ///   - configuration: Key, port and peers.
    ///   - options: How the tunnel is run; those about the interface do not matter.
    public convenience init(
        interface: any PacketInterface, transport: (any DatagramTransport)? = nil,
        configuration: TunnelConfiguration, options: TunnelOptions = TunnelOptions()
    ) {
        self.init(
            name: interface.name, initial: configuration, interface: interface, transport: transport,
            options: options)
    }

    /// Creates a tunnel that may have no configuration yet, as the daemon's.
    package init(
        name: String, initial: TunnelConfiguration?, interface: (any PacketInterface)? = nil,
        transport: (any DatagramTransport)? = nil, options: TunnelOptions
    ) {
        self.name = name
        self.options = options
        customInterface = interface
        customTransport = transport
        reporter = TunnelReporter(options)
        state = Mutex(State(configuration: initial))
    }

    deinit {
        stop()
    }

    /// The configuration that was given last; changes over the control socket do not show here.
    public var configuration: TunnelConfiguration? { state.withLock { $0.configuration } }

    /// Whether the tunnel runs.
    public var isRunning: Bool { run != nil }

    /// The events from now to the next end of the tunnel.
    ///
    /// Each call gives a stream of its own, which may be made before `start`. A reader that falls behind
    /// loses the oldest events.
    public var events: AsyncStream<TunnelEvent> { reporter.makeStream() }

    /// Starts the tunnel. Host names of peers are resolved first, which may take seconds.
    ///
    /// - Throws: `TunnelError`; the tunnel then does not run, and nothing is left behind.
    public func start() throws(TunnelError) {
        let isFirst = state.withLock { state in
            switch state.phase {
            case .starting: return false
            case .running(let run) where !run.hasEnded: return false
            case .running, .idle:
                state.phase = .starting(isUnwanted: false)
                return true
            }
        }
        guard isFirst else { throw .alreadyRunning }
        do throws(TunnelError) {
            try takeDescriptors()
            let resolved: ResolvedConfiguration? =
                if let configuration { try ResolvedConfiguration(configuration) } else { nil }
            let run = try TunnelRun(try makeParts(resolved), reporter: reporter)
            let isUnwanted = state.withLock { state -> Bool in
                let isUnwanted = if case .starting(true) = state.phase { true } else { false }
                state.resolved = resolved
                state.phase = .running(run)
                return isUnwanted
            }
            if isUnwanted {
                run.stop()
                throw .notRunning
            }
            for problem in resolved?.problems ?? [] { reporter.report(problem) }
        } catch {
            state.withLock { state in
                if case .starting = state.phase { state.phase = .idle }
            }
            throw error
        }
    }

    /// Makes the running tunnel this configuration.
    ///
    /// Only what differs is changed: the sessions of peers that stay go on. All of it is applied or nothing.
    ///
    /// - Throws: `TunnelError`; the tunnel then goes on as before.
    public func update(_ configuration: TunnelConfiguration) throws(TunnelError) {
        let run = try presentRun()
        let resolved = try ResolvedConfiguration(configuration, former: state.withLock { $0.resolved })
        _ = try run.call(.become(resolved))
        state.withLock { state in
            state.configuration = configuration
            state.resolved = resolved
        }
        for problem in resolved.problems { reporter.report(problem) }
    }

    /// Ends the tunnel and waits until all is closed; does nothing when it does not run.
    ///
    /// Called in the log handler, or by a custom interface or transport, it does not wait.
    public func stop() {
        let run = state.withLock { state -> TunnelRun? in
            switch state.phase {
            case .idle: return nil
            case .starting:
                state.phase = .starting(isUnwanted: true)
                return nil
            case .running(let run): return run
            }
        }
        run?.stop()
    }

    /// Waits until the tunnel has ended; returns at once when it does not run.
    public func waitUntilStopped() {
        waitUntilStopped(or: -1)
    }

    /// Waits until the tunnel has ended or the descriptor is readable.
    package func waitUntilStopped(or descriptor: Int32) {
        run?.waitUntilEnded(or: descriptor)
    }

    /// The run that is under way.
    private var run: TunnelRun? {
        state.withLock { state in
            guard case .running(let run) = state.phase, !run.hasEnded else { return nil }
            return run
        }
    }

    /// The run that is under way, for a function that needs one.
    func presentRun() throws(TunnelError) -> TunnelRun {
        guard let run else { throw .notRunning }
        return run
    }

    /// Uses up the descriptors of the options: they are closed when a run ends, and may be others' later.
    private func takeDescriptors() throws(TunnelError) {
        guard options.interfaceDescriptor != nil || options.controlSocketDescriptor != nil else { return }
        let wereTaken = state.withLock { state in
            let wereTaken = state.hasTakenDescriptors
            state.hasTakenDescriptors = true
            return wereTaken
        }
        if wereTaken {
            throw .interfaceUnavailable(name: name, reason: "an earlier start used up its descriptor")
        }
    }

    /// Opens what the tunnel runs on.
    private func makeParts(
        _ configuration: ResolvedConfiguration?
    ) throws(TunnelError) -> TunnelRun.Parts {
        let interface: any LoopInterface =
            if let customInterface {
                CustomInterface(customInterface)
            } else {
                try TunLink(name: name, mtu: options.mtu, adopting: options.interfaceDescriptor)
            }
        let socket = try makeControlSocket(named: interface.name)
        let transport: any LoopTransport =
            if let customTransport { CustomTransport(customTransport) } else { UDPCarrier() }
        return TunnelRun.Parts(
            interface: interface, transport: transport, configuration: configuration,
            bringsInterfaceUp: options.bringsInterfaceUp, controlSocket: socket,
            timestampFile: options.timestampFile, scheduling: options.scheduling)
    }

    private func makeControlSocket(named name: String) throws(TunnelError) -> UAPISocket? {
        do throws(UAPISocketError) {
            if let descriptor = options.controlSocketDescriptor {
                return try UAPISocket(adopting: descriptor)
            }
            guard options.exposesControlSocket else { return nil }
            return try UAPISocket(name: name, directory: options.controlSocketDirectory)
        } catch {
            if case .alreadyServed(let path) = error { throw .controlSocketInUse(path: path) }
            throw .controlSocketUnavailable(reason: error.description)
        }
    }
}
