// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// What other threads ask of the loop.
enum TunnelCommand: Sendable {
    /// Tell the state of the device.
    case snapshot
    /// Apply a change that was checked as text, or none of it.
    case apply(ConfigurationChange)
    /// Become this configuration and keep what does not differ.
    case become(ResolvedConfiguration)
    /// End.
    case stop
}

/// What the loop answers.
enum TunnelReply: Sendable {
    /// The state of the device.
    case snapshot(DeviceSnapshot, DropCounters)
    /// The command was carried out.
    case done
    /// The command was refused and nothing changed.
    case refused(TransportRefusal)
}
