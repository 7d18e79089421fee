// SPDX-License-Identifier: MIT

/// One rule of a chain, as the list of its expressions; all work on the first register.
struct NFTablesRule {
    private var expressions: [(name: String, body: (inout NetlinkRequest) -> Void)] = []

    /// Loads a property of the packet: its mark, its family, the name of the interface that it came in by.
    func meta(_ key: UInt32) -> NFTablesRule {
        adding("meta") {
            $0.attribute(NFTables.metaKey, bigEndian: key)
            $0.attribute(NFTables.metaDestination, bigEndian: NFTables.register1)
        }
    }

    /// Loads the mark of the packet's connection.
    func connectionMark() -> NFTablesRule {
        adding("ct") {
            $0.attribute(NFTables.connectionKey, bigEndian: NFTables.connectionMark)
            $0.attribute(NFTables.connectionDestination, bigEndian: NFTables.register1)
        }
    }

    /// Loads bytes of the IP header.
    func header(offset: Int, byteCount: Int) -> NFTablesRule {
        adding("payload") {
            $0.attribute(NFTables.payloadDestination, bigEndian: NFTables.register1)
            $0.attribute(NFTables.payloadBase, bigEndian: NFTables.payloadNetworkHeader)
            $0.attribute(NFTables.payloadOffset, bigEndian: UInt32(offset))
            $0.attribute(NFTables.payloadLength, bigEndian: UInt32(byteCount))
        }
    }

    /// Loads what the source address is to this host, such as one of its own.
    func sourceAddressType() -> NFTablesRule {
        adding("fib") {
            $0.attribute(NFTables.fibDestination, bigEndian: NFTables.register1)
            $0.attribute(NFTables.fibResult, bigEndian: NFTables.fibAddressType)
            $0.attribute(NFTables.fibFlags, bigEndian: NFTables.fibSourceAddress)
        }
    }

    /// Clears the bits outside a mask.
    func masked(_ mask: UInt32) -> NFTablesRule {
        adding("bitwise") { request in
            request.attribute(NFTables.bitwiseSource, bigEndian: NFTables.register1)
            request.attribute(NFTables.bitwiseDestination, bigEndian: NFTables.register1)
            request.attribute(NFTables.bitwiseLength, bigEndian: UInt32(4))
            request.nest(NFTables.bitwiseMask) { $0.attribute(NFTables.dataValue, number: mask) }
            request.nest(NFTables.bitwiseExclusiveOr) { $0.attribute(NFTables.dataValue, number: UInt32(0)) }
        }
    }

    /// Goes on only if what is loaded is, or is not, these bytes.
    func compare(_ bytes: [UInt8], isEqual: Bool = true) -> NFTablesRule {
        adding("cmp") { request in
            request.attribute(NFTables.compareSource, bigEndian: NFTables.register1)
            request.attribute(
                NFTables.compareOperation,
                bigEndian: isEqual ? NFTables.compareEqual : NFTables.compareUnequal)
            request.nest(NFTables.compareData) { $0.attribute(NFTables.dataValue, bytes) }
        }
    }

    /// Goes on only if what is loaded is, or is not, this number in the host's byte order.
    func compare(number: UInt32, isEqual: Bool = true) -> NFTablesRule {
        compare(withUnsafeBytes(of: number) { Array($0) }, isEqual: isEqual)
    }

    /// Makes what is loaded the packet's mark.
    func setMark() -> NFTablesRule {
        adding("meta") {
            $0.attribute(NFTables.metaKey, bigEndian: NFTables.metaMark)
            $0.attribute(NFTables.metaSource, bigEndian: NFTables.register1)
        }
    }

    /// Makes what is loaded the mark of the packet's connection.
    func setConnectionMark() -> NFTablesRule {
        adding("ct") {
            $0.attribute(NFTables.connectionKey, bigEndian: NFTables.connectionMark)
            $0.attribute(NFTables.connectionSource, bigEndian: NFTables.register1)
        }
    }

    /// Drops the packet.
    func drop() -> NFTablesRule {
        adding("immediate") { request in
            request.attribute(NFTables.immediateDestination, bigEndian: NFTables.registerVerdict)
            request.nest(NFTables.immediateData) { request in
                request.nest(NFTables.dataVerdict) {
                    $0.attribute(NFTables.verdictCode, bigEndian: NFTables.verdictDrop)
                }
            }
        }
    }

    /// Appends the list of expressions to a request.
    func append(to request: inout NetlinkRequest) {
        request.nest(NFTables.ruleExpressions) { request in
            for expression in expressions {
                request.nest(NFTables.listElement) { request in
                    request.attribute(NFTables.expressionName, text: expression.name)
                    request.nest(NFTables.expressionData, expression.body)
                }
            }
        }
    }

    private func adding(_ name: String, _ body: @escaping (inout NetlinkRequest) -> Void) -> NFTablesRule {
        var rule = self
        rule.expressions.append((name, body))
        return rule
    }
}
