// SPDX-License-Identifier: MIT

/// Numbers of netlink that every protocol shares (`linux/netlink.h`).
enum NetlinkFlag {
    static let request: UInt16 = 0x1
    static let acknowledge: UInt16 = 0x4
    static let interrupted: UInt16 = 0x10
    static let dump: UInt16 = 0x300
    static let exclusive: UInt16 = 0x200
    static let create: UInt16 = 0x400
    /// In an acknowledgement: attributes with the kernel's words follow.
    static let acknowledgementAttributes: UInt16 = 0x200
    /// In an acknowledgement: the refused message is not repeated beyond its header.
    static let cappedAcknowledgement: UInt16 = 0x100
    static let append: UInt16 = 0x800
    /// On the type of an attribute: it holds attributes.
    static let nested: UInt16 = 0x8000
}

/// Types of messages (`linux/netlink.h`, `linux/rtnetlink.h`).
enum NetlinkType {
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let deleteLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let deleteAddress: UInt16 = 21
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let deleteRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newRule: UInt16 = 32
    static let deleteRule: UInt16 = 33
    static let getRule: UInt16 = 34
}

/// Groups of notifications (`RTNLGRP_*`, as bits; `NFNLGRP_NFTABLES`).
enum NetlinkGroup {
    static let link: UInt32 = 1 << 0
    static let ipv4Address: UInt32 = 1 << 4
    static let ipv4Route: UInt32 = 1 << 6
    static let ipv4Rule: UInt32 = 1 << 7
    static let ipv6Address: UInt32 = 1 << 8
    static let ipv6Route: UInt32 = 1 << 10
    static let ipv6Rule: UInt32 = 1 << 18
    static let nfTables: UInt32 = 1 << 6

    static let routing = link | ipv4Address | ipv4Route | ipv4Rule | ipv6Address | ipv6Route | ipv6Rule
}

/// Protocols of netlink, and options of its sockets (`linux/netlink.h`).
enum NetlinkProtocol {
    static let route: Int32 = 0
    static let netfilter: Int32 = 12

    static let optionLevel: Int32 = 270
    static let capAcknowledgement: Int32 = 10
    static let extendedAcknowledgement: Int32 = 11
    static let strictChecks: Int32 = 12
}

/// Attributes of links and addresses (`linux/if_link.h`, `linux/if_addr.h`).
enum LinkAttribute {
    static let name: UInt16 = 3
    static let mtu: UInt16 = 4
    static let info: UInt16 = 18
    static let infoKind: UInt16 = 1
    static let familySpecific: UInt16 = 26
    static let ipv6AddressGeneration: UInt16 = 8

    static let address: UInt16 = 1
    static let localAddress: UInt16 = 2

    static let flagUp: UInt32 = 0x1
    static let flagLoopback: UInt32 = 0x8
    static let flagRunning: UInt32 = 0x40
    /// `IN6_ADDR_GEN_MODE_NONE`
    static let generatesNothing: UInt8 = 1
    /// `IFA_F_TENTATIVE | IFA_F_DADFAILED`
    static let addressUnusable: UInt32 = 0x48
    /// `IFA_F_NODAD`
    static let addressWithoutDuplicates: UInt8 = 0x02
    static let addressFlags: UInt16 = 8
}

/// Attributes and values of routes (`linux/rtnetlink.h`).
enum RouteAttribute {
    static let destination: UInt16 = 1
    static let outputInterface: UInt16 = 4
    static let gateway: UInt16 = 5
    static let priority: UInt16 = 6
    static let preferredSource: UInt16 = 7
    static let metrics: UInt16 = 8
    static let multipath: UInt16 = 9
    static let table: UInt16 = 15
    static let mark: UInt16 = 16
    static let via: UInt16 = 18
    static let nexthopIdentifier: UInt16 = 30
    static let metricMTU: UInt16 = 2

    static let flagCloned: UInt32 = 0x200
    static let tableMain: UInt32 = 254
    static let scopeUniverse: UInt8 = 0
    static let scopeLink: UInt8 = 253
    /// `RTPROT_KERNEL`: systemd-networkd deletes routes and rules of any other protocol that it does not know.
    static let protocolKernel: UInt8 = 2
}

/// Attributes and values of rules (`linux/fib_rules.h`).
enum RuleAttribute {
    static let priority: UInt16 = 6
    static let mark: UInt16 = 10
    static let suppressPrefixLength: UInt16 = 14
    static let suppressInterfaceGroup: UInt16 = 13
    static let table: UInt16 = 15
    static let mask: UInt16 = 16
    static let padding: UInt16 = 18
    static let protocolNumber: UInt16 = 21

    static let actionToTable: UInt8 = 1
    static let flagInvert: UInt32 = 2
}
