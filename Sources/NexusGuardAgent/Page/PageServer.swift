// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore
internal import NexusGuard

/// The agent's page in browsers: a listener of its own, the links and sessions that let people in, the files.
///
/// It listens only while somebody may use it: while there is a link or a session, and always where a password is set.
actor PageServer {
    /// What the page is set up with.
    struct Options: Sendable {
        /// The administrator's settings.
        var settings = PageSettings()
        /// What outlives a restart; `nil` forgets all.
        var store: PageStore?
        /// Tells the time.
        var clock: any AgentClock = SystemAgentClock()
        /// The port that is taken when it is free.
        var preferredPort: UInt16 = 8451
        /// The most streams of events; fewer than the connections of the listener, so that requests find one.
        var streamLimit = 128
    }

    /// The interface whose routes the page shares.
    let api: LocalAPI
    let options: Options
    let files = PageFiles.embedded
    var table = PageTable()
    private let sessions = PageSessionList()
    var gate = PasswordGate()
    /// The settings in force with their files; `nil` while these cannot be used.
    var access: PageAccess?
    /// Why they cannot.
    private var accessProblem: AgentError?
    private(set) var listener: PageListener?
    /// Where it listens, or did last.
    var place: PageAddress?
    /// The address that an operator asked for, as long as it is in use.
    var chosen: PageAddress?
    /// The streams of events of each session, by numbers.
    private var streams: [PageDigest: [UInt64: PageStream]] = [:]
    private var nextStream: UInt64 = 0
    /// The end of a listener, which must be over before another takes its port.
    private var closing: Task<Void, Never>?
    private var timer: Task<Void, Never>?
    private var armedDeadline: Duration?
    /// When listening is tried again that failed.
    private var retry: Duration?
    private var isStopped = false

    /// Creates the page of an agent; it does nothing yet.
    init(api: LocalAPI, options: Options = Options()) {
        self.api = api
        self.options = options
    }

    var now: Duration { options.clock.now }

    // MARK: Life

    /// Takes up what was there before a restart of the agent, and listens if anybody may use the page.
    func start() async {
        load(options.settings)
        restore()
        await update()
    }

    /// Takes settings that were read again. Sessions go on, but for those that another password opened.
    func apply(_ settings: PageSettings) async {
        let before = access
        load(settings)
        guard let access else { return }
        for (digest, session) in table.sessions {
            guard let stamp = session.passwordStamp, stamp != access.password?.stamp else { continue }
            table.endSession(digest)
            noteEnd(of: digest, because: "the password is another one")
        }
        let isOther =
            before?.settings.listen != access.settings.listen || before?.identityStamp != access.identityStamp
        if isOther {
            chosen = nil
            closeListener()
        } else if let place = listener?.place {
            listener?.hosts = PageListener.hosts(of: place, access)
        }
        await update()
    }

    /// Ends the listener with all its streams; sessions stay stored.
    func stop() async {
        guard !isStopped else { return }
        isStopped = true
        timer?.cancel()
        save()
        closeListener()
        await closing?.value
    }

    /// Makes a link, and listens.
    ///
    /// - Parameter address: Where to listen; `nil` leaves it as it is.
    /// - Returns: The address of the page with the link, which is a secret.
    func makeLink(isReadOnly: Bool, listeningOn address: PageAddress? = nil) async throws(APIError) -> String
    {
        await closing?.value
        guard !isStopped else { throw .pageUnavailable("the agent ends") }
        guard let access else {
            throw .pageUnavailable(accessProblem?.description ?? "it has not started yet")
        }
        if let address {
            do throws(AgentError) {
                try check(address, access)
            } catch {
                throw APIError(error)
            }
        }
        let former = chosen
        if access.settings.listen == nil { chosen = address ?? chosen }
        let listener: PageListener
        do throws(HTTPServerError) {
            listener = try listen(access)
        } catch {
            chosen = former
            throw .pageUnavailable(error.description)
        }
        let link = PageSecret.make()
        table.addLink(PageDigest(of: link), isReadOnly: isReadOnly, at: now)
        api.log.add(level: .info, tag: "page", message: "a link was made\(isReadOnly ? ", read-only" : "")")
        save()
        await update()
        return "\(listener.origin(access))/#t=\(link)"
    }

    private func check(_ address: PageAddress, _ access: PageAccess) throws(AgentError) {
        if let fixed = access.settings.listen {
            let isSame = fixed.address == address.address && (address.port ?? fixed.port) == fixed.port
            guard isSame else {
                throw .configInvalid(field: "listen", reason: "\(fixed) is fixed by the administrator")
            }
        }
        try access.settings.check(listening: address, field: "listen")
    }

    private func load(_ settings: PageSettings) {
        do throws(AgentError) {
            access = try PageAccess(loading: settings)
            accessProblem = nil
        } catch {
            // What was read before goes on: a page that is in use does not fail with a slip of the pen.
            accessProblem = error
            api.log.add(level: .error, tag: "page", message: "cannot be set up: \(error.description)")
        }
    }

    // MARK: Listening

    /// The listener, begun or moved where it should be.
    private func listen(_ access: PageAccess) throws(HTTPServerError) -> PageListener {
        let standard = PageAddress(address: IPAddress(ipv4: 0x7F00_0001), port: nil)
        let target = access.settings.listen ?? chosen ?? standard
        if let listener, listener.place.address == target.address,
            target.port == nil || target.port == 0 || target.port == listener.place.port
        {
            return listener
        }
        var ports = [target.port ?? options.preferredPort]
        if target.port == nil, target.isLoopback {
            // A page that is open knows no other port than the one from before a restart.
            if let place, place.address == target.address, let port = place.port, table.isLive(at: now) {
                ports.insert(port, at: 0)
            }
            ports.append(0)
        }
        let new = try PageListener.start(
            on: target, ports: ports, access: access, sessions: sessions
        ) { [weak self] request in
            await self?.reply(to: request) ?? .drop
        }
        endSessionsIfTold(new.place, tried: ports)
        closeListener()
        listener = new
        place = new.place
        retry = nil
        api.log.add(level: .info, tag: "page", message: "listens on \(new.place)")
        return new
    }

    /// Ends all sessions when their port is another program's, which an open page may have told them.
    private func endSessionsIfTold(_ new: PageAddress, tried ports: [UInt16]) {
        guard listener == nil, let place, place.address == new.address, place.port != new.port,
            place.port == ports.first
        else { return }
        for digest in table.sessions.keys {
            table.endSession(digest)
            noteEnd(of: digest, because: "another program has its port")
        }
    }

    private func closeListener() {
        guard let listener else { return }
        self.listener = nil
        let before = closing
        closing = Task {
            await before?.value
            await listener.server.stopAside()
        }
        api.log.add(level: .info, tag: "page", message: "no longer listens on \(listener.place)")
    }

    /// Whether anybody may use the page.
    private var isWanted: Bool { access?.password != nil || table.isLive(at: now) }

    /// Listens if somebody may use the page and it does not; tries again later if it cannot.
    private func listenIfWanted() async {
        guard listener == nil, isWanted, let access else { return }
        if let retry, retry > now { return }
        await closing?.value
        guard listener == nil, !isStopped else { return }
        do throws(HTTPServerError) {
            _ = try listen(access)
        } catch {
            // The address may be the tunnel's, which is not there yet.
            if retry == nil {
                api.log.add(level: .warn, tag: "page", message: "cannot listen yet: \(error.description)")
            }
            retry = now + Self.retryInterval
        }
    }

    // MARK: Sessions

    /// Does what follows from the time, and from a change of links, sessions and settings.
    func update() async {
        guard !isStopped else { return }
        let ended = table.prune(at: now)
        for digest in ended { noteEnd(of: digest, because: "unused for too long") }
        if !isWanted {
            closeListener()
            chosen = nil
            retry = nil
        }
        await listenIfWanted()
        // With a port that another program has taken, its sessions have ended.
        if !isWanted { closeListener() }
        sessions.set(table.sessions.keys)
        if !ended.isEmpty || table.isStoreBehind { save() }
        arm()
    }

    /// Ends a session and its streams.
    func end(_ digest: PageDigest, because reason: String) async {
        table.endSession(digest)
        noteEnd(of: digest, because: reason)
        save()
        await update()
    }

    private func noteEnd(of digest: PageDigest, because reason: String) {
        for stream in streams.removeValue(forKey: digest)?.values.map({ $0 }) ?? [] { stream.close() }
        api.log.add(level: .info, tag: "page", message: "session \(digest.name) has ended: \(reason)")
    }

    /// Adds a stream to a session; `nil` when there are too many.
    func addStream(of digest: PageDigest) -> (number: UInt64, stream: PageStream)? {
        guard streamCount < options.streamLimit else { return nil }
        let stream = PageStream()
        nextStream += 1
        streams[digest, default: [:]][nextStream] = stream
        table.openStream(digest)
        arm()
        return (nextStream, stream)
    }

    /// Notes that a stream has ended.
    func removeStream(_ number: UInt64, of digest: PageDigest) {
        guard streams[digest]?.removeValue(forKey: number) != nil else { return }
        if streams[digest]?.isEmpty == true { streams[digest] = nil }
        table.closeStream(digest, at: now)
        arm()
    }

    /// How many streams are open.
    var streamCount: Int { streams.values.reduce(0) { $0 + $1.count } }

    // MARK: Time

    private func arm() {
        let deadline = isStopped ? nil : [table.nextDeadline(after: now), retry].compactMap(\.self).min()
        guard deadline != armedDeadline else { return }
        timer?.cancel()
        timer = nil
        armedDeadline = deadline
        guard let deadline else { return }
        timer = Task { [weak self, clock = options.clock] in
            guard await clock.sleep(until: deadline) else { return }
            await self?.expire(deadline)
        }
    }

    private func expire(_ deadline: Duration) async {
        guard deadline == armedDeadline else { return }
        armedDeadline = nil
        await update()
    }

    private static let retryInterval = Duration.seconds(5)
}

extension APIError {
    /// The page cannot be served.
    static func pageUnavailable(_ reason: String) -> APIError {
        APIError(status: 503, code: "page-unavailable", message: "the page cannot be served: \(reason)")
    }
}
