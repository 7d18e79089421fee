// SPDX-License-Identifier: MIT

package import AgentCore
internal import FoundationEssentials
package import NexusGuard

/// The server peer: the engine in this process, with a peer for each device, following the store.
package actor ServerTunnel {
    private let store: any ControlStore
    private let privateKey: PrivateKey
    private let listenPort: UInt16
    private let clock: ControlClock
    private let log: any LogSink
    private let makeTunnel: @Sendable (TunnelConfiguration) -> Tunnel

    private var tunnel: Tunnel?
    private var plan = PeerPlan([])
    private var tasks: [Task<Void, Never>] = []
    private var foreignChanges: Int?
    private var isBehind = false
    private var isReconciling = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Creates the server peer; nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - store: Where the devices are.
    ///   - privateKey: The server's key.
    ///   - listenPort: The UDP port; 0 lets the system choose.
    ///   - clock: The times.
    ///   - log: Gets what people should know.
    ///   - makeTunnel: Makes the tunnel of a configuration.
    package init(
        store: any ControlStore, privateKey: PrivateKey, listenPort: UInt16, clock: ControlClock = .system,
        log: any LogSink, makeTunnel: @escaping @Sendable (TunnelConfiguration) -> Tunnel
    ) {
        self.store = store
        self.privateKey = privateKey
        self.listenPort = listenPort
        self.clock = clock
        self.log = log
        self.makeTunnel = makeTunnel
    }

    /// How often the store is looked at for changes by other processes.
    private static let pace = Duration.milliseconds(500)

    /// The tunnel, while it runs.
    package var running: Tunnel? { tunnel?.isRunning == true ? tunnel : nil }

    /// Starts the tunnel with the devices that are there, and follows the store from then on.
    ///
    /// - Parameter onEnd: Called when the tunnel ends by itself, such as when its interface is removed.
    /// - Throws: `ServerTunnelError`; nothing is left behind then.
    package func start(onEnd: @escaping @Sendable () -> Void) async throws(ServerTunnelError) {
        do {
            foreignChanges = try await store.foreignChanges()
            plan = PeerPlan(try await store.devices())
        } catch {
            throw .store(error)
        }
        let tunnel = makeTunnel(configuration)
        let events = tunnel.events
        do {
            try tunnel.start()
        } catch {
            throw .tunnel(error)
        }
        self.tunnel = tunnel
        tasks = [
            Task { [weak self] in
                for await event in events {
                    if case .handshakeCompleted(let key) = event { await self?.noteUse(of: [key]) }
                }
                if !Task.isCancelled { onEnd() }
            },
            Task { [weak self, clock] in
                while !Task.isCancelled {
                    await clock.sleep(Self.pace)
                    await self?.look()
                }
            },
        ]
    }

    /// Ends the tunnel.
    package func stop() {
        for task in tasks { task.cancel() }
        tasks = []
        tunnel?.stop()
        tunnel = nil
    }

    /// Makes the tunnel as the store says; returns when it is so, or when the log says why not.
    package func reconcile() async {
        await withCheckedContinuation { waiter in
            waiters.append(waiter)
            guard !isReconciling else { return }
            isReconciling = true
            Task { await self.serveWaiters() }
        }
    }

    /// Reconciles until nobody waits. Whoever comes while a pass is under way needs another one, since that pass
    /// may have read the store before the change.
    private func serveWaiters() async {
        while !waiters.isEmpty {
            let served = waiters
            waiters = []
            await applyStore()
            for waiter in served { waiter.resume() }
        }
        isReconciling = false
    }

    private func applyStore() async {
        guard let tunnel else { return }
        do {
            plan = PeerPlan(try await store.devices(), former: plan.known)
            try tunnel.update(configuration)
            isBehind = false
        } catch {
            isBehind = true
            log.add(
                level: .error, tag: "tunnel", message: "devices could not be brought up to date: \(error)")
        }
    }

    private var configuration: TunnelConfiguration {
        TunnelConfiguration(privateKey: privateKey, listenPort: listenPort, peers: plan.peers)
    }

    /// Looks for what no event tells: changes by other processes, and handshakes whose events were lost.
    private func look() async {
        guard let tunnel, tunnel.isRunning else { return }
        if let changes = try? await store.foreignChanges(), changes != foreignChanges {
            foreignChanges = changes
            await reconcile()
        } else if isBehind {
            await reconcile()
        }
        guard !plan.unused.isEmpty else { return }
        let statistics = tunnel.statistics.peers
        await noteUse(of: plan.unused.keys.filter { statistics[$0]?.latestHandshake != nil })
    }

    /// Notes that devices completed handshakes with keys.
    private func noteUse(of publicKeys: [PublicKey]) async {
        var hasChanged = false
        for publicKey in publicKeys {
            guard let key = plan.unused[publicKey] else { continue }
            do {
                let isNews = try await store.noteUse(
                    of: key.generation, by: key.deviceID, at: clock.now())
                guard isNews else { continue }
                hasChanged = true
                log.add(
                    level: .info, tag: "keys",
                    message: "device \(DeviceIDMask.mask(key.deviceID)) uses generation \(key.generation)")
            } catch {
                log.add(level: .error, tag: "store", message: error.description)
            }
        }
        if hasChanged { await reconcile() }
    }
}

/// Why the server peer cannot be started.
package enum ServerTunnelError: Error, Sendable, CustomStringConvertible {
    /// The devices could not be read.
    case store(StoreError)
    /// The tunnel could not be started.
    case tunnel(TunnelError)

    /// One sentence.
    package var description: String {
        switch self {
        case .store(let error): error.description
        case .tunnel(let error): error.description
        }
    }
}
