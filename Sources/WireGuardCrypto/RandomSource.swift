// SPDX-License-Identifier: MIT

internal import CSodium

/// Where ephemeral keys, sender indices, jitter and cookie secrets come from.
///
/// Tests replace it with a seeded generator, so that a run can be repeated.
package protocol RandomSource: Sendable {
    /// Fills the buffer with unpredictable bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

extension RandomSource {
    /// A uniformly distributed 32-bit number.
    package func nextUInt32() -> UInt32 {
        var value: UInt32 = 0
        unsafe withUnsafeMutableBytes(of: &value) { unsafe fill($0) }
        return value
    }

    /// A uniformly distributed 64-bit number.
    package func nextUInt64() -> UInt64 {
        var value: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &value) { unsafe fill($0) }
        return value
    }

    /// A number from `0` to `upperBound - 1`.
    ///
    /// The bias is at most `upperBound / 2^64`, so this is for jitter, not for keys.
    package func next(below upperBound: UInt64) -> UInt64 {
        nextUInt64().multipliedFullWidth(by: upperBound).high
    }
}

/// The operating system's random source, read through libsodium.
package struct SystemRandomSource: RandomSource {
    /// Creates a handle; the source itself is shared by the process.
    package init() {
        Sodium.initialize()
    }

    package func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = buffer.baseAddress else { return }
        unsafe randombytes_buf(start, buffer.count)
    }
}
