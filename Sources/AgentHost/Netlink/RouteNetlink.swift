// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuard

/// Links, addresses, routes and rules of the network namespace of the thread that makes it.
struct RouteNetlink: ~Copyable {
    private var socket: NetlinkSocket

    /// Opens a netlink socket.
    ///
    /// - Throws: `HostError.refused`.
    init() throws(HostError) {
        socket = try NetlinkSocket()
    }

    // MARK: - Links

    /// All links.
    mutating func links() throws(HostError) -> [LinkRecord] {
        var request = NetlinkRequest(NetlinkType.getLink)
        for _ in 0..<4 { request.append(UInt32(0)) }
        return try socket.dump(request, "list of the interfaces").compactMap { LinkRecord($0) }
    }

    /// The link of a name; `nil` when there is none.
    mutating func link(named name: String) throws(HostError) -> LinkRecord? {
        var request = NetlinkRequest(NetlinkType.getLink)
        for _ in 0..<4 { request.append(UInt32(0)) }
        request.attribute(LinkAttribute.name, text: name)
        do throws(HostError) {
            return try socket.ask(request, "interface \(name)").flatMap { LinkRecord($0) }
        } catch {
            if error.refusal == ENODEV { return nil }
            throw error
        }
    }

    /// Sets a link up.
    mutating func setUp(_ link: LinkRecord) throws(HostError) {
        var request = NetlinkRequest(NetlinkType.newLink)
        Self.appendLink(link.index, flags: LinkAttribute.flagUp, change: LinkAttribute.flagUp, to: &request)
        try socket.perform(request, "interface \(link.name) up")
    }

    /// Sets the size of the largest packet.
    mutating func setMTU(_ mtu: Int, of link: LinkRecord) throws(HostError) {
        var request = NetlinkRequest(NetlinkType.newLink)
        Self.appendLink(link.index, flags: 0, change: 0, to: &request)
        request.attribute(LinkAttribute.mtu, number: UInt32(clamping: mtu))
        try socket.perform(request, "MTU \(mtu) of interface \(link.name)")
    }

    /// Keeps the kernel from making up link-local addresses, and so from sending packets of its own.
    mutating func setNoGeneratedAddresses(on link: LinkRecord) throws(HostError) {
        var request = NetlinkRequest(NetlinkType.newLink)
        Self.appendLink(link.index, flags: 0, change: 0, to: &request)
        request.nest(LinkAttribute.familySpecific) { request in
            request.nest(UInt16(AF_INET6)) { request in
                request.attribute(
                    LinkAttribute.ipv6AddressGeneration, number: LinkAttribute.generatesNothing)
            }
        }
        try socket.perform(request, "address generation of interface \(link.name)")
    }

    /// Deletes a link.
    mutating func delete(_ link: LinkRecord) throws(HostError) {
        var request = NetlinkRequest(NetlinkType.deleteLink)
        Self.appendLink(link.index, flags: 0, change: 0, to: &request)
        try socket.perform(request, "removal of interface \(link.name)")
    }

    private static func appendLink(
        _ index: Int32, flags: UInt32, change: UInt32, to request: inout NetlinkRequest
    ) {
        request.append(UInt32(0))
        request.append(index)
        request.append(flags)
        request.append(change)
    }

    // MARK: - Addresses

    /// The addresses of one interface, or of all.
    mutating func addresses(of interfaceIndex: Int32? = nil) throws(HostError) -> [AddressRecord] {
        var request = NetlinkRequest(NetlinkType.getAddress)
        request.append(UInt32(0))
        request.append(interfaceIndex ?? 0)
        let messages: [NetlinkMessage]
        do throws(HostError) {
            messages = try socket.dump(request, "list of the addresses")
        } catch {
            if error.refusal == ENODEV, interfaceIndex != nil { return [] }
            throw error
        }
        return messages.compactMap { AddressRecord($0) }.filter {
            interfaceIndex == nil || $0.interfaceIndex == interfaceIndex
        }
    }

    /// Adds an address.
    mutating func add(_ address: AddressRecord) throws(HostError) {
        let request = address.request(
            NetlinkType.newAddress, flags: NetlinkFlag.create | NetlinkFlag.exclusive)
        try socket.perform(request, "address \(address.address)")
    }

    /// Deletes an address.
    mutating func delete(_ address: AddressRecord) throws(HostError) {
        try socket.perform(
            address.request(NetlinkType.deleteAddress), "removal of address \(address.address)")
    }

    // MARK: - Routes

    /// The routes of a family in one table or through one interface.
    mutating func routes(
        isIPv6: Bool, table: UInt32? = nil, interfaceIndex: Int32? = nil
    ) throws(HostError) -> [RouteRecord] {
        let request = RouteRecord.dump(isIPv6: isIPv6, table: table, interfaceIndex: interfaceIndex)
        let messages: [NetlinkMessage]
        do throws(HostError) {
            messages = try socket.dump(request, "list of the routes")
        } catch {
            // A table that does not exist has no routes, nor has an interface that is gone.
            if [ENOENT, ENODEV].contains(error.refusal) || error.meansNoFamily { return [] }
            throw error
        }
        return messages.compactMap { RouteRecord($0) }.filter { route in
            route.destination.address.isIPv6 == isIPv6 && (table == nil || route.table == table)
                && (interfaceIndex == nil || route.interfaceIndex == interfaceIndex)
        }
    }

    /// The route that a packet with a mark takes to an address; `nil` when there is none.
    mutating func route(to address: IPAddress, mark: UInt32) throws(HostError) -> RouteRecord? {
        let request = RouteRecord.lookup(of: address, mark: mark)
        do throws(HostError) {
            let route = try socket.ask(request, "route to \(address)").flatMap {
                RouteRecord($0, isAnswer: true)
            }
            guard let route, route.kind == .unicast || route.kind == .local else { return nil }
            return route
        } catch {
            if [ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, ENOENT].contains(error.refusal)
                || error.meansNoFamily
            {
                return nil
            }
            throw error
        }
    }

    /// Whether packets that bypass the tunnel have a route to an address.
    static func hasRoute(to address: IPAddress, mark: UInt32 = FirewallMark.value) -> Bool {
        guard var netlink = try? RouteNetlink() else { return false }
        return (try? netlink.route(to: address, mark: mark)) != nil
    }

    /// Adds a route.
    mutating func add(_ route: RouteRecord) throws(HostError) {
        let request = route.request(NetlinkType.newRoute, flags: NetlinkFlag.create | NetlinkFlag.exclusive)
        try socket.perform(request, "route \(route.destination) in table \(route.table)")
    }

    /// Deletes a route.
    mutating func delete(_ route: RouteRecord) throws(HostError) {
        try socket.perform(
            route.request(NetlinkType.deleteRoute),
            "removal of route \(route.destination) in table \(route.table)")
    }

    // MARK: - Rules

    /// The rules of a family; `nil` when the kernel does not have the family.
    mutating func rules(isIPv6: Bool) throws(HostError) -> [RuleRecord]? {
        do throws(HostError) {
            return try socket.dump(RuleRecord.dump(isIPv6: isIPv6), "list of the rules")
                .compactMap { RuleRecord($0) }.filter { $0.isIPv6 == isIPv6 }
        } catch {
            if error.meansNoFamily { return nil }
            throw error
        }
    }

    /// Adds a rule.
    mutating func add(_ rule: RuleRecord) throws(HostError) {
        let request = rule.request(NetlinkType.newRule, flags: NetlinkFlag.create | NetlinkFlag.exclusive)
        try socket.perform(request, "rule \(rule.priority)")
    }

    /// Deletes a rule.
    mutating func delete(_ rule: RuleRecord) throws(HostError) {
        try socket.perform(rule.request(NetlinkType.deleteRule), "removal of rule \(rule.priority)")
    }
}

extension HostError {
    /// Whether the kernel refused because it has no support for the address family.
    var meansNoFamily: Bool { refusal == EAFNOSUPPORT || refusal == EOPNOTSUPP }
}
