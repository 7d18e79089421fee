// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

extension ConfigurationFileParser {
    /// Reads the value of a key of `[Interface]`.
    mutating func readInterfaceValue(
        _ key: ConfigurationFileKey, _ value: RawSpan
    ) throws(ConfigurationFileError) {
        switch key {
        case .privateKey:
            guard let secret = try? PresharedKey(base64Bytes: value) else {
                throw error(key.rawValue, Self.notAKey)
            }
            // The key is looked at before clamping, which would make another key of zero.
            guard !secret.isZero else { throw error(key.rawValue, "is all zero, which is no key") }
            privateKey = secret.withSecret { PrivateKey(SecretKey(copying: $0)) }
        case .listenPort: listenPort = UInt16(try number(key, value, in: 0...65535))
        case .firewallMark: firewallMark = try mark(key, value)
        case .address: try readAddresses(value)
        case .dns: try readNameServers(value)
        // 68 is the least that IPv4 asks of a link (RFC 791).
        case .mtu: interface.mtu = Int(try number(key, value, in: 68...65535))
        case .table: interface.table = try table(value)
        case .preUp: interface.preUp.append(try text(key, value))
        case .postUp: interface.postUp.append(try text(key, value))
        case .preDown: interface.preDown.append(try text(key, value))
        case .postDown: interface.postDown.append(try text(key, value))
        case .saveConfig:
            let isTrue = value.isEqual(ignoringCase: "true")
            guard isTrue || value.isEqual(ignoringCase: "false") else {
                throw error(key.rawValue, "\(QuotedText.value(value)) is neither true nor false")
            }
            interface.savesConfiguration = isTrue
        case .publicKey, .presharedKey, .allowedIPs, .endpoint, .persistentKeepalive:
            preconditionFailure("keys of a peer are read elsewhere")
        }
    }

    /// Adds the interface addresses of one line.
    private mutating func readAddresses(_ value: RawSpan) throws(ConfigurationFileError) {
        var start = 0
        while let range = Self.nextItem(in: value, from: &start) {
            let item = value.extracting(range)
            let (address, length) = try addressAndLength(.address, item)
            guard let address = InterfaceAddress(address: address, length: length) else {
                preconditionFailure("the length was checked against the family")
            }
            interface.addresses.append(address)
        }
    }

    /// Adds the name servers and search domains of one line.
    private mutating func readNameServers(_ value: RawSpan) throws(ConfigurationFileError) {
        var start = 0
        while let range = Self.nextItem(in: value, from: &start) {
            let item = value.extracting(range)
            if let address = IPAddress(bytes: item) {
                interface.nameServers.append(address)
            } else if Self.isDomain(item) {
                interface.searchDomains.append(try text(.dns, item))
            } else {
                throw error("DNS", "\(QuotedText.value(item)) is neither an IP address nor a domain")
            }
        }
    }

    /// The text of a value, which must be UTF-8: a command or domain that was repaired would be another one.
    private func text(_ key: ConfigurationFileKey, _ value: RawSpan) throws(ConfigurationFileError) -> String
    {
        guard let text = value.validString else { throw error(key.rawValue, "is not text in UTF-8") }
        return text
    }

    /// Reads a mark on outgoing datagrams: `off`, decimal, or hexadecimal behind `0x`.
    private func mark(_ key: ConfigurationFileKey, _ value: RawSpan) throws(ConfigurationFileError) -> UInt32
    {
        if value.isEqual(ignoringCase: "off") { return 0 }
        guard let mark = Self.decimalOrHexadecimal(value) else {
            throw error(
                key.rawValue,
                "\(QuotedText.value(value)) is neither off nor a number of 32 bits, such as 51 or 0x33")
        }
        return mark
    }

    /// Reads a routing table: `auto`, `off`, a number, or one of the three names that every system has.
    private func table(_ value: RawSpan) throws(ConfigurationFileError) -> ConfigurationFile.Table {
        if value.isEqual(ignoringCase: "auto") { return .automatic }
        if value.isEqual(ignoringCase: "off") { return .off }
        if value.isEqual(ignoringCase: "default") { return .number(253) }
        if value.isEqual(ignoringCase: "main") { return .number(254) }
        if value.isEqual(ignoringCase: "local") { return .number(255) }
        guard let number = Self.decimalOrHexadecimal(value) else {
            throw error("Table", "\(QuotedText.value(value)) is not auto, off or the number of a table")
        }
        return .number(number)
    }

    /// Reads a number of 32 bits, decimal or hexadecimal behind `0x`.
    private static func decimalOrHexadecimal(_ value: RawSpan) -> UInt32? {
        let limit = UInt64(UInt32.max)
        let isHexadecimal = value.byteCount > 2 && value.extracting(0..<2).isEqual(ignoringCase: "0x")
        let number =
            isHexadecimal
            ? value.extracting(2..<value.byteCount).hexadecimal(upTo: limit) : value.decimal(upTo: limit)
        return number.map { UInt32(truncatingIfNeeded: $0) }
    }

    /// Whether a text can be a domain: letters, digits, hyphens, underscores and dots, and not only digits and dots.
    ///
    /// A lone `~`, as resolvers use it for "every domain", may come first.
    private static func isDomain(_ text: RawSpan) -> Bool {
        guard text.byteCount <= 253 else { return false }
        var hasLetter = false
        for index in 0..<text.byteCount {
            switch text.byte(index) {
            case 65...90, 97...122, 128...255: hasLetter = true
            case UInt8(ascii: "~") where index == 0: hasLetter = true
            case 48...57, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): break
            default: return false
            }
        }
        return hasLetter
    }
}
