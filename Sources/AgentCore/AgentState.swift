// SPDX-License-Identifier: MIT

/// What the agent shows of its state.
public enum AgentState: String, Codable, CaseIterable, Hashable, Sendable {
    /// Not wanted up, or there is no network.
    case disconnected
    /// On the way up, or up without a recent handshake.
    case connecting
    /// The tunnel is up and its last handshake is at most 180 s old.
    case connected
    /// Something needs attention; slow retries go on where they can help.
    case failed
}
