// SPDX-License-Identifier: MIT

public import FoundationEssentials

/// What a device tells of itself at each heartbeat: `POST /api/v1/heartbeat`.
public struct HeartbeatRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The most bytes of a status.
    public static let longestStatus = 64

    /// The device, 1 to 128 bytes without control characters.
    public let deviceID: String
    /// What the device shows of its state, such as `connected`; 1 to 64 bytes without control characters.
    public let status: String
    /// Whether the tunnel is up.
    public let tunnelUp: Bool
    /// When the last handshake ended, in whole seconds; `nil` before the first.
    public let lastHandshake: Date?

    /// Creates a request.
    public init(deviceID: String, status: String, tunnelUp: Bool, lastHandshake: Date?) {
        self.deviceID = deviceID
        self.status = status
        self.tunnelUp = tunnelUp
        self.lastHandshake = lastHandshake
    }

    /// Reads the JSON form.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public init(parsing bytes: [UInt8]) throws(AgentError) {
        let fields = try JSONFields(parsing: bytes)
        deviceID = try DeviceIDMask.deviceID(of: fields)
        status = try fields.required("status", fields.nonEmptyText("status", limit: Self.longestStatus))
        tunnelUp = try fields.required("tunnel_up", fields.bool("tunnel_up"))
        if let text = try fields.text("last_handshake", limit: 64) {
            guard let date = RFC3339.date(text) else {
                throw fields.invalid(
                    "last_handshake", "\(ShownText.value(text)) is no time such as 2026-01-31T09:00:00Z")
            }
            lastHandshake = date
        } else {
            lastHandshake = nil
        }
    }

    /// The JSON form.
    public func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("device_id", deviceID)
        writer.member("status", status)
        writer.member("tunnel_up", tunnelUp)
        writer.name("last_handshake")
        if let lastHandshake {
            writer.value(RFC3339.text(lastHandshake))
        } else {
            writer.null()
        }
        writer.endObject()
        return writer.finish()
    }

    /// Says whose request this is, with the device masked.
    public var description: String {
        "HeartbeatRequest(device: \(DeviceIDMask.mask(deviceID)), status: \(ShownText.plain(status, limit: 64)))"
    }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
