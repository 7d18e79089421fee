// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

/// What the live view knows; knows nothing of terminals.
struct LiveModel: Sendable {
    /// The connection to the daemon.
    enum Connection: Equatable, Sendable {
        /// There was none yet; the text says why, once it is known.
        case awaited(String?)
        /// There is one, for the second time or more since the moment that is named.
        case open(since: Date?)
        /// There is none any more.
        case lost(since: Date, reason: String)
    }

    /// How many entries of the log are kept for a large terminal.
    private static let longestLog = 500
    /// How long a new connection is spoken of, in seconds.
    private static let welcome = 15.0

    /// The last state that was seen.
    var snapshot: AgentSnapshot?
    /// The connection.
    private(set) var connection = Connection.awaited(nil)
    /// The newest entries of the log, and how many are missing before one.
    private(set) var log: [LogItem] = []
    /// What went through the tunnel.
    var traffic = TrafficHistory()
    private var known = KnownEntries()

    /// One line of the log.
    enum LogItem: Equatable, Sendable {
        /// An entry.
        case entry(ShownLogEntry)
        /// So many entries are missing.
        case lost(Int)
    }

    /// Takes an event of the daemon.
    mutating func take(_ event: ServerSentEvent, now: Date) {
        switch connection {
        case .awaited: connection = .open(since: nil)
        case .lost: connection = .open(since: now)
        case .open: break
        }
        guard event.name != "snapshot" else {
            if let snapshot = try? AgentSnapshot(parsing: event.data) { self.snapshot = snapshot }
            return
        }
        guard let fields = try? JSONFields(parsing: event.data) else { return }
        switch event.name {
        case "log":
            if let entry = try? ShownLogEntry(fields) { add(entry) }
        case "lost":
            if let count = try? fields.integer("count", in: 1...Int.max) { append(.lost(count)) }
        case "traffic":
            if let sample = try? TrafficSample(fields) { traffic.add(sample) }
        default: break
        }
    }

    /// Notes that there is no connection.
    mutating func lose(_ reason: String, now: Date) {
        switch connection {
        case .awaited: connection = .awaited(reason)
        case .open: connection = .lost(since: now, reason: reason)
        case .lost(let since, _): connection = .lost(since: since, reason: reason)
        }
    }

    /// Adds an entry of the log, unless it is there: a daemon that was started anew sends what it has stored.
    mutating func add(_ entry: ShownLogEntry) {
        if known.insert(entry) { append(.entry(entry)) }
    }

    private mutating func append(_ item: LogItem) {
        log.append(item)
        if log.count > Self.longestLog { log.removeFirst(log.count - Self.longestLog) }
    }

    /// Since when the daemon is back, while that is news.
    func isBack(now: Date) -> Date? {
        guard case .open(let since?) = connection, now.timeIntervalSince(since) < Self.welcome else {
            return nil
        }
        return since
    }

    /// The last handshake: the state tells of one when something else changes too, the samples each few seconds.
    var lastHandshake: Date? {
        let sampled = traffic.samples.last.flatMap { sample in
            sample.handshakeAge.map { sample.time.addingTimeInterval(-$0) }
        }
        guard let tunnel = snapshot?.tunnel else { return nil }
        return [tunnel.lastHandshake, sampled].compactMap(\.self).max()
    }
}
