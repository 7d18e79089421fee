// SPDX-License-Identifier: MIT

internal import CSodium

/// Base64 with the standard alphabet and padding (RFC 4648 section 4), by libsodium.
package enum Base64 {
    /// The text of bytes.
    package static func text(_ bytes: [UInt8]) -> String {
        Sodium.initialize()
        let count = (bytes.count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: count + 1) { target in
            guard let start = target.baseAddress else { return 0 }
            sodium_bin2base64(
                UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self), count + 1, bytes,
                bytes.count, sodium_base64_VARIANT_ORIGINAL)
            return count
        }
    }

    /// The bytes of a text; `nil` unless it is exactly what `text` gives for them.
    package static func bytes(_ text: String) -> [UInt8]? {
        Sodium.initialize()
        guard text.utf8.count.isMultiple(of: 4) else { return nil }
        var bytes = [UInt8](repeating: 0, count: text.utf8.count / 4 * 3)
        let capacity = bytes.count
        var count = 0
        let isBase64 = text.utf8.span.bytes.withUnsafeBytes { source in
            sodium_base642bin(
                &bytes, capacity, source.baseAddress?.assumingMemoryBound(to: CChar.self), source.count, nil,
                &count, nil, sodium_base64_VARIANT_ORIGINAL) == 0
        }
        guard isBase64 else { return nil }
        bytes.removeLast(capacity - count)
        return bytes
    }
}
