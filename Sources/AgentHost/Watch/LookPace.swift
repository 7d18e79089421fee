// SPDX-License-Identifier: MIT

/// Decides when something that tells of its changes is looked at, and when what is seen counts.
///
/// It is looked at once it has come to rest for half a second, or after two seconds if it does not. A look takes
/// several questions, so one that a change came in on may have seen half of it: what is seen counts only if there
/// is no news right after it. After two seconds of unrest it counts in any case, and so does the look after one that
/// came to nothing. Times are those of one clock, in nanoseconds.
struct LookPace<Picture> {
    /// How long there must be no news.
    static var rest: Int64 { 500_000_000 }
    /// How long news can put a look off.
    static var longestUnrest: Int64 { 2_000_000_000 }

    /// When to look, unless it is waited for news.
    private var due: Int64?
    /// Whether that look was asked for, so that no news puts it off.
    private var isAskedFor = false
    /// Whether a look has begun and not ended.
    private var isLooking = false
    /// What was seen last, until it is known that no news came in meanwhile.
    private var seen: Picture?
    /// From when on what is seen counts at once.
    private var latest: Int64 = 0

    init() {}

    /// Takes in that something has changed.
    mutating func noteNews(at now: Int64) {
        begin(at: now)
        if !isAskedFor { due = min(now + Self.rest, latest) }
    }

    /// Has a look made at once, or right after the one that is being made.
    mutating func lookAtOnce(at now: Int64) {
        begin(at: now)
        due = now
        isAskedFor = true
    }

    /// Gives up what was seen, and begins the time of unrest unless it has begun.
    private mutating func begin(at now: Int64) {
        if due == nil, seen == nil, !isLooking { latest = now + Self.longestUnrest }
        seen = nil
    }

    /// Whether it is to be looked at; the look has begun then.
    mutating func begins(at now: Int64) -> Bool {
        guard let due, due <= now else { return false }
        self.due = nil
        isAskedFor = false
        isLooking = true
        return true
    }

    /// Takes in what the look has seen.
    ///
    /// - Parameter now: When it has ended.
    /// - Returns: What counts at once, if it does.
    mutating func noteLook(_ picture: Picture, at now: Int64) -> Picture? {
        isLooking = false
        // Somebody asked for another look meanwhile.
        guard due == nil else { return nil }
        guard now < latest else { return picture }
        seen = picture
        return nil
    }

    /// Takes in that the look came to nothing, since what it looked at kept changing.
    mutating func noteFailure(at now: Int64) {
        isLooking = false
        due = min(due ?? .max, now + Self.rest)
        latest = now
    }

    /// What was seen last, when it counts since no news was noted after it.
    mutating func takeSeen() -> Picture? {
        defer { seen = nil }
        return seen
    }

    /// When to ask for news again at the latest; at once while what was seen does not count yet.
    func deadline(at now: Int64) -> Int64? {
        seen == nil ? due : now
    }
}
