// SPDX-License-Identifier: MIT

/// The version of the agent and of its commands.
public enum AgentVersion {
    /// The version, as in the change log.
    public static let current = "0.1.0"
}
