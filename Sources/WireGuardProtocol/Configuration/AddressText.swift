// SPDX-License-Identifier: MIT

/// The text forms of addresses, read and written without a resolver.
enum AddressText {
    /// Reads an IPv4 or IPv6 address, or gives `nil`.
    static func address(_ text: some Collection<UInt8>) -> IPAddress? {
        guard text.contains(UInt8(ascii: ":")) else {
            return ipv4(text).map { IPAddress(ipv4: $0) }
        }
        return ipv6(text)
    }

    /// Reads four decimal numbers without leading zeros, which some readers would take for octal.
    private static func ipv4(_ text: some Collection<UInt8>) -> UInt32? {
        var result: UInt32 = 0
        var groups = 0
        for group in text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard (1...3).contains(group.count), group.count == 1 || group.first != UInt8(ascii: "0") else {
                return nil
            }
            var value: UInt32 = 0
            for byte in group {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + UInt32(byte - 48)
            }
            guard value <= 255 else { return nil }
            result = result << 8 | value
            groups += 1
        }
        return groups == 4 ? result : nil
    }

    /// Reads eight groups, at most one run of them left out, the last two perhaps as an IPv4 address.
    private static func ipv6(_ text: some Collection<UInt8>) -> IPAddress? {
        var groups: [UInt16] = []
        var gap: Int?
        let parts = Array(text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false))
        guard parts.count >= 3, parts.count <= 9 else { return nil }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            if part.isEmpty {
                // A lone colon at either end is an error; two colons leave two empty parts there.
                if index == 0 {
                    guard parts[1].isEmpty else { return nil }
                } else if isLast {
                    guard parts[index - 1].isEmpty else { return nil }
                } else {
                    guard gap == nil else { return nil }
                    gap = groups.count
                }
            } else if isLast, part.contains(UInt8(ascii: ".")) {
                guard let value = ipv4(part) else { return nil }
                groups.append(UInt16(truncatingIfNeeded: value >> 16))
                groups.append(UInt16(truncatingIfNeeded: value))
            } else {
                guard part.count <= 4, let value = hexadecimal(part) else { return nil }
                groups.append(value)
            }
        }
        if let gap {
            guard groups.count <= 7 else { return nil }
            groups.insert(contentsOf: Array(repeating: 0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        let high = groups[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        let low = groups[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
        return IPAddress(ipv6High: high, low: low)
    }

    /// Reads one to four hexadecimal digits.
    private static func hexadecimal(_ text: some Collection<UInt8>) -> UInt16? {
        var value: UInt16 = 0
        for byte in text {
            let digit: UInt8
            switch byte {
            case 48...57: digit = byte - 48
            case 97...102: digit = byte - 87
            case 65...70: digit = byte - 55
            default: return nil
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// The text form of an address (RFC 5952).
    static func text(_ address: IPAddress) -> String {
        guard address.isIPv6 else {
            let number = UInt32(truncatingIfNeeded: address.high >> 32)
            return "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
        }
        if address.high == 0, address.low >> 32 == 0xFFFF {
            return "::ffff:" + text(IPAddress(ipv4: UInt32(truncatingIfNeeded: address.low)))
        }
        let groups = (0..<8).map { index in
            let half = index < 4 ? address.high : address.low
            return UInt16(truncatingIfNeeded: half >> UInt64(48 - 16 * (index & 3)))
        }
        let run = longestZeroRun(groups)
        var result = ""
        var index = 0
        while index < 8 {
            if index == run.lowerBound, run.count >= 2 {
                result += "::"
                index = run.upperBound
                continue
            }
            if !result.isEmpty, !result.hasSuffix(":") { result += ":" }
            result += String(groups[index], radix: 16)
            index += 1
        }
        return result
    }

    /// The first longest run of zero groups.
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int> {
        var best = 0..<0
        var start = 0
        for index in 0...8 where index == 8 || groups[index] != 0 {
            if index - start > best.count { best = start..<index }
            start = index + 1
        }
        return best
    }
}
