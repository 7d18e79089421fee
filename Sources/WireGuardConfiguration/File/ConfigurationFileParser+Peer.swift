// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

extension ConfigurationFileParser {
    /// The reason for a value that should be a key; the value itself is never shown.
    static let notAKey = "is not 44 base64 characters that stand for 32 bytes"

    /// Reads the value of a key of `[Peer]`.
    mutating func readPeerValue(
        _ key: ConfigurationFileKey, _ value: RawSpan
    ) throws(ConfigurationFileError) {
        switch key {
        case .publicKey:
            guard let publicKey = try? PublicKey(base64Bytes: value) else {
                throw error(key.rawValue, Self.notAKey)
            }
            peer?.publicKey = publicKey
        case .presharedKey:
            guard let secret = try? PresharedKey(base64Bytes: value) else {
                throw error(key.rawValue, Self.notAKey)
            }
            if secret.isZero { warn(key, "is all zero, which is the same as no preshared key") }
            peer?.presharedKey = secret.isZero ? nil : secret
        case .allowedIPs: try readAllowedIPs(value)
        case .endpoint:
            let endpoint = try endpoint(value)
            peer?.endpoint = endpoint
        case .persistentKeepalive:
            let isOff = value.isEqual(ignoringCase: "off")
            let seconds = isOff ? 0 : try number(key, value, in: 0...65535, orOff: true)
            peer?.persistentKeepalive = UInt16(seconds)
        default: preconditionFailure("keys of the interface are read elsewhere")
        }
    }

    /// Adds the prefixes of one line.
    private mutating func readAllowedIPs(_ value: RawSpan) throws(ConfigurationFileError) {
        var start = 0
        while let range = Self.nextItem(in: value, from: &start) {
            var item = value.extracting(range)
            if item.byteCount > 0, item.byte(0) == UInt8(ascii: "-") {
                throw error(
                    "AllowedIPs",
                    "\(QuotedText.value(item)) takes a prefix away, which only a running tunnel can do")
            }
            // A plus sign says what a plain prefix does here too.
            if item.byteCount > 0, item.byte(0) == UInt8(ascii: "+") {
                item = item.extracting(1..<item.byteCount)
            }
            let (address, length) = try addressAndLength(.allowedIPs, item)
            guard let prefix = IPPrefix(address: address, length: length) else {
                preconditionFailure("the length was checked against the family")
            }
            peer?.allowedIPs.append(prefix)
            if let before = linesOfPrefixes.updateValue(line, forKey: prefix), before < (peer?.line ?? 0) {
                warn(.allowedIPs, "\(prefix) moves here from the peer that got it in line \(before)")
            }
        }
    }

    /// Reads an endpoint; a host name stays one.
    private func endpoint(_ value: RawSpan) throws(ConfigurationFileError) -> Endpoint {
        do {
            return try Endpoint(value.string)
        } catch {
            throw self.error("Endpoint", Self.reason(of: error, value))
        }
    }

    /// Why an endpoint is refused.
    private static func reason(of error: AddressError, _ value: RawSpan) -> String {
        let shown = QuotedText.value(value)
        return switch error {
        case .missingPort: "\(shown) has no port"
        case .invalidPort: "\(shown) has no port from 1 to 65535"
        case .needsBrackets where !mayBeIPv6(value): "\(shown) holds neither an IP address nor a host name"
        case .needsBrackets: "\(shown) needs brackets around its IPv6 address: [address]:port"
        case .notAnAddress, .invalidPrefixLength: "\(shown) holds no IP address"
        case .invalidHostName: "\(shown) holds neither an IP address nor a host name"
        }
    }

    /// Whether a text has the characters of an IPv6 address up to a zone, so that brackets are what it lacks.
    private static func mayBeIPv6(_ text: RawSpan) -> Bool {
        for index in 0..<text.byteCount {
            switch text.byte(index) {
            case UInt8(ascii: "%"): return true
            case 48...57, 65...70, 97...102: break
            case UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "]"): break
            default: return false
            }
        }
        return true
    }

    // MARK: Values of both sections

    /// Reads an address with or without a length; without one it is that one address.
    func addressAndLength(
        _ key: ConfigurationFileKey, _ item: RawSpan
    ) throws(ConfigurationFileError) -> (IPAddress, Int) {
        guard item.byteCount > 0 else {
            throw error(key.rawValue, "has nothing between or behind its commas")
        }
        let slash = item.firstIndex(of: UInt8(ascii: "/"))
        guard let address = IPAddress(bytes: item.extracting(0..<(slash ?? item.byteCount))) else {
            throw error(
                key.rawValue, "\(QuotedText.value(item)) is not an IP address with or without /length")
        }
        guard let slash else { return (address, address.bitCount) }
        let digits = item.extracting(slash + 1..<item.byteCount)
        guard let length = digits.decimal(upTo: UInt64(address.bitCount)) else {
            throw error(key.rawValue, "\(QuotedText.value(item)) has no length from 0 to \(address.bitCount)")
        }
        return (address, Int(length))
    }

    /// Reads a decimal number.
    func number(
        _ key: ConfigurationFileKey, _ value: RawSpan, in range: ClosedRange<UInt64>, orOff: Bool = false
    ) throws(ConfigurationFileError) -> UInt64 {
        guard let number = value.decimal(upTo: range.upperBound), range.contains(number) else {
            let words = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw error(
                key.rawValue, "\(QuotedText.value(value)) is \(orOff ? "neither off nor" : "not") \(words)")
        }
        return number
    }

    /// The next item of a list with commas, without white space around it; `nil` behind the last one.
    static func nextItem(in value: RawSpan, from start: inout Int) -> Range<Int>? {
        guard start <= value.byteCount else { return nil }
        let end = value.firstIndex(of: UInt8(ascii: ","), from: start) ?? value.byteCount
        defer { start = end + 1 }
        return value.trimmed(start..<end)
    }
}
