// SPDX-License-Identifier: MIT

package import AgentCore

/// What a device sends to give its identity back: `POST /api/v1/deprovision`.
package struct DeprovisionRequest: Hashable, Sendable {
    /// The device, 1 to 128 bytes.
    package let deviceID: String

    /// Reads the JSON form.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    package init(parsing bytes: [UInt8]) throws(AgentError) {
        let fields = try JSONFields(parsing: bytes)
        let text = try fields.nonEmptyText("device_id", limit: DeviceIDMask.longestDeviceID)
        deviceID = try fields.required("device_id", text)
    }
}
