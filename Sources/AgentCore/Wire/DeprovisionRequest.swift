// SPDX-License-Identifier: MIT

/// What a device sends to give its identity back: `POST /api/v1/deprovision`.
public struct DeprovisionRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The device, 1 to 128 bytes without control characters.
    public let deviceID: String

    /// Creates a request.
    public init(deviceID: String) {
        self.deviceID = deviceID
    }

    /// Reads the JSON form.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    public init(parsing bytes: [UInt8]) throws(AgentError) {
        deviceID = try DeviceIDMask.deviceID(of: JSONFields(parsing: bytes))
    }

    /// The JSON form.
    public func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("device_id", deviceID)
        writer.endObject()
        return writer.finish()
    }

    /// Says whose request this is, with the device masked.
    public var description: String { "DeprovisionRequest(device: \(DeviceIDMask.mask(deviceID)))" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
