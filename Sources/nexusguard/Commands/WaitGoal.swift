// SPDX-License-Identifier: MIT

/// What `wait` waits for.
enum WaitGoal: String, CaseIterable {
    /// The tunnel is up with a recent handshake.
    case connected
    /// The tunnel is down.
    case disconnected
    /// There is a device identity.
    case provisioned
}
