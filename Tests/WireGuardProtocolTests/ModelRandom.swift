// SPDX-License-Identifier: MIT

import Synchronization
import WireGuardCrypto

/// A seeded generator for model tests (SplitMix64): the same seed gives the same test.
struct ModelRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 to `bound - 1`.
    mutating func below(_ bound: Int) -> Int {
        Int(next() % UInt64(bound))
    }
}

/// A seeded random source whose 32-bit numbers go through a function, so that a test can make them collide.
final class ModelRandomSource: RandomSource {
    private let generator: Mutex<ModelRandom>
    private let shape: @Sendable (UInt32) -> UInt32

    init(seed: UInt64, shape: @escaping @Sendable (UInt32) -> UInt32 = { $0 }) {
        generator = Mutex(ModelRandom(seed: seed))
        self.shape = shape
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        generator.withLock { generator in
            var offset = 0
            while offset < buffer.count {
                let number = shape(UInt32(truncatingIfNeeded: generator.next()))
                withUnsafeBytes(of: number) { bytes in
                    for byte in bytes.prefix(buffer.count - offset) {
                        buffer[offset] = byte
                        offset += 1
                    }
                }
            }
        }
    }
}
