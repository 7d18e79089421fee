// SPDX-License-Identifier: MIT

/// A request to the kernel while it is put together: the header, a fixed part, attributes.
struct NetlinkRequest {
    /// The type of the message.
    let type: UInt16
    /// The flags of the header; `request` is always among them.
    var flags: UInt16
    /// What follows the header.
    private(set) var payload: [UInt8] = []

    static let headerByteCount = 16

    init(_ type: UInt16, flags: UInt16 = 0) {
        self.type = type
        self.flags = flags | NetlinkFlag.request
    }

    /// Appends a number of the fixed part, in the host's byte order.
    mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number) { payload.append(contentsOf: $0) }
    }

    /// Appends an attribute of bytes, padded to 4.
    mutating func attribute(_ type: UInt16, _ bytes: some Collection<UInt8>) {
        append(UInt16(4 + bytes.count))
        append(type)
        payload.append(contentsOf: bytes)
        pad()
    }

    /// Appends an attribute of one number, in the host's byte order.
    mutating func attribute(_ type: UInt16, number: some FixedWidthInteger) {
        attribute(type, withUnsafeBytes(of: number) { Array($0) })
    }

    /// Appends an attribute of one number in network order, as nf_tables has them.
    mutating func attribute(_ type: UInt16, bigEndian number: some FixedWidthInteger) {
        attribute(type, number: number.bigEndian)
    }

    /// Appends an attribute of a text that ends with a zero.
    mutating func attribute(_ type: UInt16, text: String) {
        attribute(type, Array(text.utf8) + [0])
    }

    /// Appends an attribute that holds what `body` appends.
    mutating func nest(_ type: UInt16, _ body: (inout NetlinkRequest) -> Void) {
        let start = payload.count
        append(UInt16(0))
        append(type | NetlinkFlag.nested)
        body(&self)
        let count = UInt16(truncatingIfNeeded: payload.count - start)
        withUnsafeBytes(of: count) { payload.replaceSubrange(start..<start + 2, with: $0) }
    }

    /// The whole message.
    func message(sequence: UInt32) -> [UInt8] {
        var header = NetlinkRequest(type)
        header.append(UInt32(Self.headerByteCount + payload.count))
        header.append(type)
        header.append(flags)
        header.append(sequence)
        header.append(UInt32(0))
        return header.payload + payload
    }

    private mutating func pad() {
        while payload.count % 4 != 0 { payload.append(0) }
    }
}
