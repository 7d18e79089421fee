// SPDX-License-Identifier: MIT

/// The mark on packets that must not go through the tunnel.
public enum FirewallMark {
    /// The mark that the sockets of the control connection and of WireGuard carry (`SO_MARK`).
    public static let value: UInt32 = 0x4e47_0000
    /// The bits of a packet's mark that are ours; the others belong to the administrator.
    public static let mask: UInt32 = 0xffff_0000
}
