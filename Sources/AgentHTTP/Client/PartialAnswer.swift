// SPDX-License-Identifier: MIT

/// An answer as far as it has come.
struct PartialAnswer {
    /// The status of the last status line; 0 before it.
    private(set) var status = 0
    private(set) var headers: [(name: String, value: String)] = []
    /// Whether the header of the final answer is complete.
    private(set) var isHeaderComplete = false
    /// The content that is kept.
    var body: [UInt8] = []
    private var headerByteCount = 0

    /// Takes one line of the header.
    ///
    /// - Returns: Whether the header is still of a sensible size.
    mutating func takeHeaderLine(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        headerByteCount += bytes.count
        guard headerByteCount <= Self.headerLimit else { return false }
        // Fields after the content: nothing here needs them, and they must not pass for those before it.
        guard !isHeaderComplete else { return true }
        let line = bytes[..<(bytes.firstIndex { $0 == 0x0d || $0 == 0x0a } ?? bytes.endIndex)]
        if line.isEmpty {
            isHeaderComplete = status >= 200
        } else if line.starts(with: "HTTP/".utf8) {
            // An interim answer (1xx) is followed by another header.
            status = Self.status(in: line)
            headers = []
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = line[line.index(after: colon)...]
            headers.append((Self.text(line[..<colon]), Self.text(Self.trimmed(value))))
        }
        return true
    }

    private static func status(in line: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        let digits = line.drop { $0 != 0x20 }.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
        return Int(text(digits)) ?? 0
    }

    private static func trimmed(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        var rest = bytes.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
        return rest
    }

    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    private static let headerLimit = 65_536
}
