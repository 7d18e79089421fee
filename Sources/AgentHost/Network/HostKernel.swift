// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuard

/// Makes and undoes single changes, in the network namespace of the thread that makes it.
struct HostKernel: ~Copyable {
    /// Links, addresses, routes and rules.
    var route: RouteNetlink

    /// Opens the sockets.
    ///
    /// - Throws: `HostError.refused`.
    init() throws(HostError) {
        route = try RouteNetlink()
    }

    /// Those of the changes that the host shows exactly so.
    ///
    /// - Throws: `HostError.refused`.
    mutating func survey(_ changes: [HostChange]) throws(HostError) -> Set<HostChange> {
        var rules: [Bool: [RuleRecord]] = [:]
        var routes: [RouteKey: [RouteRecord]] = [:]
        var addresses: [Int32: [AddressRecord]] = [:]
        var present: Set<HostChange> = []
        for change in changes {
            let isPresent: Bool
            switch change {
            case .interface(let name, let index): isPresent = try ownInterface(name, index) != nil
            case .setting(let path, _, let value): isPresent = Setting.read(path) == value
            case .packetMarks: isPresent = try hasPacketMarks()
            case .address(let address):
                let index = address.interfaceIndex
                let found = if let known = addresses[index] { known } else { try route.addresses(of: index) }
                addresses[index] = found
                isPresent = found.contains { $0.address == address.address }
            case .route(let wanted):
                let key = RouteKey(wanted)
                let found = if let known = routes[key] { known } else { try list(key) }
                routes[key] = found
                isPresent = found.contains { wanted.matches($0) }
            case .rule(let wanted):
                let isIPv6 = wanted.isIPv6
                let found =
                    if let known = rules[isIPv6] { known } else { try route.rules(isIPv6: isIPv6) ?? [] }
                rules[isIPv6] = found
                isPresent = found.contains(wanted)
            }
            if isPresent { present.insert(change) }
        }
        return present
    }

    /// What one list of routes is asked for.
    private struct RouteKey: Hashable {
        let isIPv6: Bool
        let table: UInt32
        let interfaceIndex: Int32

        init(_ route: RouteRecord) {
            isIPv6 = route.destination.address.isIPv6
            table = route.table
            interfaceIndex = route.interfaceIndex
        }
    }

    private mutating func list(_ key: RouteKey) throws(HostError) -> [RouteRecord] {
        try route.routes(
            isIPv6: key.isIPv6, table: key.table,
            interfaceIndex: key.interfaceIndex == 0 ? nil : key.interfaceIndex)
    }

    /// Makes a change. An interface is made by others, so there is nothing to do for it.
    ///
    /// - Throws: `HostError.refused`.
    mutating func make(_ change: HostChange) throws(HostError) {
        switch change {
        case .interface: break
        case .setting(let path, _, let value): try Setting.write(value, to: path)
        case .packetMarks(let marks):
            var tables = try NFTablesNetlink()
            try tables.replaceTable(PacketMarks.tableName, chains: marks.chains)
        case .address(let address): try route.add(address)
        case .route(let new): try route.add(new)
        case .rule(let rule): try route.add(rule)
        }
    }

    /// Undoes a change that the host shows; that it went meanwhile is no error.
    ///
    /// - Throws: `HostError.refused`.
    mutating func undo(_ change: HostChange) throws(HostError) {
        do throws(HostError) {
            switch change {
            case .interface(let name, let index):
                if let link = try ownInterface(name, index) { try route.delete(link) }
            case .setting(let path, let former, _): try Setting.write(former, to: path)
            case .packetMarks:
                var tables = try NFTablesNetlink()
                try tables.deleteTable(PacketMarks.tableName)
            case .address(let address): try route.delete(address)
            case .route(let old): try route.delete(old)
            case .rule(let rule): try route.delete(rule)
            }
        } catch {
            guard [ENOENT, ESRCH, EADDRNOTAVAIL, ENODEV].contains(error.refusal) || error.meansNoFamily else {
                throw error
            }
        }
    }

    /// The link that a journal tells of: a TUN of this name, and of this number when that is known.
    private mutating func ownInterface(_ name: String, _ index: Int32?) throws(HostError) -> LinkRecord? {
        guard let link = try route.link(named: name), link.kind == "tun" else { return nil }
        return index == nil || link.index == index ? link : nil
    }

    /// Whether the table of packet marks is there; a kernel without nf_tables has none.
    private func hasPacketMarks() throws(HostError) -> Bool {
        do throws(HostError) {
            var tables = try NFTablesNetlink()
            return try tables.hasTable(PacketMarks.tableName)
        } catch {
            // No permission is another matter: then the table may well be there.
            if error.refusal == EPERM { throw error }
            return false
        }
    }
}
