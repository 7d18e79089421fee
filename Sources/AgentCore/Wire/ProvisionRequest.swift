// SPDX-License-Identifier: MIT

/// What a device sends to get its identity: `POST /api/v1/provision`.
///
/// Printing it does not show the token.
public struct ProvisionRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The most bytes of a token.
    public static let longestToken = 1024
    /// The most bytes of a hardware identifier.
    public static let longestHardwareIdentifier = 128

    /// The registration token, 1 to 1024 bytes; a secret.
    public let token: String
    /// The hardware identifier, 1 to 128 bytes without control characters.
    public let hwid: String

    /// Creates a request.
    ///
    /// - Throws: `AgentError.configInvalid` when a value is empty, too long or not printable.
    public init(token: String, hwid: String) throws(AgentError) {
        guard !token.isEmpty else { throw .configInvalid(field: "token", reason: "is empty") }
        guard token.utf8.count <= Self.longestToken else {
            throw .configInvalid(field: "token", reason: "has more than \(Self.longestToken) bytes")
        }
        guard !hwid.isEmpty else { throw .configInvalid(field: "hwid", reason: "is empty") }
        guard hwid.utf8.count <= Self.longestHardwareIdentifier else {
            throw .configInvalid(
                field: "hwid", reason: "has more than \(Self.longestHardwareIdentifier) bytes")
        }
        guard ShownText.isPlain(hwid) else {
            throw .configInvalid(field: "hwid", reason: "has unprintable characters")
        }
        self.token = token
        self.hwid = hwid
    }

    /// Reads the JSON form.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public init(parsing bytes: [UInt8]) throws(AgentError) {
        let fields = try JSONFields(parsing: bytes)
        let token = try fields.required("token", fields.secret("token"))
        let hwid = try fields.required("hwid", fields.text("hwid", limit: Self.longestHardwareIdentifier))
        try self.init(token: token.string, hwid: hwid)
    }

    /// The JSON form, with the token in it.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 2 * (token.utf8.count + hwid.utf8.count) + 64)
        writer.beginObject()
        writer.member("token", token)
        writer.member("hwid", hwid)
        writer.endObject()
        return writer.finish()
    }

    /// Says whose request this is, and not the token.
    public var description: String { "ProvisionRequest(hwid: \(DeviceIDMask.mask(hwid)))" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
