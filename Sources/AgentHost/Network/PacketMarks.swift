// SPDX-License-Identifier: MIT

internal import NexusGuard

/// The table of nf_tables that a full tunnel needs beside its routes.
///
/// It gives the answers to marked packets the mark of the question, so that the reverse-path filter looks for the
/// way back where the question went: outside the tunnel. And it drops packets to the tunnel's addresses that come
/// in by another interface, by which neighbours could find out about connections in the tunnel.
struct PacketMarks: Hashable, Sendable {
    /// The name of the table.
    static let tableName = "nexusguard-route"

    /// The name of the tunnel's interface.
    var interfaceName: String
    /// The addresses of the tunnel's interface.
    var addresses: [IPAddress]

    /// The chains of the table.
    var chains: [NFTablesChain] {
        let isMarked = FirewallMark.value & FirewallMark.mask
        return [
            NFTablesChain(
                name: "strangers", hook: NFTables.hookPrerouting, priority: NFTables.priorityRaw,
                rules: addresses.map { dropStrangers(to: $0) }),
            NFTablesChain(
                name: "restore", hook: NFTables.hookPrerouting, priority: NFTables.priorityMangle,
                rules: [
                    NFTablesRule().connectionMark().masked(FirewallMark.mask).compare(number: isMarked)
                        .connectionMark().setMark()
                ]),
            NFTablesChain(
                name: "save", hook: NFTables.hookPostrouting, priority: NFTables.priorityMangle,
                rules: [
                    NFTablesRule().meta(NFTables.metaMark).masked(FirewallMark.mask).compare(number: isMarked)
                        .meta(NFTables.metaMark).setConnectionMark()
                ]),
        ]
    }

    private func dropStrangers(to address: IPAddress) -> NFTablesRule {
        var name = Array(interfaceName.utf8.prefix(NFTables.interfaceNameByteCount - 1))
        name += [UInt8](repeating: 0, count: NFTables.interfaceNameByteCount - name.count)
        let bytes = address.networkBytes
        return NFTablesRule()
            .meta(NFTables.metaFamily).compare([address.family])
            .meta(NFTables.metaInputInterfaceName).compare(name, isEqual: false)
            .header(offset: address.isIPv6 ? 24 : 16, byteCount: bytes.count).compare(bytes)
            .sourceAddressType().compare(number: NFTables.addressTypeLocal, isEqual: false)
            .drop()
    }
}
