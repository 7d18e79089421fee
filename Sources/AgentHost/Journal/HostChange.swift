// SPDX-License-Identifier: MIT

internal import NexusGuard

/// One change to the host, with all that is needed to undo it and nothing else.
///
/// A change is undone only where the host still has exactly what the change made.
enum HostChange: Hashable, Sendable {
    /// A tunnel interface was made; the number is missing while it is being made.
    case interface(name: String, index: Int32?)
    /// A setting of the kernel, a file below `/proc/sys/net`, was given another value.
    case setting(path: String, former: String, value: String)
    /// The table of packet marks was made.
    case packetMarks(PacketMarks)
    /// An address was added to our interface.
    case address(AddressRecord)
    /// A route was added.
    case route(RouteRecord)
    /// A rule was added.
    case rule(RuleRecord)
}
