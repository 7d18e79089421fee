// SPDX-License-Identifier: MIT

public import AgentCore
internal import AgentHTTP
public import AgentHost
public import AgentStore
internal import FoundationEssentials
internal import NexusGuard

/// Runs the agent: feeds `AgentMachine` with what happens, and does what it decides.
///
/// One thing happens after the other. What waits for the network or the tunnel is done by tasks that report
/// back with an event, so that the manager itself never waits.
public actor AgentManager {
    /// The machine's state.
    var state = AgentMachine.State()
    /// What the agent works with.
    var parts: Parts
    let provisioning: ProvisioningService
    let heartbeat: HeartbeatService

    /// The settings as the user chose them.
    var chosenSettings = AgentConfig()
    /// The identifier of this host.
    var hostIdentifier = ""
    /// The configuration that the tunnel runs, or will when it is started.
    var inUse: WireGuardConfig?
    /// The configuration that is known to work, as far as any is.
    var lastGood: WireGuardConfig?
    /// The configuration that waits to be used.
    var offered: WireGuardConfig?
    /// What device and server share.
    var key: ProvisioningKey?
    /// An identity that came and is not in use yet.
    var received: ProvisioningService.Identity?
    /// The digest of the forwards that this server does not tell.
    var untoldForwards: String?
    /// The addresses at which the control server is looked for.
    var control = ControlAddresses()
    /// Why the last choice of the user could not be stored.
    var settingsProblem: AgentError?

    var handshakes = HandshakeTracker()
    private var silence = SilenceTracker()
    var lastHeartbeat: Date?
    var lastContact: Date?
    var startedAt: Date?

    private var queue: [AgentMachine.Event] = []
    private var isDispatching = false
    /// What sleeps until a deadline, by the deadline.
    private var timers: [Duration: Task<Void, Never>] = [:]
    private var networkReader: Task<Void, Never>?
    /// The task of the request that is in flight.
    var requestTask: Task<Void, Never>?
    var isRefreshing = false
    var wantsAnotherRefresh = false

    private var subscribers: [UInt64: AsyncStream<AgentSnapshot>.Continuation] = [:]
    private var lastPublished: AgentSnapshot?
    private var waiters: [UInt64: Waiter] = [:]
    private var nextIdentifier: UInt64 = 0

    /// Waits for something to happen.
    private struct Waiter {
        let check: (AgentMachine.State, AgentMachine.Event?) -> Result<Void, AgentError>?
        let continuation: CheckedContinuation<Result<Void, AgentError>, Never>
    }

    /// Creates an agent that does nothing yet.
    ///
    /// - Parameters:
    ///   - directory: The state directory, locked by the caller.
    ///   - settings: The settings in it.
    ///   - secrets: The secrets in it.
    ///   - administrator: What the administrator fixed.
    ///   - tokenFile: A file that holds the token of a new device; `nil` takes the administrator's.
    ///   - tunnel: The tunnel; its host's journal has been replayed.
    ///   - network: Tells of changes to the host's network.
    ///   - log: Takes what happens.
    public init(
        directory: StateDirectory, settings: SettingsStore, secrets: SecretStore,
        administrator: AdministratorSettings = AdministratorSettings(), tokenFile: String? = nil,
        tunnel: any TunnelControl, network: (any NetworkWatching)?, log: any LogSink
    ) {
        let client = HTTPClient()
        var parts = Parts(
            directory: directory, settings: settings, secrets: secrets, administrator: administrator,
            tunnel: tunnel, network: network, log: log, transport: client)
        parts.tokenFile = tokenFile ?? administrator.tokenFile
        parts.lookup = HostControlLookup()
        parts.networkHasChanged = { client.reset() }
        self.init(parts)
    }

    /// Creates an agent out of parts that a test chose.
    init(_ parts: Parts) {
        self.parts = parts
        let network = parts.network
        let clock = parts.clock
        let connection = ControlConnection(
            transport: parts.transport, isOnline: { network?.isOnline ?? true }, clock: { clock.date })
        provisioning = ProvisioningService(connection: connection)
        heartbeat = HeartbeatService(connection: connection)
    }

    deinit {
        // What sleeps or listens would keep itself for as long as nothing comes.
        for timer in timers.values { timer.cancel() }
        networkReader?.cancel()
    }

    /// Opens the stores and begins: with the tunnel, where one is wanted and stored.
    ///
    /// - Throws: `AgentError.storeUnusable` or `.secretStore`, when nobody can tell what the settings or the
    ///   host's identifier are.
    public func startAgent() async throws(AgentError) {
        guard startedAt == nil else { return }
        chosenSettings = try parts.settings.loadConfig() ?? AgentConfig()
        hostIdentifier = try parts.directory.hwid(configured: parts.administrator.hwid)
        startedAt = parts.clock.date
        if let network = parts.network {
            let events = network.events
            networkReader = Task { [weak self] in
                for await event in events { await self?.take(event) }
            }
        }
        let settings = effectiveSettings
        log(.info, "agent", "version \(AgentVersion.current) begins")
        dispatch(
            .booted(
                wantsUp: settings.wantsUp && settings.startsAutomatically,
                isOnline: parts.network?.isOnline ?? true))
    }

    /// Sends heartbeats at this interval whatever the server asks for; for tests of very many of them alone.
    package func fixHeartbeatInterval(_ interval: Duration) { state.fixedInterval = interval }

    /// Takes the tunnel down and ends; what the user wants stays stored.
    public func stopAgent() async {
        dispatch(.shutdown)
        requestTask?.cancel()
        networkReader?.cancel()
        let result = await wait { state, _ in
            state.tunnelIsUp || state.tunnelWork != nil ? nil : .success(())
        }
        if case .failure(let error) = result { log(.error, "agent", "the tunnel is not down: \(error)") }
        log(.info, "agent", "ended")
        for waiter in waiters.values {
            waiter.continuation.resume(returning: .failure(.heartbeatFailed("the agent ends")))
        }
        waiters = [:]
        for subscriber in subscribers.values { subscriber.finish() }
        subscribers = [:]
        for timer in timers.values { timer.cancel() }
        timers = [:]
    }

    /// Lets something happen, and does what follows from it.
    func dispatch(_ event: AgentMachine.Event) {
        queue.append(event)
        guard !isDispatching else { return }
        isDispatching = true
        while !queue.isEmpty {
            let event = queue.removeFirst()
            let environment = AgentMachine.Environment(now: parts.clock.now, entropy: parts.entropy())
            let (next, effects) = AgentMachine.reduce(state, event, environment)
            state = next
            for effect in effects { perform(effect) }
            inform(of: event)
        }
        isDispatching = false
        arm()
        publish()
    }

    private func take(_ event: NetworkEvent) {
        switch event {
        case .changed, .resumed:
            parts.networkHasChanged()
            control.forget()
            dispatch(.networkChanged)
        case .online:
            parts.networkHasChanged()
            control.forget()
            dispatch(.online)
        case .offline: dispatch(.offline)
        }
    }

    // MARK: Deadlines

    /// Sees to it that something wakes the agent by the next deadline.
    ///
    /// A sleep is never cancelled for another deadline: the runtime keeps what belongs to one until its end, which for
    /// the look at the tunnel is minutes away, while deadlines change with each heartbeat. What wakes the agent too
    /// early finds nothing due.
    private func arm() {
        guard let deadline = state.nextDeadline, !timers.keys.contains(where: { $0 <= deadline }) else {
            return
        }
        timers[deadline] = Task { [weak self, clock = parts.clock] in
            guard await clock.sleep(until: deadline) else { return }
            await self?.expire(deadline)
        }
    }

    private func expire(_ deadline: Duration) {
        timers[deadline] = nil
        guard let due = state.nextDeadline, due <= parts.clock.now else { return arm() }
        dispatch(.timer(observe()))
    }

    /// What the tunnel looks like, while there is one.
    private func observe() -> AgentMachine.Observation? {
        guard state.tunnelIsUp, state.tunnelWork == nil else { return nil }
        let handshake = handshakes.look(
            parts.tunnel.getLastHandshake(), now: parts.clock.now, date: parts.clock.date)
        let isQuiet = silence.look(
            sendsKeepalives: inUse?.keepalive != 0, sentByteCount: parts.tunnel.info()?.sentByteCount ?? 0,
            handshake: handshake, now: parts.clock.now)
        return AgentMachine.Observation(
            isUp: parts.tunnel.isTunnelUp(), lastHandshake: handshake, isQuiet: isQuiet)
    }

    // MARK: Those who wait and watch

    /// Waits until a check gives a result; it is asked now and after each event, which it gets.
    ///
    /// - Parameter limit: How long; then the result is that nothing came in time.
    func wait(
        limit: Duration = .seconds(60),
        _ check: @escaping (AgentMachine.State, AgentMachine.Event?) -> Result<Void, AgentError>?
    ) async -> Result<Void, AgentError> {
        if let result = check(state, nil) { return result }
        let identifier = newIdentifier()
        let end = parts.clock.now + limit
        let guardian = Task { [weak self, clock = parts.clock] in
            guard await clock.sleep(until: end) else { return }
            await self?.giveUp(identifier)
        }
        defer { guardian.cancel() }
        return await withCheckedContinuation { continuation in
            waiters[identifier] = Waiter(check: check, continuation: continuation)
        }
    }

    private func giveUp(_ identifier: UInt64) {
        guard let waiter = waiters.removeValue(forKey: identifier) else { return }
        waiter.continuation.resume(returning: .failure(.heartbeatFailed("nothing came of it in time")))
    }

    private func inform(of event: AgentMachine.Event) {
        for (identifier, waiter) in waiters {
            guard let result = waiter.check(state, event) else { continue }
            waiters[identifier] = nil
            waiter.continuation.resume(returning: result)
        }
    }

    /// Adds a reader of snapshots.
    func subscribe() -> AsyncStream<AgentSnapshot> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AgentSnapshot.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(makeSnapshot())
        guard !state.isShuttingDown else {
            continuation.finish()
            return stream
        }
        let identifier = newIdentifier()
        subscribers[identifier] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { await self?.unsubscribe(identifier) }
        }
        return stream
    }

    private func unsubscribe(_ identifier: UInt64) { subscribers[identifier] = nil }

    private func publish() {
        guard !subscribers.isEmpty else { return }
        let snapshot = makeSnapshot()
        guard snapshot != lastPublished else { return }
        lastPublished = snapshot
        for subscriber in subscribers.values { subscriber.yield(snapshot) }
    }

    private func newIdentifier() -> UInt64 {
        nextIdentifier += 1
        return nextIdentifier
    }

    func log(_ level: LogLevel, _ tag: String, _ message: String) {
        parts.log.add(level: level, tag: tag, message: message)
    }
}
