// SPDX-License-Identifier: MIT

/// The links and sessions of the page; a value that gets the time from its caller.
struct PageTable: Equatable, Sendable {
    /// A link that opens one session.
    struct Link: Equatable, Sendable {
        /// Whether the session may only look.
        var isReadOnly: Bool
        /// Until when it can be used.
        var expires: Duration
        /// Whether it was used.
        var isUsed = false
    }

    /// What a page was let in to do.
    struct Session: Equatable, Sendable {
        /// Whether it may only look.
        var isReadOnly: Bool
        /// The password's file as it was, for a session that a password opened.
        var passwordStamp: String?
        /// When it was last used.
        var lastUse: Duration
        /// The last use that is stored.
        var storedUse: Duration
        /// How many streams of events it has open, which are use as long as they are.
        var streamCount = 0
    }

    /// Why a link opens nothing.
    enum LinkRefusal: Error {
        case used
        case expired
        case unknown
    }

    /// How long a link can be used.
    static let linkLife = Duration.seconds(120)
    /// How long a session lasts without use.
    static let idleLimit = Duration.seconds(1800)
    /// The most links that can be used.
    static let mostLinks = 32
    /// The most sessions.
    static let mostSessions = 64
    /// How long it is known why a link opens nothing.
    private static let linkMemory = Duration.seconds(900)
    /// The most links that are remembered though they cannot be used.
    private static let mostSpentLinks = 64
    /// How far the stored last use of a session may be behind: an end without warning costs it that much.
    private static let storeInterval = Duration.seconds(300)

    private(set) var links: [PageDigest: Link] = [:]
    private(set) var sessions: [PageDigest: Session] = [:]

    // MARK: Links

    /// Adds a link that was made now; the oldest give way to it.
    mutating func addLink(_ digest: PageDigest, isReadOnly: Bool, at now: Duration) {
        links[digest] = Link(isReadOnly: isReadOnly, expires: now + Self.linkLife)
        trim(Self.mostLinks) { !$0.isUsed && $0.expires > now }
        trim(Self.mostSpentLinks) { $0.isUsed || $0.expires <= now }
    }

    /// Uses a link up.
    ///
    /// - Returns: Whether the session may only look.
    mutating func useLink(_ digest: PageDigest, at now: Duration) throws(LinkRefusal) -> Bool {
        guard let link = links[digest] else { throw .unknown }
        guard !link.isUsed else { throw .used }
        guard link.expires > now else { throw .expired }
        links[digest]?.isUsed = true
        return link.isReadOnly
    }

    private mutating func trim(_ limit: Int, where isCounted: (Link) -> Bool) {
        let counted = links.filter { isCounted($0.value) }.sorted { $0.value.expires < $1.value.expires }
        for (digest, _) in counted.dropLast(limit) { links[digest] = nil }
    }

    // MARK: Sessions

    /// Adds a session that begins now.
    ///
    /// - Returns: The session that gave way to it, unused for the longest, if there were too many.
    mutating func addSession(
        _ digest: PageDigest, isReadOnly: Bool, passwordStamp: String? = nil, at now: Duration
    ) -> PageDigest? {
        sessions[digest] = Session(
            isReadOnly: isReadOnly, passwordStamp: passwordStamp, lastUse: now, storedUse: now)
        guard sessions.count > Self.mostSessions else { return nil }
        let idlest = sessions.filter { $0.key != digest }.min { left, right in
            (left.value.streamCount > 0 ? 1 : 0, left.value.lastUse)
                < (right.value.streamCount > 0 ? 1 : 0, right.value.lastUse)
        }
        if let idlest { sessions[idlest.key] = nil }
        return idlest?.key
    }

    /// Uses a session; `nil` when there is none or it has ended.
    mutating func useSession(_ digest: PageDigest, at now: Duration) -> Session? {
        guard let session = sessions[digest], !hasEnded(session, at: now) else { return nil }
        sessions[digest]?.lastUse = now
        return session
    }

    /// Ends a session.
    mutating func endSession(_ digest: PageDigest) { sessions[digest] = nil }

    /// Notes that a session has opened a stream.
    mutating func openStream(_ digest: PageDigest) { sessions[digest]?.streamCount += 1 }

    /// Notes that a stream of a session has ended.
    mutating func closeStream(_ digest: PageDigest, at now: Duration) {
        guard let session = sessions[digest], session.streamCount > 0 else { return }
        sessions[digest]?.streamCount -= 1
        sessions[digest]?.lastUse = now
    }

    /// Puts a stored session back.
    mutating func restore(_ digest: PageDigest, _ session: Session) { sessions[digest] = session }

    /// Puts a stored link back.
    mutating func restore(_ digest: PageDigest, _ link: Link) { links[digest] = link }

    private func hasEnded(_ session: Session, at now: Duration) -> Bool {
        session.streamCount == 0 && session.lastUse + Self.idleLimit <= now
    }

    // MARK: Time

    /// Takes out what has ended.
    ///
    /// - Returns: The sessions that have.
    mutating func prune(at now: Duration) -> [PageDigest] {
        links = links.filter { $0.value.expires + Self.linkMemory > now }
        let ended = sessions.filter { hasEnded($0.value, at: now) }.map(\.key)
        for digest in ended { sessions[digest] = nil }
        for (digest, session) in sessions where session.streamCount > 0 {
            sessions[digest]?.lastUse = now
        }
        return ended
    }

    /// Whether anybody can still use the page.
    func isLive(at now: Duration) -> Bool {
        !sessions.isEmpty || links.contains { !$0.value.isUsed && $0.value.expires > now }
    }

    /// When `prune` has something to do, or there is something to store.
    func nextDeadline(after now: Duration) -> Duration? {
        let ends = links.values.filter { !$0.isUsed && $0.expires > now }.map(\.expires)
        let uses = sessions.values.map { session in
            session.streamCount > 0
                ? session.storedUse + Self.storeInterval : session.lastUse + Self.idleLimit
        }
        return (ends + uses).min()
    }

    /// Whether the stored last use of a session is too far behind.
    var isStoreBehind: Bool {
        sessions.values.contains { $0.lastUse >= $0.storedUse + Self.storeInterval }
    }

    /// Notes that all is stored as it is.
    mutating func noteStored() {
        for (digest, session) in sessions { sessions[digest]?.storedUse = session.lastUse }
    }
}
