// SPDX-License-Identifier: MIT

internal import CSodium

/// HMAC-BLAKE2s (RFC 2104) and the key derivation of the Noise protocol, Kdf1 to Kdf3 of the WireGuard paper
/// (section 5.4).
package enum NoiseKDF {
    /// HMAC over the concatenation of two spans.
    ///
    /// - Parameters:
    ///   - key: At most 64 bytes are used as they are; a longer key is hashed first.
    ///   - output: At least 32 bytes; the first 32 are written.
    package static func hmac(
        key: RawSpan, _ first: RawSpan, _ second: RawSpan, into output: inout MutableRawSpan
    ) {
        var pad = [64 of UInt8](repeating: 0)
        defer { erase(&pad) }
        if key.byteCount > BLAKE2s.blockByteCount {
            var padSpan = pad.mutableSpan
            var padBytes = unsafe padSpan.mutableBytes
            BLAKE2s.hash(key, into: &padBytes)
        } else {
            unsafe key.withUnsafeBytes { key in
                for index in key.indices { pad[index] = unsafe key[index] }
            }
        }
        var inner = SecretKey()
        for index in pad.indices { pad[index] ^= 0x36 }
        var state = BLAKE2s()
        unsafe state.update(pad.span.bytes)
        state.update(first)
        state.update(second)
        inner.withMutableBytes { state.finalize(into: &$0) }
        for index in pad.indices { pad[index] ^= 0x36 ^ 0x5C }
        state = BLAKE2s()
        unsafe state.update(pad.span.bytes)
        inner.withBytes { state.update($0) }
        state.finalize(into: &output)
    }

    /// Kdf1: replaces the chaining key.
    package static func derive(_ input: RawSpan, updating chainingKey: inout SecretKey) {
        let extracted = extract(input, chainingKey)
        expand(extracted, after: RawSpan(), label: 1, into: &chainingKey)
    }

    /// Kdf2: replaces the chaining key and gives one further key.
    package static func deriveKey(_ input: RawSpan, updating chainingKey: inout SecretKey) -> SecretKey {
        let extracted = extract(input, chainingKey)
        var key = SecretKey()
        expand(extracted, after: RawSpan(), label: 1, into: &chainingKey)
        chainingKey.withBytes { expand(extracted, after: $0, label: 2, into: &key) }
        return key
    }

    /// Kdf3: replaces the chaining key, writes the second output to `second` and returns the third.
    package static func deriveKey(
        _ input: RawSpan, updating chainingKey: inout SecretKey, second: inout SecretKey
    ) -> SecretKey {
        let extracted = extract(input, chainingKey)
        var key = SecretKey()
        expand(extracted, after: RawSpan(), label: 1, into: &chainingKey)
        chainingKey.withBytes { expand(extracted, after: $0, label: 2, into: &second) }
        second.withBytes { expand(extracted, after: $0, label: 3, into: &key) }
        return key
    }

    /// The pseudorandom key that the outputs come from.
    private static func extract(_ input: RawSpan, _ chainingKey: borrowing SecretKey) -> SecretKey {
        var extracted = SecretKey()
        chainingKey.withBytes { key in
            extracted.withMutableBytes { hmac(key: key, input, RawSpan(), into: &$0) }
        }
        return extracted
    }

    /// One output: HMAC over the previous output (empty for the first) and the label byte.
    private static func expand(
        _ extracted: borrowing SecretKey, after previous: RawSpan, label: UInt8, into output: inout SecretKey
    ) {
        let labels: [1 of UInt8] = [label]
        extracted.withBytes { key in
            output.withMutableBytes { unsafe hmac(key: key, previous, labels.span.bytes, into: &$0) }
        }
    }

    /// Clears a block that held a key.
    private static func erase(_ block: inout [64 of UInt8]) {
        unsafe withUnsafeMutableBytes(of: &block) { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe sodium_memzero(start, bytes.count)
        }
    }
}
