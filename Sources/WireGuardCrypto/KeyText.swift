// SPDX-License-Identifier: MIT

internal import CSodium

/// Why a text is not a key; never holds any part of the text.
public enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not the base64 form of 32 bytes: 44 characters, the last of them `=`.
    case notBase64
    /// The text is not the hexadecimal form of 32 bytes: 64 digits.
    case notHexadecimal
    /// The key has another number of bytes than 32.
    case wrongByteCount(Int)

    /// One sentence without any part of the refused text.
    public var description: String {
        switch self {
        case .notBase64: "a key is 44 base64 characters that stand for 32 bytes"
        case .notHexadecimal: "a key is 64 hexadecimal digits"
        case .wrongByteCount(let count): "a key has 32 bytes, not \(count)"
        }
    }
}

/// The two text forms of a key; libsodium's codecs take the same time for every key.
enum KeyText {
    /// The number of characters of a base64 key.
    static let base64Length = 44

    /// Reads 44 base64 characters; the two bits that the last character has beyond 32 bytes must be zero.
    static func key(base64 text: RawSpan) throws(KeyError) -> SecretKey {
        let key = SecretKey()
        let isKey = unsafe text.withUnsafeBytes { text in
            guard text.count == base64Length, unsafe text[base64Length - 1] == UInt8(ascii: "=") else {
                return false
            }
            var length = 0
            let status = unsafe sodium_base642bin(
                bytes(key), SecretKey.byteCount,
                text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, nil, &length, nil,
                sodium_base64_VARIANT_ORIGINAL)
            return status == 0 && length == SecretKey.byteCount
        }
        guard isKey else { throw .notBase64 }
        return key
    }

    /// Reads 64 hexadecimal digits of either case.
    static func key(hexadecimal text: RawSpan) throws(KeyError) -> SecretKey {
        let key = SecretKey()
        let isKey = unsafe text.withUnsafeBytes { text in
            guard text.count == 2 * SecretKey.byteCount else { return false }
            var length = 0
            let status = unsafe sodium_hex2bin(
                bytes(key), SecretKey.byteCount,
                text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, nil, &length, nil)
            return status == 0 && length == SecretKey.byteCount
        }
        guard isKey else { throw .notHexadecimal }
        return key
    }

    /// Reads 44 base64 characters.
    static func key(base64 text: String) throws(KeyError) -> SecretKey {
        try unsafe key(base64: text.utf8.span.bytes)
    }

    /// Reads 64 hexadecimal digits.
    static func key(hexadecimal text: String) throws(KeyError) -> SecretKey {
        try unsafe key(hexadecimal: text.utf8.span.bytes)
    }

    /// The 44 base64 characters of 32 bytes.
    static func base64(_ bytes: RawSpan) -> String {
        unsafe bytes.withUnsafeBytes { source in
            unsafe String(unsafeUninitializedCapacity: base64Length + 1) { target in
                guard let start = target.baseAddress else { return 0 }
                unsafe sodium_bin2base64(
                    UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self), base64Length + 1,
                    source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count,
                    sodium_base64_VARIANT_ORIGINAL)
                return base64Length
            }
        }
    }

    /// The 64 lowercase hexadecimal digits of 32 bytes.
    static func hexadecimal(_ bytes: RawSpan) -> String {
        let length = 2 * SecretKey.byteCount
        return unsafe bytes.withUnsafeBytes { source in
            unsafe String(unsafeUninitializedCapacity: length + 1) { target in
                guard let start = target.baseAddress else { return 0 }
                unsafe sodium_bin2hex(
                    UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self), length + 1,
                    source.baseAddress?.assumingMemoryBound(to: UInt8.self), source.count)
                return length
            }
        }
    }
}
