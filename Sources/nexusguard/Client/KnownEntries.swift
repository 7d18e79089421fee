// SPDX-License-Identifier: MIT

internal import FoundationEssentials

/// Which entries of the log have been seen.
///
/// Numbers alone do not tell: they begin anew with a run of the daemon, or go on when the log is stored, and then all
/// that is stored is sent once more.
struct KnownEntries: Sendable {
    /// Twice as many as the daemon keeps.
    private static let limit = 4096

    private var recent: [Key] = []
    private var next = 0
    private var all: Set<Key> = []

    private struct Key: Hashable {
        let number: Int
        let timestamp: Date
    }

    /// Notes an entry; returns whether it is new.
    mutating func insert(_ entry: ShownLogEntry) -> Bool {
        let key = Key(number: entry.number, timestamp: entry.timestamp)
        guard all.insert(key).inserted else { return false }
        if recent.count < Self.limit {
            recent.append(key)
        } else {
            all.remove(recent[next])
            recent[next] = key
            next = (next + 1) % Self.limit
        }
        return true
    }
}
