// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSodium

/// Encrypts the contents of files: XChaCha20-Poly1305 with a random nonce of 192 bits for each save.
///
/// With random nonces of 192 bits, 2^48 saves under one key repeat one with a probability below 2^-97.
struct AtRestCipher: Sendable {
    /// The size of a nonce.
    static let nonceByteCount = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    private static let tagByteCount = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

    private let key: HostKey
    private let drawNonce: @Sendable () -> [UInt8]

    /// Creates a cipher.
    ///
    /// - Parameter drawNonce: Draws 24 bytes, never the same twice; called once for each `seal`.
    init(key: HostKey, drawNonce: @escaping @Sendable () -> [UInt8] = AtRestCipher.randomNonce) {
        self.key = key
        self.drawNonce = drawNonce
    }

    /// Draws a nonce from the operating system's random numbers.
    static func randomNonce() -> [UInt8] { CryptoManager.randomBytes(nonceByteCount) }

    /// Encrypts a content; kind, version and generation are bound to it.
    func seal(_ content: ErasedBuffer, kind: String, version: Int, generation: UInt64) -> FileFrame.Body {
        let nonce = drawNonce()
        precondition(nonce.count == Self.nonceByteCount, "a nonce has 24 bytes")
        let bound = Self.associatedData(kind: kind, version: version, generation: generation)
        let ciphertext = ErasedBuffer(capacity: content.count + Self.tagByteCount)
        ciphertext.append(room: content.count + Self.tagByteCount) { room in
            content.withBytes { content in
                key.withBytes { key in
                    _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                        room.octets, nil,
                        content.octets, UInt64(content.count),
                        bound, UInt64(bound.count), nil, nonce,
                        key.octets)
                }
            }
            return room.count
        }
        return .sealed(keyIdentifier: key.identifier, nonce: nonce, ciphertext: ciphertext)
    }

    /// Decrypts a content; `nil` when any bit of it or of what is bound to it differs.
    func open(
        _ ciphertext: ErasedBuffer, nonce: [UInt8], kind: String, version: Int, generation: UInt64
    ) -> ErasedBuffer? {
        guard nonce.count == Self.nonceByteCount, ciphertext.count > Self.tagByteCount else { return nil }
        let bound = Self.associatedData(kind: kind, version: version, generation: generation)
        let content = ErasedBuffer(capacity: ciphertext.count)
        var isGenuine = false
        content.append(room: ciphertext.count - Self.tagByteCount) { room in
            let status = ciphertext.withBytes { ciphertext in
                key.withBytes { key in
                    crypto_aead_xchacha20poly1305_ietf_decrypt(
                        room.octets, nil, nil,
                        ciphertext.octets,
                        UInt64(ciphertext.count), bound, UInt64(bound.count), nonce,
                        key.octets)
                }
            }
            isGenuine = status == 0
            return room.count
        }
        return isGenuine ? content : nil
    }

    private static func associatedData(kind: String, version: Int, generation: UInt64) -> [UInt8] {
        Array("nexusguard store\n\(kind)\n\(version)\n\(generation)".utf8)
    }
}
