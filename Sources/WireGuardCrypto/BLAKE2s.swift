// SPDX-License-Identifier: MIT

internal import CSodium

/// BLAKE2s (RFC 7693), which libsodium does not have: hash, and with a key a message authentication code.
///
/// The state is a plain value, so a state after the key block can be kept and copied instead of being made
/// anew for each message. `erase()` clears a state that held a secret.
package struct BLAKE2s: Sendable {
    /// The size of a block, 64 bytes.
    package static let blockByteCount = 64

    /// The chaining value, eight words.
    private var chain: SIMD8<UInt32>
    /// The bytes not compressed yet; the last block must wait, since it is compressed with a flag.
    private var buffer = [64 of UInt8](repeating: 0)
    /// The number of bytes in `buffer`.
    private var buffered = 0
    /// The number of bytes compressed so far.
    private var compressed: UInt64 = 0
    /// The number of bytes of the result, 1 to 32.
    package let outputByteCount: Int

    /// Starts a hash without a key.
    ///
    /// - Parameter outputByteCount: 1 to 32.
    package init(outputByteCount: Int = 32) {
        precondition((1...32).contains(outputByteCount), "BLAKE2s gives 1 to 32 bytes")
        self.outputByteCount = outputByteCount
        chain = Self.initialChain
        chain[0] ^= 0x0101_0000 ^ UInt32(outputByteCount)
    }

    /// Starts a keyed hash.
    ///
    /// - Parameters:
    ///   - key: 1 to 32 bytes.
    ///   - outputByteCount: 1 to 32.
    package init(key: RawSpan, outputByteCount: Int) {
        precondition((1...32).contains(key.byteCount), "a BLAKE2s key has 1 to 32 bytes")
        self.init(outputByteCount: outputByteCount)
        chain[0] ^= UInt32(key.byteCount) << 8
        unsafe key.withUnsafeBytes { key in
            for index in key.indices { buffer[index] = unsafe key[index] }
        }
        buffered = Self.blockByteCount
    }

    /// Compresses the block of the key now, so that copies of this state need not do it again.
    ///
    /// Call on a new keyed state only, and append at least one byte before `finalize`: the last block of a message
    /// is compressed with a flag, and the key is that block when the message is empty.
    package mutating func compressKeyBlock() {
        precondition(
            buffered == Self.blockByteCount && compressed == 0, "only a new keyed state has a key block")
        compressed = UInt64(Self.blockByteCount)
        unsafe withUnsafeBytes(of: buffer) { block in
            guard let block = block.baseAddress else { return }
            unsafe Self.compress(&chain, block, byteCount: compressed, isLast: false)
        }
        buffered = 0
    }

    /// Appends bytes to the message.
    package mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe update(start, bytes.count)
        }
    }

    /// Appends `count` bytes at `start` to the message.
    private mutating func update(_ start: UnsafeRawPointer, _ count: Int) {
        var start = unsafe start
        var count = count
        while count > 0 {
            if buffered == Self.blockByteCount {
                compressed += UInt64(Self.blockByteCount)
                unsafe withUnsafeBytes(of: buffer) { block in
                    guard let block = block.baseAddress else { return }
                    unsafe Self.compress(&chain, block, byteCount: compressed, isLast: false)
                }
                buffered = 0
            }
            if buffered == 0 {
                while count > Self.blockByteCount {
                    compressed += UInt64(Self.blockByteCount)
                    unsafe Self.compress(&chain, start, byteCount: compressed, isLast: false)
                    unsafe start += Self.blockByteCount
                    count -= Self.blockByteCount
                }
            }
            let taken = min(count, Self.blockByteCount - buffered)
            unsafe withUnsafeMutableBytes(of: &buffer) { block in
                guard let block = block.baseAddress else { return }
                unsafe (block + buffered).copyMemory(from: start, byteCount: taken)
            }
            buffered += taken
            unsafe start += taken
            count -= taken
        }
    }

    /// Writes the result and erases the state.
    ///
    /// - Parameter output: At least `outputByteCount` bytes; the first ones are written.
    package mutating func finalize(into output: inout MutableRawSpan) {
        precondition(output.byteCount >= outputByteCount, "no room for the hash")
        compressed += UInt64(buffered)
        for index in buffered..<Self.blockByteCount { buffer[index] = 0 }
        unsafe withUnsafeBytes(of: buffer) { block in
            guard let block = block.baseAddress else { return }
            unsafe Self.compress(&chain, block, byteCount: compressed, isLast: true)
        }
        unsafe withUnsafeBytes(of: &chain) { words in
            unsafe output.withUnsafeMutableBytes { target in
                for index in 0..<outputByteCount { unsafe target[index] = words[index] }
            }
        }
        erase()
    }

    /// Clears the state, which holds what a key turned into.
    package mutating func erase() {
        unsafe withUnsafeMutableBytes(of: &self.chain) { unsafe Self.clear($0) }
        unsafe withUnsafeMutableBytes(of: &self.buffer) { unsafe Self.clear($0) }
        buffered = 0
    }

    /// Writes zeros that the optimiser does not remove.
    private static func clear(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        unsafe sodium_memzero(start, bytes.count)
    }

    /// Hashes one message to 32 bytes.
    package static func hash(_ message: RawSpan, into output: inout MutableRawSpan) {
        var state = BLAKE2s()
        state.update(message)
        state.finalize(into: &output)
    }

    /// Hashes the concatenation of two spans to 32 bytes; `output` may be one of them.
    package static func hash(_ first: RawSpan, _ second: RawSpan, into output: inout MutableRawSpan) {
        var state = BLAKE2s()
        state.update(first)
        state.update(second)
        state.finalize(into: &output)
    }

    /// The fractional parts of the square roots of the first eight primes, shared with SHA-256.
    private static let initialChain = SIMD8<UInt32>(
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19
    )
}
