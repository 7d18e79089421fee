// SPDX-License-Identifier: MIT

/// Gives the random times that are added to handshake deadlines.
///
/// A generator of its own (SplitMix64), because each packet that answers another one asks for such a time, and
/// the system's random source costs a system call. Jitter keeps hosts from starting together and is no secret:
/// nothing else may be drawn from here.
package struct JitterSource: Sendable {
    private var state: UInt64

    /// Starts from a random number.
    package init(seed: UInt64) {
        state = seed
    }

    /// A time from zero up to, but not including, `ProtocolConstants.jitter`.
    package mutating func next() -> Interval {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        let limit = UInt64(ProtocolConstants.jitter.nanoseconds)
        return Interval(nanoseconds: Int64(word.multipliedFullWidth(by: limit).high))
    }
}
