// SPDX-License-Identifier: MIT

/// A rule of policy routing that sends packets to a table, as far as we make and compare rules.
struct RuleRecord: Hashable, Sendable {
    /// Whether the rule is for IPv6.
    var isIPv6: Bool
    /// Rules with lower numbers come first.
    var priority: UInt32
    /// The number of the table to look in.
    var table: UInt32
    /// The mark that packets must have; `nil` for any.
    var mark: UInt32?
    /// The bits of the mark that count.
    var mask: UInt32?
    /// Whether the rule is for packets that do not match.
    var isInverted = false
    /// Routes with a prefix of this length or a shorter one do not count; `nil` counts all.
    var suppressedPrefixLength: Int32?
    /// Who made the rule (`RTPROT_*`).
    var protocolNumber = RouteAttribute.protocolKernel
    /// Whether the rule has an action or a condition that we never use.
    var isForeign = false

    static let fixedByteCount = 12

    init(isIPv6: Bool, priority: UInt32, table: UInt32) {
        self.isIPv6 = isIPv6
        self.priority = priority
        self.table = table
    }

    /// Reads a message of a rule; `nil` for other families.
    init?(_ message: NetlinkMessage) {
        let payload = Array(message.payload.prefix(Self.fixedByteCount))
        guard payload.count == Self.fixedByteCount, payload[0] == 2 || payload[0] == 10,
            let flags: UInt32 = message.payload.number(at: 8)
        else { return nil }
        isIPv6 = payload[0] == 10
        priority = 0
        table = UInt32(payload[4])
        isInverted = flags & RuleAttribute.flagInvert != 0
        protocolNumber = 0
        // Lengths of destination and source, type of service, action.
        isForeign =
            payload[1] != 0 || payload[2] != 0 || payload[3] != 0 || payload[7] != RuleAttribute.actionToTable
        for attribute in message.attributes(after: Self.fixedByteCount) {
            switch attribute.type {
            case RuleAttribute.priority: priority = attribute.bytes.number() ?? 0
            case RuleAttribute.table: table = attribute.bytes.number() ?? table
            case RuleAttribute.mark: mark = attribute.bytes.number()
            case RuleAttribute.mask: mask = attribute.bytes.number()
            case RuleAttribute.suppressPrefixLength:
                let length: Int32? = attribute.bytes.number()
                suppressedPrefixLength = length == -1 ? nil : length
            case RuleAttribute.suppressInterfaceGroup:
                if attribute.bytes.number() != Int32(-1) { isForeign = true }
            case RuleAttribute.protocolNumber: protocolNumber = attribute.bytes.first ?? 0
            case RuleAttribute.padding: break
            default: isForeign = true
            }
        }
    }

    /// The request that adds or deletes the rule.
    func request(_ type: UInt16, flags: UInt16 = 0) -> NetlinkRequest {
        var request = NetlinkRequest(type, flags: flags)
        let family: UInt8 = isIPv6 ? 10 : 2
        for byte in [family, 0, 0, 0, 0, 0, 0, RuleAttribute.actionToTable] { request.append(byte) }
        request.append(isInverted ? RuleAttribute.flagInvert : UInt32(0))
        request.attribute(RuleAttribute.priority, number: priority)
        request.attribute(RuleAttribute.table, number: table)
        if let mark { request.attribute(RuleAttribute.mark, number: mark) }
        if let mask { request.attribute(RuleAttribute.mask, number: mask) }
        if let length = suppressedPrefixLength {
            request.attribute(RuleAttribute.suppressPrefixLength, number: length)
        }
        request.attribute(RuleAttribute.protocolNumber, number: protocolNumber)
        return request
    }

    /// The question for all rules of a family.
    static func dump(isIPv6: Bool) -> NetlinkRequest {
        var request = NetlinkRequest(NetlinkType.getRule)
        request.append(UInt8(isIPv6 ? 10 : 2))
        for _ in 1..<fixedByteCount { request.append(UInt8(0)) }
        return request
    }
}
