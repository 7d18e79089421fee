// SPDX-License-Identifier: MIT

internal import Glibc

/// Tables of nf_tables in the network namespace of the thread that makes it.
struct NFTablesNetlink: ~Copyable {
    private var socket: NetlinkSocket

    /// Opens a netlink socket.
    ///
    /// - Throws: `HostError.refused`, also where the kernel has no netfilter.
    init() throws(HostError) {
        socket = try NetlinkSocket(NetlinkProtocol.netfilter)
    }

    /// Whether a table exists in the family of IPv4 and IPv6 together.
    ///
    /// - Throws: `HostError.refused`, also where the kernel has no nf_tables.
    mutating func hasTable(_ name: String) throws(HostError) -> Bool {
        var request = Self.request(NFTables.getTable)
        request.attribute(NFTables.tableName, text: name)
        do throws(HostError) {
            return try socket.ask(request, "table \(name) of nf_tables") != nil
        } catch {
            if error.refusal == ENOENT { return false }
            throw error
        }
    }

    /// Makes a table with these chains and rules, in place of the one that has the name, in one step.
    ///
    /// - Throws: `HostError.refused`; the former table is then still there.
    mutating func replaceTable(_ name: String, chains: [NFTablesChain]) throws(HostError) {
        // Added first, so that the removal never fails.
        var requests = [Self.table(NFTables.newTable, name), Self.table(NFTables.deleteTable, name)]
        requests.append(Self.table(NFTables.newTable, name))
        for chain in chains {
            requests.append(Self.chain(chain, in: name))
            requests += chain.rules.map { Self.rule($0, of: chain, in: name) }
        }
        try perform(requests, "table \(name) of nf_tables")
    }

    /// Deletes a table.
    ///
    /// - Throws: `HostError.refused`.
    mutating func deleteTable(_ name: String) throws(HostError) {
        try perform([Self.table(NFTables.deleteTable, name)], "removal of table \(name) of nf_tables")
    }

    private mutating func perform(_ requests: [NetlinkRequest], _ operation: String) throws(HostError) {
        var requests = requests
        for index in requests.indices { requests[index].flags |= NetlinkFlag.acknowledge }
        try socket.performBatch(
            begin: Self.limit(NFTables.batchBegin), requests, end: Self.limit(NFTables.batchEnd), operation)
    }

    private static func request(_ type: UInt16, flags: UInt16 = 0) -> NetlinkRequest {
        var request = NetlinkRequest(NFTables.subsystem << 8 | type, flags: flags)
        request.append(NFTables.familyInet)
        request.append(UInt8(0))
        request.append(UInt16(0))
        return request
    }

    /// The message before or after those of a batch.
    private static func limit(_ type: UInt16) -> NetlinkRequest {
        var request = NetlinkRequest(type)
        request.append(NFTables.familyAny)
        request.append(UInt8(0))
        request.append(NFTables.subsystem.bigEndian)
        return request
    }

    private static func table(_ type: UInt16, _ name: String) -> NetlinkRequest {
        var request = request(type, flags: type == NFTables.newTable ? NetlinkFlag.create : 0)
        request.attribute(NFTables.tableName, text: name)
        return request
    }

    private static func chain(_ chain: NFTablesChain, in table: String) -> NetlinkRequest {
        var request = request(NFTables.newChain, flags: NetlinkFlag.create)
        request.attribute(NFTables.chainTable, text: table)
        request.attribute(NFTables.chainName, text: chain.name)
        request.nest(NFTables.chainHook) {
            $0.attribute(NFTables.hookNumber, bigEndian: chain.hook)
            $0.attribute(NFTables.hookPriority, bigEndian: chain.priority)
        }
        request.attribute(NFTables.chainType, text: "filter")
        return request
    }

    private static func rule(_ rule: NFTablesRule, of chain: NFTablesChain, in table: String)
        -> NetlinkRequest
    {
        var request = request(NFTables.newRule, flags: NetlinkFlag.create | NetlinkFlag.append)
        request.attribute(NFTables.ruleTable, text: table)
        request.attribute(NFTables.ruleChain, text: chain.name)
        rule.append(to: &request)
        return request
    }
}

/// A chain of type filter that packets pass at a hook.
struct NFTablesChain {
    /// The name of the chain.
    var name: String
    /// Where packets pass it.
    var hook: UInt32
    /// Chains of lower numbers come first.
    var priority: Int32
    /// The rules in order.
    var rules: [NFTablesRule]
}
