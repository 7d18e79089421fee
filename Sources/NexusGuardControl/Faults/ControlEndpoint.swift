// SPDX-License-Identifier: MIT

/// What the interface offers to devices.
package enum ControlEndpoint: String, CaseIterable, Sendable {
    /// `POST /api/v1/provision`.
    case provision
    /// `POST /api/v1/heartbeat`.
    case heartbeat
    /// `GET /api/v1/forwards`.
    case forwards
    /// `POST /api/v1/deprovision`.
    case deprovision

    /// The path of its requests.
    package var path: String { "/api/v1/\(rawValue)" }

    /// The method of its requests.
    package var method: String { self == .forwards ? "GET" : "POST" }
}
