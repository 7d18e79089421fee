// SPDX-License-Identifier: MIT

/// The forwards of a device: the answer to `GET /api/v1/forwards`.
public struct ForwardsResponse: Hashable, Sendable {
    /// The forwards.
    public let forwards: [PortForward]
    /// Changes when the forwards change; the `ETag` of the answer says the same.
    public let forwardsHash: String?

    /// Creates a response.
    public init(forwards: [PortForward], forwardsHash: String? = nil) {
        self.forwards = forwards
        self.forwardsHash = forwardsHash
    }

    /// Reads the JSON form, an object with `forwards` and perhaps `forwards_hash`.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public init(parsing bytes: [UInt8]) throws(AgentError) {
        let fields = try JSONFields(parsing: bytes)
        forwards = try fields.required("forwards", PortForward.list(of: fields))
        forwardsHash = try fields.nonEmptyText("forwards_hash", limit: WireGuardConfigCodec.longestHash)
    }

    /// The JSON form.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 128 * (forwards.count + 1))
        writer.beginObject()
        if let forwardsHash { writer.member("forwards_hash", forwardsHash) }
        PortForward.write(forwards, to: &writer)
        writer.endObject()
        return writer.finish()
    }
}
