// SPDX-License-Identifier: MIT

internal import Synchronization
internal import WireGuardCrypto

/// A random source whose output depends only on its seed (SplitMix64), so that a run can be repeated.
package final class SeededRandom: RandomSource, RandomNumberGenerator {
    private let state: Mutex<UInt64>

    /// A source that starts from `seed`.
    package init(seed: UInt64) {
        state = Mutex(seed)
    }

    /// The next 64 bits.
    package func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: next()) }
    }
}
