// SPDX-License-Identifier: MIT

/// Which counters of a keypair were received (section 5.4.6), kept as a ring of bits (RFC 6479).
///
/// The ring has 128 words of 64 bits. The word of the highest counter is always only partly behind that
/// counter, so 8,128 counters below the highest are told apart. Each window takes 1 KiB.
@safe
package struct ReplayWindow: ~Copyable {
    /// The ring: bit `counter % 64` of word `counter / 64 % 128`.
    private let words: UnsafeMutablePointer<UInt64>
    /// The highest accepted counter. Before the first it is 0, and bit 0 is clear.
    private var highest: UInt64 = 0

    /// A window that has seen no counter.
    package init() {
        unsafe words = .allocate(capacity: Self.wordCount)
        unsafe words.initialize(repeating: 0, count: Self.wordCount)
    }

    /// Accepts `counter` once, and only if it is at most 8,128 below the highest accepted one.
    ///
    /// A counter of 2^64 - 2^13 - 1 or more is never accepted. Call after authentication, never before: a
    /// forged counter must not move the window.
    package mutating func accept(_ counter: UInt64) -> Bool {
        guard counter < Self.limit else { return false }
        let word = counter / 64
        if counter > highest {
            clear(after: highest / 64, through: word)
            highest = counter
        } else if highest - counter > Self.reach {
            return false
        }
        let position = Int(truncatingIfNeeded: word % UInt64(Self.wordCount))
        let bit = UInt64(1) << (counter % 64)
        guard unsafe words[position] & bit == 0 else { return false }
        unsafe words[position] |= bit
        return true
    }

    /// Clears the words that the window moves into: those of counters long past.
    private mutating func clear(after old: UInt64, through new: UInt64) {
        let moved = min(new - old, UInt64(Self.wordCount))
        var step: UInt64 = 1
        while step <= moved {
            unsafe words[Int(truncatingIfNeeded: (old + step) % UInt64(Self.wordCount))] = 0
            step += 1
        }
    }

    deinit {
        unsafe words.deallocate()
    }

    private static let wordCount = 128
    /// The largest distance below the highest counter.
    private static let reach = UInt64((wordCount - 1) * 64)
    /// Reject-After-Messages (section 6.1).
    private static let limit = UInt64.max - 8_192
}
