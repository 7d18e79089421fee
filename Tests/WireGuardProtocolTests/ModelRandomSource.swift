// SPDX-License-Identifier: MIT

import Harness
import Synchronization
import WireGuardCrypto

/// A seeded random source whose 32-bit numbers go through a function, so that a test can make them collide.
final class ModelRandomSource: RandomSource {
    private let generator: Mutex<SeededGenerator>
    private let shape: @Sendable (UInt32) -> UInt32

    init(seed: UInt64, shape: @escaping @Sendable (UInt32) -> UInt32 = { $0 }) {
        generator = Mutex(SeededGenerator(seed: seed))
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
