// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CSodium

/// The text that lets one device ask for an identity.
package enum RegistrationToken {
    /// What each token begins with, so that people and scanners know one when they see it.
    package static let mark = "ngt_"

    /// Draws a token: the mark and 256 random bits in 43 characters of unpadded base64url.
    package static func make() -> String {
        let secret = SecretBytes(randomByteCount: 32)
        return secret.withBytes { bytes in
            bytes.withUnsafeBytes { buffer in
                let variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING
                return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 44) { text in
                    defer { sodium_memzero(text.baseAddress, text.count) }
                    guard let start = text.baseAddress,
                        let source = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
                        let end = sodium_bin2base64(start, text.count, source, buffer.count, variant)
                    else { return mark }
                    return mark + String(cString: end)
                }
            }
        }
    }

    /// Eight hexadecimal digits by which lists and commands name the token.
    ///
    /// They tell 32 bits of a digest of the token, which is of no use to find the token.
    package static func identifier(of token: String) -> String {
        Hexadecimal.text(digest("nexusguard/token-id/v1", token).prefix(4))
    }

    /// What the store keeps of a token: SHA-256 over a label and the token.
    ///
    /// The label keeps it apart from the provisioning key, which is SHA-256 over token and hardware identifier.
    package static func digest(of token: String) -> [UInt8] {
        digest("nexusguard/token/v1", token)
    }

    private static func digest(_ label: String, _ token: String) -> [UInt8] {
        CryptoManager.sha256(Array("\(label)\0\(token)".utf8))
    }
}
