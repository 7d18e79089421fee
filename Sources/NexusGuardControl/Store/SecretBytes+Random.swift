// SPDX-License-Identifier: MIT

package import AgentCore
internal import CSodium

extension SecretBytes {
    /// Draws `randomByteCount` bytes from the operating system.
    package convenience init(randomByteCount: Int) {
        self.init(capacity: randomByteCount) { block in
            if let start = block.baseAddress { randombytes_buf(start, block.count) }
            return block.count
        }
    }

    /// Compares in constant time; secrets of different lengths differ.
    package func isEqual(to other: SecretBytes) -> Bool {
        withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                mine.count == theirs.count
                    && sodium_memcmp(mine.baseAddress, theirs.baseAddress, mine.count) == 0
            }
        }
    }
}
