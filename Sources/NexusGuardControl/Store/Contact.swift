// SPDX-License-Identifier: MIT

package import FoundationEssentials

/// A request of a device that proved, or need not prove, who it is.
package struct Contact: Sendable {
    /// What became of the request.
    package enum Outcome: Sendable {
        /// The request is new; with the device as it is now.
        case accepted(DeviceRecord)
        /// The nonce was seen before.
        case replayed
        /// The device sent more requests than the store remembers nonces.
        case tooMany
        /// There is no such device.
        case unknownDevice
    }

    /// The device.
    package let deviceID: String
    /// The time of the request.
    package let at: Date
    /// The nonce of an authenticated request, and until when it must be remembered.
    package let nonce: (text: String, until: Date)?
    /// What the device says of itself, if it does.
    package let report: DeviceRecord.Report?

    /// Creates a request.
    package init(
        deviceID: String, at: Date, nonce: (text: String, until: Date)?, report: DeviceRecord.Report? = nil
    ) {
        self.deviceID = deviceID
        self.at = at
        self.nonce = nonce
        self.report = report
    }
}
