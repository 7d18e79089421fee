// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuard

/// An address of an interface.
struct AddressRecord: Hashable, Sendable {
    /// The number of the interface.
    var interfaceIndex: Int32
    /// The address and the length of its network.
    var address: InterfaceAddress
    /// Whether it reaches beyond the link: neither link-local nor of this host alone.
    var isGlobal = true
    /// Whether it can be used; an IPv6 address can not before it is known to be the only one.
    var isUsable = true

    init(interfaceIndex: Int32, address: InterfaceAddress) {
        self.interfaceIndex = interfaceIndex
        self.address = address
    }

    /// Reads a message of an address.
    init?(_ message: NetlinkMessage) {
        let payload = Array(message.payload.prefix(8))
        guard payload.count == 8, let index: Int32 = message.payload.number(at: 4) else { return nil }
        interfaceIndex = index
        isGlobal = payload[3] == RouteAttribute.scopeUniverse
        var flags = UInt32(payload[2])
        var local: IPAddress?
        var remote: IPAddress?
        for attribute in message.attributes(after: 8) {
            switch attribute.type {
            case LinkAttribute.address: remote = IPAddress(networkBytes: attribute.bytes)
            case LinkAttribute.localAddress: local = IPAddress(networkBytes: attribute.bytes)
            case LinkAttribute.addressFlags: flags = attribute.bytes.number() ?? flags
            default: break
            }
        }
        guard let found = local ?? remote,
            let address = InterfaceAddress(address: found, length: Int(payload[1]))
        else { return nil }
        self.address = address
        isUsable = flags & LinkAttribute.addressUnusable == 0
    }

    /// The request that adds or deletes the address.
    func request(_ type: UInt16, flags: UInt16 = 0) -> NetlinkRequest {
        var request = NetlinkRequest(type, flags: flags)
        request.append(address.address.family)
        request.append(UInt8(address.length))
        // A tunnel has no link on which another could hold the address: it is usable at once, where the search
        // for duplicates would take a second.
        request.append(address.address.isIPv6 ? LinkAttribute.addressWithoutDuplicates : 0)
        request.append(RouteAttribute.scopeUniverse)
        request.append(interfaceIndex)
        let bytes = address.address.networkBytes
        request.attribute(LinkAttribute.localAddress, bytes)
        request.attribute(LinkAttribute.address, bytes)
        return request
    }
}
