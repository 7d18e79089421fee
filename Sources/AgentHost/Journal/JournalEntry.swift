// SPDX-License-Identifier: MIT

internal import NexusGuard

/// A change to the host as version 1 of the journal's file holds it.
///
/// The fields are those that the kind of the change needs.
struct JournalEntry: Codable {
    var kind: String
    var name: String?
    var index: Int32?
    var path: String?
    var former: String?
    var value: String?
    var addresses: [String]?
    var destination: String?
    var action: UInt8?
    var table: UInt32?
    var metric: UInt32?
    var scope: UInt8?
    var origin: UInt8?
    var isIPv6: Bool?
    var priority: UInt32?
    var mark: UInt32?
    var mask: UInt32?
    var isInverted: Bool?
    var suppressedPrefixLength: Int32?

    init(_ change: HostChange) {
        switch change {
        case .interface(let name, let index):
            kind = "interface"
            self.name = name
            self.index = index
        case .setting(let path, let former, let value):
            kind = "setting"
            self.path = path
            self.former = former
            self.value = value
        case .packetMarks(let marks):
            kind = "packetMarks"
            name = marks.interfaceName
            addresses = marks.addresses.map(\.description)
        case .address(let address):
            kind = "address"
            index = address.interfaceIndex
            addresses = [address.address.description]
        case .route(let route):
            kind = "route"
            destination = route.destination.description
            action = route.kind.rawValue
            index = route.interfaceIndex
            table = route.table
            metric = route.metric
            scope = route.scope
            origin = route.protocolNumber
        case .rule(let rule):
            kind = "rule"
            isIPv6 = rule.isIPv6
            priority = rule.priority
            table = rule.table
            mark = rule.mark
            mask = rule.mask
            isInverted = rule.isInverted
            suppressedPrefixLength = rule.suppressedPrefixLength
            origin = rule.protocolNumber
        }
    }

    /// The change; `nil` when fields are missing or make no sense.
    var change: HostChange? {
        switch kind {
        case "interface": name.map { .interface(name: $0, index: index) }
        case "setting": setting
        case "packetMarks": packetMarks
        case "address": address.map { .address($0) }
        case "route": route.map { .route($0) }
        case "rule": rule.map { .rule($0) }
        default: nil
        }
    }

    private var setting: HostChange? {
        guard let path, let former, let value, Setting.isSafe(path) else { return nil }
        return .setting(path: path, former: former, value: value)
    }

    private var packetMarks: HostChange? {
        guard let name, let addresses else { return nil }
        let known = addresses.compactMap { try? IPAddress($0) }
        guard known.count == addresses.count else { return nil }
        return .packetMarks(PacketMarks(interfaceName: name, addresses: known))
    }

    private var address: AddressRecord? {
        guard let index, let text = addresses?.first, let address = try? InterfaceAddress(text) else {
            return nil
        }
        return AddressRecord(interfaceIndex: index, address: address)
    }

    private var route: RouteRecord? {
        guard let text = destination, let destination = try? IPPrefix(text), let action,
            let kind = RouteRecord.Kind(rawValue: action), let index, let table, let metric, let scope,
            let origin
        else { return nil }
        return RouteRecord(
            destination: destination, table: table, kind: kind, interfaceIndex: index, metric: metric,
            protocolNumber: origin, scope: scope)
    }

    private var rule: RuleRecord? {
        guard let isIPv6, let priority, let table, let isInverted, let origin else { return nil }
        var rule = RuleRecord(isIPv6: isIPv6, priority: priority, table: table)
        rule.mark = mark
        rule.mask = mask
        rule.isInverted = isInverted
        rule.suppressedPrefixLength = suppressedPrefixLength
        rule.protocolNumber = origin
        return rule
    }
}
