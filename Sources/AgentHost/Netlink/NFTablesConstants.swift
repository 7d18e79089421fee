// SPDX-License-Identifier: MIT

/// Numbers of nf_tables (`linux/netfilter/nfnetlink.h`, `linux/netfilter/nf_tables.h`).
enum NFTables {
    /// The subsystem, in the upper byte of a message's type.
    static let subsystem: UInt16 = 10
    static let batchBegin: UInt16 = 0x10
    static let batchEnd: UInt16 = 0x11

    static let newTable: UInt16 = 0
    static let getTable: UInt16 = 1
    static let deleteTable: UInt16 = 2
    static let newChain: UInt16 = 3
    static let newRule: UInt16 = 6

    static let familyAny: UInt8 = 0
    static let familyInet: UInt8 = 1

    static let tableName: UInt16 = 1

    static let chainTable: UInt16 = 1
    static let chainName: UInt16 = 3
    static let chainHook: UInt16 = 4
    static let chainType: UInt16 = 7
    static let hookNumber: UInt16 = 1
    static let hookPriority: UInt16 = 2
    static let hookPrerouting: UInt32 = 0
    static let hookPostrouting: UInt32 = 4
    static let priorityRaw: Int32 = -300
    static let priorityMangle: Int32 = -150

    static let ruleTable: UInt16 = 1
    static let ruleChain: UInt16 = 2
    static let ruleExpressions: UInt16 = 4
    static let listElement: UInt16 = 1
    static let expressionName: UInt16 = 1
    static let expressionData: UInt16 = 2

    static let register1: UInt32 = 1
    static let registerVerdict: UInt32 = 0
    static let dataValue: UInt16 = 1
    static let dataVerdict: UInt16 = 2
    static let verdictCode: UInt16 = 1
    static let verdictDrop: UInt32 = 0

    static let metaDestination: UInt16 = 1
    static let metaKey: UInt16 = 2
    static let metaSource: UInt16 = 3
    static let metaMark: UInt32 = 3
    static let metaInputInterfaceName: UInt32 = 6
    static let metaFamily: UInt32 = 15

    static let connectionDestination: UInt16 = 1
    static let connectionKey: UInt16 = 2
    static let connectionSource: UInt16 = 4
    static let connectionMark: UInt32 = 3

    static let compareSource: UInt16 = 1
    static let compareOperation: UInt16 = 2
    static let compareData: UInt16 = 3
    static let compareEqual: UInt32 = 0
    static let compareUnequal: UInt32 = 1

    static let bitwiseSource: UInt16 = 1
    static let bitwiseDestination: UInt16 = 2
    static let bitwiseLength: UInt16 = 3
    static let bitwiseMask: UInt16 = 4
    static let bitwiseExclusiveOr: UInt16 = 5

    static let payloadDestination: UInt16 = 1
    static let payloadBase: UInt16 = 2
    static let payloadOffset: UInt16 = 3
    static let payloadLength: UInt16 = 4
    static let payloadNetworkHeader: UInt32 = 1

    static let fibDestination: UInt16 = 1
    static let fibResult: UInt16 = 2
    static let fibFlags: UInt16 = 3
    static let fibAddressType: UInt32 = 3
    static let fibSourceAddress: UInt32 = 1

    static let immediateDestination: UInt16 = 1
    static let immediateData: UInt16 = 2

    /// `RTN_LOCAL`
    static let addressTypeLocal: UInt32 = 2
    static let interfaceNameByteCount = 16
}
