// SPDX-License-Identifier: MIT

/// The path and the query that a request line names (RFC 9112, section 3.2).
struct RequestTarget {
    /// The path, decoded.
    let path: String
    /// The host, with a port or without, of a target that is a whole URL; `nil` for any other.
    let authority: String?
    /// The pairs of the query, decoded.
    let query: [(name: String, value: String)]

    /// Reads a target; `nil` when it is malformed, or holds what is no UTF-8 or a zero byte.
    init?(_ text: String) {
        var rest = text[...]
        var authority: String?
        if !rest.hasPrefix("/") {
            // The form for proxies, which every server must understand.
            let lower = text.lowercased()
            if let scheme = ["http://", "https://"].first(where: { lower.hasPrefix($0) }) {
                rest = rest.dropFirst(scheme.count)
                let host = rest.prefix { $0 != "/" && $0 != "?" }
                authority = String(host)
                rest = rest[host.endIndex...]
                if !rest.hasPrefix("/") { rest = "/" + rest }
            } else if rest != "*" {
                return nil
            }
        }
        self.authority = authority
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let path = Self.decoded(first, plusIsSpace: false) else { return nil }
        self.path = path
        var query: [(name: String, value: String)] = []
        for pair in parts.count == 2 ? parts[1].split(separator: "&") : [] {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(halves[0], plusIsSpace: true),
                let value = Self.decoded(halves.count == 2 ? halves[1] : "", plusIsSpace: true)
            else { return nil }
            query.append((name, value))
        }
        self.query = query
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var source = text.utf8.makeIterator()
        while let byte = source.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = source.next().flatMap(digit), let low = source.next().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        // A zero byte would end the text for every C library that it reaches.
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
