// SPDX-License-Identifier: MIT

/// What the control server answers to a heartbeat.
public struct HeartbeatResponse: Sendable {
    /// The shortest and the longest interval that a server can ask for; others are brought inside.
    public static let intervals: ClosedRange<Duration> = .seconds(1) ... .seconds(3600)

    /// The device's configuration.
    public let config: WireGuardConfig
    /// The server's word on the device; `ok` when all is well.
    public let status: String
    /// How long to wait before the next heartbeat, if the server says; always within `intervals`.
    public let nextInterval: Duration?

    /// Creates a response.
    public init(config: WireGuardConfig, nextInterval: Duration? = nil, status: String = "ok") {
        self.config = config
        self.status = status
        self.nextInterval = nextInterval.map {
            min(max($0, Self.intervals.lowerBound), Self.intervals.upperBound)
        }
    }

    /// Reads the JSON form.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public init(parsing bytes: [UInt8]) throws(AgentError) {
        try self.init(JSONFields(parsing: bytes), requiresStatus: true)
    }

    /// Reads an answer that may be encrypted under the device's key.
    ///
    /// - Parameters:
    ///   - bytes: The body.
    ///   - key: The provisioning key K; `nil` when the device has none, and then an encrypted answer is refused.
    ///   - requiresEncryption: Whether a plain answer is refused.
    /// - Throws: `AgentError.configInvalid` that names the field; `.cryptoDecryptionFailed`.
    public init(
        parsing bytes: [UInt8], key: ProvisioningKey?, requiresEncryption: Bool
    ) throws(AgentError) {
        let fields = try JSONFields(parsing: bytes)
        let name = "encrypted_config"
        guard let envelope = try fields.text(name, limit: JSONValue.largestDocument) else {
            guard !requiresEncryption else { throw fields.invalid(name, "is missing") }
            try self.init(fields, requiresStatus: true)
            return
        }
        guard let key else { throw .cryptoDecryptionFailed }
        var plaintext = try CryptoManager.decrypt(
            encoded: envelope, key: CryptoManager.heartbeatResponseKey(key))
        defer { plaintext.erase() }
        try self.init(JSONFields(parsing: plaintext), requiresStatus: false)
    }

    private init(_ fields: JSONFields, requiresStatus: Bool) throws(AgentError) {
        let interval = try fields.number("next_interval")
        if let interval, interval <= 0 { throw fields.invalid("next_interval", "is not above 0") }
        let config = try WireGuardConfigCodec.parse(fields, requiresStatus: requiresStatus)
        let status = try fields.nonEmptyText("status", limit: HeartbeatRequest.longestStatus)
        // Bounded before it becomes a duration, which holds less than a number of JSON.
        let seconds = interval.map { min($0, 1_000_000) }
        self.init(config: config, nextInterval: seconds.map { .seconds($0) }, status: status ?? "ok")
    }

    /// The JSON form, with the keys in it.
    public func json() -> [UInt8] {
        WireGuardConfigCodec.serialise(config) { writer in
            writer.member("status", status)
            if let nextInterval { writer.member("next_interval", Int(nextInterval.components.seconds)) }
        }
    }

    /// The JSON form encrypted under the device's key, as `{"encrypted_config": …}`.
    ///
    /// - Parameter key: The provisioning key K.
    public func sealedJSON(key: ProvisioningKey) -> [UInt8] {
        var plaintext = json()
        defer { plaintext.erase() }
        let envelope = CryptoManager.encrypt(plaintext, key: CryptoManager.heartbeatResponseKey(key))
        return ProvisionResponse(encryptedConfig: envelope).json()
    }
}
