// SPDX-License-Identifier: MIT

/// An encrypted answer of the control server: `{"encrypted_config": …}`.
///
/// A provisioning request is always answered so, and a heartbeat when its sender asked for it.
public struct ProvisionResponse: Sendable {
    /// The base64 form of nonce, ciphertext and tag; see `CryptoManager`.
    public let encryptedConfig: String

    /// Creates a response.
    public init(encryptedConfig: String) {
        self.encryptedConfig = encryptedConfig
    }

    /// Reads the JSON form.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public init(parsing bytes: [UInt8]) throws(AgentError) {
        let fields = try JSONFields(parsing: bytes)
        let name = "encrypted_config"
        encryptedConfig = try fields.required(name, fields.text(name, limit: JSONValue.largestDocument))
    }

    /// The JSON form.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: encryptedConfig.utf8.count + 32)
        writer.beginObject()
        writer.member("encrypted_config", encryptedConfig)
        writer.endObject()
        return writer.finish()
    }
}
