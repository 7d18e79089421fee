// SPDX-License-Identifier: MIT

internal import Glibc

/// Names and numbers of network interfaces.
enum InterfaceIndex {
    /// The name of the interface with this number.
    static func name(_ index: UInt32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            return if_indextoname(index, start).map { String(cString: $0) }
        }
    }

    /// The number of the interface with this name; digits are a number already.
    static func index(_ name: String) -> UInt32? {
        let index = if_nametoindex(name)
        return index != 0 ? index : UInt32(name)
    }
}
