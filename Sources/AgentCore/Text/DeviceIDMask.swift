// SPDX-License-Identifier: MIT

/// Device identifiers as logs and status may show them: whoever knows a whole one could ask for its keys.
public enum DeviceIDMask {
    /// The most bytes of a device identifier.
    public static let longestDeviceID = 128

    /// The first four characters, or the first half of a shorter text, and an ellipsis.
    ///
    /// Unprintable characters become question marks.
    public static func mask(_ id: String) -> String {
        // The count of a long text from outside is not worth finding.
        let count = min(4, id.prefix(8).count / 2)
        return ShownText.plain(String(id.prefix(count))) + "…"
    }

    /// The field `device_id` of an object.
    static func deviceID(of fields: JSONFields) throws(AgentError) -> String {
        let id = try fields.required("device_id", fields.text("device_id", limit: longestDeviceID))
        guard !id.isEmpty else { throw fields.invalid("device_id", "is empty") }
        return id
    }
}
