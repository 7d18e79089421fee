// SPDX-License-Identifier: MIT

internal import AgentCommandLine

/// A fault that the server shows on purpose, for tests of whoever talks to it.
package struct Fault: Hashable, Sendable {
    /// What goes wrong.
    package enum Kind: Hashable, Sendable {
        /// The answer comes this much later.
        case delay(Duration)
        /// The connection closes without an answer, and the request is not carried out.
        case drop
        /// The request is carried out, and the connection closes without an answer.
        case dropAfter
        /// The answer has this status, and the request is not carried out.
        case status(Int)
        /// An answer of `status`, 503 without one, has this `Retry-After`.
        case retryAfter(String)
        /// The content is random bytes.
        case garbage
        /// The connection closes in the middle of the content.
        case truncate
        /// The tag of an encrypted answer has one flipped bit.
        case wrongTag
        /// An encrypted answer is encrypted under another key.
        case wrongKey
        /// The content is a web page, as that of a captive portal.
        case html
        /// The answer sends the client elsewhere.
        case redirect(String)
        /// The content is well-formed and has at least this many bytes.
        case oversize(Int)
        /// The answer is for another device.
        case otherDevice
        /// This field of the answer has a value that makes no sense.
        case badField(String)
        /// Each N-th heartbeat of a device gets new keys.
        case rotateEvery(Int)
    }

    /// What goes wrong.
    package let kind: Kind
    /// The only endpoint where it does; `nil` stands for all.
    package let endpoint: ControlEndpoint?
    /// How many requests it meets; `nil` stands for all.
    package let count: Int?

    /// Creates a fault.
    package init(_ kind: Kind, endpoint: ControlEndpoint? = nil, count: Int? = nil) {
        self.kind = kind
        self.endpoint = endpoint
        self.count = count
    }

    /// Reads `KIND[=VALUE][@ENDPOINT][*COUNT]`, such as `status=503@heartbeat*3`.
    ///
    /// - Throws: `FaultError`, which repeats the text.
    package init(_ text: String) throws(FaultError) {
        var rest = text[...]
        var count: Int?
        if let star = rest.lastIndex(of: "*"), let number = Int(rest[rest.index(after: star)...]) {
            guard number > 0 else { throw FaultError(text, "the count must be at least 1") }
            count = number
            rest = rest[..<star]
        }
        var endpoint: ControlEndpoint?
        if let at = rest.lastIndex(of: "@") {
            let name = String(rest[rest.index(after: at)...])
            endpoint = ControlEndpoint(rawValue: name)
            // An address may have such a sign too.
            if endpoint == nil, !rest.hasPrefix("redirect=") {
                let names = ControlEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
                throw FaultError(text, "there is no endpoint '\(name)'; there are \(names)")
            }
            if endpoint != nil { rest = rest[..<at] }
        }
        let parts = rest.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1]) : nil
        self.init(
            try Self.kind(String(parts.first ?? ""), value: value, of: text), endpoint: endpoint, count: count
        )
    }

    private static func kind(
        _ name: String, value: String?, of text: String
    ) throws(FaultError) -> Kind {
        switch (name, value) {
        case ("drop", nil): return .drop
        case ("drop-after", nil): return .dropAfter
        case ("garbage", nil): return .garbage
        case ("truncate", nil): return .truncate
        case ("wrong-tag", nil): return .wrongTag
        case ("wrong-key", nil): return .wrongKey
        case ("html", nil): return .html
        case ("other-device", nil): return .otherDevice
        case ("delay", let value?):
            guard let delay = TimeSpan.parse(value), delay <= .seconds(3600) else {
                throw FaultError(text, "the delay must be a time up to an hour, such as 2s or 500ms")
            }
            return .delay(delay)
        case ("status", let value?):
            guard let status = Int(value), (200...599).contains(status) else {
                throw FaultError(text, "the status must be from 200 to 599")
            }
            return .status(status)
        case ("retry-after", let value?):
            // A line break would let the value add fields of its own.
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
                throw FaultError(text, "the value must be printable ASCII")
            }
            return .retryAfter(value)
        case ("redirect", let value?):
            guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw FaultError(text, "the address must be printable ASCII without spaces")
            }
            return .redirect(value)
        case ("oversize", let value?):
            guard let count = Int(value), (1...64 << 20).contains(count) else {
                throw FaultError(text, "the number of bytes must be from 1 to 67108864")
            }
            return .oversize(count)
        case ("bad-field", let value?):
            guard !value.isEmpty else { throw FaultError(text, "the name of a field is missing") }
            return .badField(value)
        case ("rotate-every", let value?):
            guard let count = Int(value), count > 0 else {
                throw FaultError(text, "the number of heartbeats must be at least 1")
            }
            return .rotateEvery(count)
        case ("drop", _?), ("drop-after", _?), ("garbage", _?), ("truncate", _?), ("wrong-tag", _?),
            ("wrong-key", _?), ("html", _?), ("other-device", _?):
            throw FaultError(text, "'\(name)' takes no value")
        case ("delay", nil), ("status", nil), ("retry-after", nil), ("redirect", nil), ("oversize", nil),
            ("bad-field", nil), ("rotate-every", nil):
            throw FaultError(text, "'\(name)' needs a value")
        default: throw FaultError(text, "there is no such fault; see nexusguard-control serve --help")
        }
    }
}

/// Why a text is no fault.
package struct FaultError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    package let text: String
    /// What is wrong with it.
    package let reason: String

    init(_ text: String, _ reason: String) {
        self.text = text
        self.reason = reason
    }

    /// One sentence.
    package var description: String { "fault '\(text)': \(reason)" }
}
