// SPDX-License-Identifier: MIT

/// A network interface as the kernel tells of it.
struct LinkRecord: Hashable, Sendable {
    /// The number of the interface in its namespace.
    var index: Int32
    /// The name.
    var name: String
    /// `IFF_*`
    var flags: UInt32
    /// The size of the largest packet in bytes.
    var mtu: Int
    /// The kind of a virtual interface, such as `tun`.
    var kind: String?

    /// Whether somebody has set the interface up.
    var isUp: Bool { flags & LinkAttribute.flagUp != 0 }
    /// Whether the interface is up and its carrier is there.
    var isRunning: Bool { isUp && flags & LinkAttribute.flagRunning != 0 }
    /// Whether this is the loopback interface.
    var isLoopback: Bool { flags & LinkAttribute.flagLoopback != 0 }

    static let fixedByteCount = 16

    /// Reads a message of a link; `nil` when it tells of something else, such as the port of a bridge.
    init?(_ message: NetlinkMessage) {
        let payload = message.payload
        guard payload.first == 0, let index: Int32 = payload.number(at: 4),
            let flags: UInt32 = payload.number(at: 8)
        else { return nil }
        self.index = index
        self.flags = flags
        name = ""
        mtu = 0
        for attribute in message.attributes(after: Self.fixedByteCount) {
            switch attribute.type {
            case LinkAttribute.name: name = attribute.bytes.text
            case LinkAttribute.mtu: mtu = Int(attribute.bytes.number() ?? UInt32(0))
            case LinkAttribute.info:
                for inner in NetlinkAttributes(attribute.bytes) where inner.type == LinkAttribute.infoKind {
                    kind = inner.bytes.text
                }
            default: break
            }
        }
    }
}
