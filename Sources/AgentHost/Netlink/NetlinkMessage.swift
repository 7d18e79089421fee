// SPDX-License-Identifier: MIT

/// A message of the kernel.
struct NetlinkMessage: Sendable {
    /// The type of the message.
    let type: UInt16
    /// The flags of the header.
    let flags: UInt16
    /// The number of the request that it answers; 0 for notifications.
    let sequence: UInt32
    /// What follows the header.
    let payload: ArraySlice<UInt8>

    /// The messages of one datagram; what is cut off or makes no sense ends them.
    static func messages(in datagram: ArraySlice<UInt8>) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram
        while let length: UInt32 = rest.number(at: 0), let type: UInt16 = rest.number(at: 4),
            let flags: UInt16 = rest.number(at: 6), let sequence: UInt32 = rest.number(at: 8),
            length >= NetlinkRequest.headerByteCount, Int(length) <= rest.count
        {
            let payload = rest.prefix(Int(length)).dropFirst(NetlinkRequest.headerByteCount)
            messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: payload))
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return messages
    }

    /// The attributes behind a fixed part of `offset` bytes.
    func attributes(after offset: Int) -> NetlinkAttributes {
        NetlinkAttributes(payload.dropFirst((offset + 3) & ~3))
    }
}

/// Attributes of a message, or of another attribute.
struct NetlinkAttributes: Sequence, IteratorProtocol {
    /// One attribute.
    struct Element {
        /// The type without the flag of nesting.
        let type: UInt16
        /// What it holds.
        let bytes: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func next() -> Element? {
        guard let length: UInt16 = rest.number(at: 0), let type: UInt16 = rest.number(at: 2), length >= 4,
            Int(length) <= rest.count
        else { return nil }
        defer { rest = rest.dropFirst((Int(length) + 3) & ~3) }
        // The two top bits are flags: nested, and network byte order.
        return Element(type: type & 0x3fff, bytes: rest.prefix(Int(length)).dropFirst(4))
    }
}

extension ArraySlice<UInt8> {
    /// The number at an offset from the start, in the host's byte order; `nil` beyond the end.
    func number<Number: FixedWidthInteger>(at offset: Int = 0) -> Number? {
        guard count >= offset + MemoryLayout<Number>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }

    /// The text up to the first zero.
    var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}
