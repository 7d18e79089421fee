// SPDX-License-Identifier: MIT

package import FoundationEssentials

/// What the store knows of a registration token; the token itself is in nobody's hands but the operator's.
package struct TokenRecord: Hashable, Sendable {
    /// What a token is good for now.
    package enum State: String, Sendable {
        /// Waiting for its device.
        case unused
        /// Bound to a device, which may ask again for the same identity.
        case used
        /// Nobody came in time.
        case expired
        /// Taken back.
        case revoked
    }

    /// Eight hexadecimal digits, derived from the token.
    package let id: String
    /// SHA-256 over the token and a label; see `RegistrationToken`.
    package let digest: [UInt8]
    /// The operator's name for the token or its device.
    package let name: String?
    /// When it was made.
    package let createdAt: Date
    /// When its first use must have happened, if there is a limit.
    package let expiresAt: Date?
    /// When it was taken back, if it was.
    package var revokedAt: Date?
    /// The device that it is bound to, if it was used.
    package var deviceID: String?

    /// Creates a record.
    package init(
        id: String, digest: [UInt8], name: String? = nil, createdAt: Date, expiresAt: Date? = nil,
        revokedAt: Date? = nil, deviceID: String? = nil
    ) {
        self.id = id
        self.digest = digest
        self.name = name
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.deviceID = deviceID
    }

    /// What the token is good for at a time.
    package func state(at now: Date) -> State {
        if revokedAt != nil { return .revoked }
        if deviceID != nil { return .used }
        if let expiresAt, expiresAt <= now { return .expired }
        return .unused
    }
}
