// SPDX-License-Identifier: MIT

internal import NexusGuard

/// A route of a table, as far as we make and compare routes.
struct RouteRecord: Hashable, Sendable {
    /// What a route does with packets.
    enum Kind: UInt8, Codable, Sendable {
        /// Sends them out.
        case unicast = 1
        /// Keeps them on this host.
        case local = 2
        case broadcast = 3
        case anycast = 4
        case multicast = 5
        case blackhole = 6
        /// Refuses them: whoever sent them learns at once that there is no way.
        case unreachable = 7
        case prohibit = 8
        case `throw` = 9
        case nat = 10
        case external = 11
    }

    /// Where packets are sent.
    var destination: IPPrefix
    /// The number of the table.
    var table: UInt32
    /// What happens to packets.
    var kind: Kind
    /// The interface that they leave by; 0 when none is named.
    var interfaceIndex: Int32
    /// The metric; 0 is none for IPv4.
    var metric: UInt32
    /// Who made the route (`RTPROT_*`).
    var protocolNumber: UInt8
    /// How far the destination is (`RT_SCOPE_*`).
    var scope: UInt8
    /// The next router.
    var gateway: IPAddress?
    /// The address that packets of this host get as their source.
    var preferredSource: IPAddress?
    /// The MTU that the route asks for.
    var mtu: Int?
    /// Whether the route has more than one way, or one that is an object of its own.
    var isCompound = false

    static let fixedByteCount = 12

    init(
        destination: IPPrefix, table: UInt32, kind: Kind, interfaceIndex: Int32, metric: UInt32,
        protocolNumber: UInt8 = RouteAttribute.protocolKernel, scope: UInt8
    ) {
        self.destination = destination
        self.table = table
        self.kind = kind
        self.interfaceIndex = interfaceIndex
        self.metric = metric
        self.protocolNumber = protocolNumber
        self.scope = scope
    }

    /// Reads a message of a route.
    ///
    /// - Parameter isAnswer: Whether it is the way of one packet, of which the kernel always tells as of a copy.
    /// - Returns: `nil` for other families, and for copies in lists of routes.
    init?(_ message: NetlinkMessage, isAnswer: Bool = false) {
        let payload = Array(message.payload.prefix(Self.fixedByteCount))
        guard payload.count == Self.fixedByteCount, let kind = Kind(rawValue: payload[7]),
            let flags: UInt32 = message.payload.number(at: 8),
            isAnswer || flags & RouteAttribute.flagCloned == 0
        else { return nil }
        self.kind = kind
        table = UInt32(payload[4])
        protocolNumber = payload[5]
        scope = payload[6]
        interfaceIndex = 0
        metric = 0
        let isIPv6 = payload[0] == Self.familyIPv6
        guard isIPv6 || payload[0] == Self.familyIPv4 else { return nil }
        var address = IPPrefix.everything(isIPv6: isIPv6).address
        for attribute in message.attributes(after: Self.fixedByteCount) {
            switch attribute.type {
            case RouteAttribute.destination: address = IPAddress(networkBytes: attribute.bytes) ?? address
            case RouteAttribute.outputInterface: interfaceIndex = attribute.bytes.number() ?? 0
            case RouteAttribute.gateway: gateway = IPAddress(networkBytes: attribute.bytes)
            case RouteAttribute.preferredSource: preferredSource = IPAddress(networkBytes: attribute.bytes)
            case RouteAttribute.priority: metric = attribute.bytes.number() ?? 0
            case RouteAttribute.table: table = attribute.bytes.number() ?? table
            case RouteAttribute.multipath, RouteAttribute.via, RouteAttribute.nexthopIdentifier:
                isCompound = true
            case RouteAttribute.metrics:
                for inner in NetlinkAttributes(attribute.bytes) where inner.type == RouteAttribute.metricMTU {
                    mtu = inner.bytes.number().map { (number: UInt32) in Int(number) }
                }
            default: break
            }
        }
        guard let destination = IPPrefix(address: address, length: Int(payload[1])) else { return nil }
        self.destination = destination
    }

    /// Whether the other route is this one, of which the kernel may tell more than was said when it was made.
    func matches(_ other: RouteRecord) -> Bool {
        // An IPv6 route without an interface is told of with the loopback interface.
        let isSameInterface = kind == .unreachable || interfaceIndex == other.interfaceIndex
        return destination == other.destination && table == other.table && kind == other.kind
            && metric == other.metric && protocolNumber == other.protocolNumber && isSameInterface
            && other.gateway == nil && !other.isCompound
    }

    /// The request that adds or deletes the route.
    func request(_ type: UInt16, flags: UInt16 = 0) -> NetlinkRequest {
        var request = NetlinkRequest(type, flags: flags)
        Self.appendHeader(
            to: &request, family: destination.address.family, length: UInt8(destination.length),
            protocolNumber: protocolNumber, scope: scope, kind: kind.rawValue)
        request.attribute(RouteAttribute.table, number: table)
        if destination.length > 0 {
            request.attribute(RouteAttribute.destination, destination.address.networkBytes)
        }
        if interfaceIndex != 0 { request.attribute(RouteAttribute.outputInterface, number: interfaceIndex) }
        if metric != 0 { request.attribute(RouteAttribute.priority, number: metric) }
        return request
    }

    /// The question for the route that a packet to an address takes.
    static func lookup(of address: IPAddress, mark: UInt32) -> NetlinkRequest {
        var request = NetlinkRequest(NetlinkType.getRoute)
        appendHeader(
            to: &request, family: address.family, length: UInt8(address.bitCount), protocolNumber: 0,
            scope: 0,
            kind: 0)
        request.attribute(RouteAttribute.destination, address.networkBytes)
        if mark != 0 { request.attribute(RouteAttribute.mark, number: mark) }
        return request
    }

    /// The question for all routes of a family, or for those of one table or one interface, where the kernel
    /// can tell them apart.
    static func dump(isIPv6: Bool, table: UInt32? = nil, interfaceIndex: Int32? = nil) -> NetlinkRequest {
        var request = NetlinkRequest(NetlinkType.getRoute)
        appendHeader(
            to: &request, family: isIPv6 ? familyIPv6 : familyIPv4, length: 0, protocolNumber: 0, scope: 0,
            kind: 0)
        if let table { request.attribute(RouteAttribute.table, number: table) }
        if let interfaceIndex { request.attribute(RouteAttribute.outputInterface, number: interfaceIndex) }
        return request
    }

    private static let familyIPv4: UInt8 = 2
    private static let familyIPv6: UInt8 = 10

    private static func appendHeader(
        to request: inout NetlinkRequest, family: UInt8, length: UInt8, protocolNumber: UInt8, scope: UInt8,
        kind: UInt8
    ) {
        // Family, lengths of destination and source, type of service, table (named by its attribute).
        for byte in [family, length, 0, 0, 0, protocolNumber, scope, kind] { request.append(byte) }
        request.append(UInt32(0))
    }
}
