// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
package import WireGuardProtocol

/// Reads a set operation of the cross-platform userspace interface (https://www.wireguard.com/xplatform/).
///
/// Keys, sections and values are accepted and refused as wireguard-go does, with one difference: the operation is
/// read to its end before anything is applied, so a refused one changes nothing.
package enum UAPISetParser {
    /// Reads the lines between `set=1` and the empty line.
    ///
    /// - Parameters:
    ///   - text: The lines; the last one needs no line end. Reading stops at an empty line.
    ///   - resolvingZone: Gives the index of the interface with this name, for endpoints with a zone.
    /// - Throws: `UAPIError` for the first line that is refused.
    package static func parse(
        _ text: RawSpan, resolvingZone: (String) -> UInt32?
    ) throws(UAPIError) -> ConfigurationChange {
        var change = ConfigurationChange()
        var peer: PeerChange?
        var lineNumber = 0
        var start = 0
        while start < text.byteCount {
            lineNumber += 1
            let end = text.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? text.byteCount
            let hasReturn = end > start && text.byte(end - 1) == UInt8(ascii: "\r")
            let line = text.extracting(start..<(hasReturn ? end - 1 : end))
            start = end + 1
            if line.byteCount == 0 { break }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
                throw UAPIError(
                    .brokenProtocol, line: lineNumber, key: "(no key)", reason: "the line is not key=value")
            }
            let key = line.extracting(0..<equals)
            let value = line.extracting(equals + 1..<line.byteCount)
            let reason: String?
            if key.isEqual(to: "public_key") {
                if let finished = peer.take() { change.peers.append(finished) }
                if let publicKey = try? PublicKey(hexadecimalBytes: value) {
                    peer = PeerChange(publicKey: publicKey)
                    reason = nil
                } else {
                    reason = notAKey
                }
            } else if peer != nil {
                reason = readPeerLine(key, value, into: &peer, resolvingZone: resolvingZone)
            } else {
                reason = readDeviceLine(key, value, into: &change)
            }
            if let reason {
                throw UAPIError(.invalid, line: lineNumber, key: QuotedText.key(key), reason: reason)
            }
        }
        if let peer { change.peers.append(peer) }
        return change
    }

    /// Reads a line in front of the first peer; gives the reason if it is refused.
    private static func readDeviceLine(
        _ key: RawSpan, _ value: RawSpan, into change: inout ConfigurationChange
    ) -> String? {
        if key.isEqual(to: "private_key") {
            guard let secret = try? PresharedKey(hexadecimalBytes: value) else { return notAKey }
            // The key is looked at before clamping, which would make another key of zero.
            change.privateKey =
                secret.isZero ? .clear : .set(secret.withSecret { PrivateKey(SecretKey(copying: $0)) })
        } else if key.isEqual(to: "listen_port") {
            guard let port = value.decimal(upTo: 65535) else { return notANumber(value, upTo: 65535) }
            change.listenPort = UInt16(port)
        } else if key.isEqual(to: "fwmark") {
            let limit = UInt64(UInt32.max)
            guard let mark = value.decimal(upTo: limit) else { return notANumber(value, upTo: limit) }
            change.firewallMark = UInt32(mark)
        } else if key.isEqual(to: "replace_peers") {
            guard value.isEqual(to: "true") else { return notTrue(value) }
            change.replacesPeers = true
        } else {
            return "this key is not one of a device"
        }
        return nil
    }

    /// Reads a line behind the `public_key` line of a peer; gives the reason if it is refused.
    private static func readPeerLine(
        _ key: RawSpan, _ value: RawSpan, into peer: inout PeerChange?, resolvingZone: (String) -> UInt32?
    ) -> String? {
        if key.isEqual(to: "allowed_ip") {
            let isRemoval = value.byteCount > 0 && value.byte(0) == UInt8(ascii: "-")
            guard let prefix = AddressReading.prefix(value.extracting((isRemoval ? 1 : 0)..<value.byteCount))
            else {
                return "\(QuotedText.value(value)) is not address/length"
            }
            peer?.allowedIPs.append(.init(prefix, isRemoval: isRemoval))
        } else if key.isEqual(to: "endpoint") {
            guard let endpoint = AddressReading.socketAddress(value, resolvingZone: resolvingZone) else {
                return
                    "\(QuotedText.value(value)) is not address:port, [address]:port or [address%interface]:port"
            }
            peer?.endpoint = endpoint
        } else if key.isEqual(to: "preshared_key") {
            guard let presharedKey = try? PresharedKey(hexadecimalBytes: value) else { return notAKey }
            peer?.presharedKey = presharedKey
        } else if key.isEqual(to: "persistent_keepalive_interval") {
            guard let seconds = value.decimal(upTo: 65535) else { return notANumber(value, upTo: 65535) }
            peer?.persistentKeepalive = UInt16(seconds)
        } else if key.isEqual(to: "replace_allowed_ips") {
            guard value.isEqual(to: "true") else { return notTrue(value) }
            peer?.replacesAllowedIPs = true
            // What came before in this section would be given and at once taken again.
            peer?.allowedIPs.removeAll()
        } else if key.isEqual(to: "remove") {
            guard value.isEqual(to: "true") else { return notTrue(value) }
            peer?.isRemoval = true
        } else if key.isEqual(to: "update_only") {
            guard value.isEqual(to: "true") else { return notTrue(value) }
            peer?.isUpdateOnly = true
        } else if key.isEqual(to: "protocol_version") {
            guard value.isEqual(to: "1") else {
                return "\(QuotedText.value(value)) is not protocol version 1"
            }
        } else {
            return "this key is not one of a peer"
        }
        return nil
    }

    /// The reason for a value that should be `true`.
    private static func notTrue(_ value: RawSpan) -> String {
        "\(QuotedText.value(value)) is not 'true', the only value of this key"
    }

    /// The reason for a value that should be a number.
    private static func notANumber(_ value: RawSpan, upTo limit: UInt64) -> String {
        "\(QuotedText.value(value)) is not a decimal number from 0 to \(limit)"
    }

    /// The reason for a value that should be a key; the value itself is never shown.
    private static let notAKey = "the value is not 64 hexadecimal digits"
}
