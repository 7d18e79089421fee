// SPDX-License-Identifier: MIT

internal import AgentCore
internal import NexusGuard

/// Slows down those who guess the password of the page: five wrong ones, then ever longer pauses.
struct PasswordGate: Sendable {
    /// What is remembered of an address.
    private struct Guesses {
        var count = 0
        var last: Duration = .zero
        var blockedUntil: Duration = .zero
    }

    /// How many wrong passwords an address may send before it has to wait.
    static let freeGuesses = 5
    /// The first pause; each further wrong password doubles it.
    static let firstPause = Duration.seconds(60)
    /// The longest pause.
    static let longestPause = Duration.seconds(900)
    /// After how long without a guess an address is forgotten.
    private static let memory = Duration.seconds(3600)
    /// The most addresses that are remembered.
    private static let mostAddresses = 1024

    private var guesses: [String: Guesses] = [:]

    /// How many addresses are remembered.
    var addressCount: Int { guesses.count }

    /// How long an address has to wait; `nil` when it may guess.
    func pause(of address: String, at now: Duration) -> Duration? {
        guard let entry = guesses[Self.key(address)], entry.blockedUntil > now else { return nil }
        return entry.blockedUntil - now
    }

    /// Notes a wrong password.
    ///
    /// - Returns: How long the address has to wait from now on; `nil` when it may go on.
    mutating func noteWrong(_ address: String, at now: Duration) -> Duration? {
        let key = Self.key(address)
        if guesses[key] == nil { makeRoom(at: now) }
        var entry = guesses[key] ?? Guesses()
        if entry.last + Self.memory <= now { entry = Guesses() }
        entry.count += 1
        entry.last = now
        let surplus = entry.count - Self.freeGuesses
        if surplus >= 0 {
            entry.blockedUntil = now + min(Self.firstPause * (1 << min(surplus, 10)), Self.longestPause)
        }
        guesses[key] = entry
        return surplus >= 0 ? entry.blockedUntil - now : nil
    }

    /// Forgets the wrong passwords of an address that knows the right one.
    mutating func noteRight(_ address: String) { guesses[Self.key(address)] = nil }

    private mutating func makeRoom(at now: Duration) {
        guard guesses.count >= Self.mostAddresses else { return }
        guesses = guesses.filter { $0.value.last + Self.memory > now }
        while guesses.count >= Self.mostAddresses,
            let oldest = guesses.min(by: { $0.value.last < $1.value.last })
        {
            guesses[oldest.key] = nil
        }
    }

    /// Who counts as one: whoever has an address of IPv6 has the 64 bits behind its prefix as well.
    private static func key(_ address: String) -> String {
        guard let parsed = try? IPAddress(address), parsed.isIPv6,
            let prefix = IPPrefix(address: parsed, length: 64)
        else { return address }
        return prefix.description
    }
}
