// SPDX-License-Identifier: MIT

internal import CSodium
internal import NexusGuard

/// Keys in the fields of a configuration, read and written in memory that is erased.
enum KeyField {
    /// Reads `private_key`.
    static func privateKey(of fields: JSONFields) throws(AgentError) -> PrivateKey {
        let bytes = try key("private_key", of: fields)
        do {
            return try bytes.withBytes { (span) throws(KeyError) in try PrivateKey(rawRepresentation: span) }
        } catch {
            throw fields.invalid("private_key", error.description)
        }
    }

    /// Reads `server_pub`.
    static func serverPublicKey(of fields: JSONFields) throws(AgentError) -> PublicKey {
        let bytes = try key("server_pub", of: fields)
        do {
            return try bytes.withBytes { (span) throws(KeyError) in try PublicKey(rawRepresentation: span) }
        } catch {
            throw fields.invalid("server_pub", error.description)
        }
    }

    /// Reads `preshared_key`; `nil` when it is absent, empty, or all zero, which WireGuard takes for none.
    static func presharedKey(of fields: JSONFields) throws(AgentError) -> PresharedKey? {
        let name = "preshared_key"
        guard let text = try fields.secret(name), text.utf8.count > 0 else { return nil }
        let bytes = try bytes(text, name, of: fields)
        guard !bytes.isZero else { return nil }
        do {
            return try bytes.withBytes { (span) throws(KeyError) in
                try PresharedKey(rawRepresentation: span)
            }
        } catch {
            throw fields.invalid(name, error.description)
        }
    }

    private static func key(_ name: String, of fields: JSONFields) throws(AgentError) -> SecretBytes {
        guard let text = try fields.secret(name), text.utf8.count > 0 else {
            throw fields.invalid(name, "is missing")
        }
        let bytes = try bytes(text, name, of: fields)
        guard !bytes.isZero else { throw fields.invalid(name, "is all zero, which is no key") }
        return bytes
    }

    private static func bytes(
        _ text: JSONText, _ name: String, of fields: JSONFields
    ) throws(AgentError) -> SecretBytes {
        guard let bytes = text.utf8.withUnsafeBytes({ decoded($0) }) else {
            throw fields.invalid(name, "is neither 64 hexadecimal digits nor the base64 form of 32 bytes")
        }
        return bytes
    }

    /// The bytes of 64 hexadecimal digits or 44 base64 characters, in the same time for every key.
    private static func decoded(_ text: UnsafeRawBufferPointer) -> SecretBytes? {
        var isKey = false
        let characters = text.baseAddress?.assumingMemoryBound(to: CChar.self)
        let key = SecretBytes(capacity: ProvisioningKey.byteCount) { block in
            var count = 0
            switch text.count {
            case 64:
                isKey =
                    sodium_hex2bin(Sodium.bytes(block), block.count, characters, 64, nil, &count, nil) == 0
            case 44 where text[43] == UInt8(ascii: "="):
                isKey =
                    sodium_base642bin(
                        Sodium.bytes(block), block.count, characters, 44, nil, &count, nil,
                        sodium_base64_VARIANT_ORIGINAL) == 0
            default: break
            }
            isKey = isKey && count == block.count
            return block.count
        }
        return isKey ? key : nil
    }
}
