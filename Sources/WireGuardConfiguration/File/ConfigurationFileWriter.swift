// SPDX-License-Identifier: MIT

package import WireGuardCrypto
internal import WireGuardProtocol

/// Writes a configuration file in the form of `wg showconf`, with the keys of `wg-quick` behind those of `wg`.
package enum ConfigurationFileWriter {
    /// Adds the text of `file`; reading it gives the same configuration again.
    package static func write(_ file: ConfigurationFile, to buffer: inout SecretBuffer) {
        buffer.append("[Interface]\n")
        if file.tunnel.listenPort != 0 { line("ListenPort", "\(file.tunnel.listenPort)", to: &buffer) }
        if file.tunnel.firewallMark != 0 {
            line("FwMark", "0x" + String(file.tunnel.firewallMark, radix: 16), to: &buffer)
        }
        buffer.append("PrivateKey = ")
        file.tunnel.privateKey.withSecret { $0.withBytes { buffer.append(base64: $0) } }
        buffer.append(byte: newline)
        list("Address", file.addresses.lazy.map(\.description), to: &buffer)
        list("DNS", file.nameServers.map(\.description) + file.searchDomains, to: &buffer)
        if let mtu = file.mtu { line("MTU", "\(mtu)", to: &buffer) }
        switch file.table {
        case .automatic: break
        case .off: line("Table", "off", to: &buffer)
        case .number(let number): line("Table", "\(number)", to: &buffer)
        }
        for command in file.preUp { line("PreUp", command, to: &buffer) }
        for command in file.postUp { line("PostUp", command, to: &buffer) }
        for command in file.preDown { line("PreDown", command, to: &buffer) }
        for command in file.postDown { line("PostDown", command, to: &buffer) }
        if file.savesConfiguration { line("SaveConfig", "true", to: &buffer) }
        for peer in file.tunnel.peers { write(peer, to: &buffer) }
    }

    /// Adds the section of one peer.
    private static func write(_ peer: PeerConfiguration, to buffer: inout SecretBuffer) {
        buffer.append("\n[Peer]\nPublicKey = ")
        peer.publicKey.withBytes { buffer.append(base64: $0) }
        buffer.append(byte: newline)
        if let presharedKey = peer.presharedKey, !presharedKey.isZero {
            buffer.append("PresharedKey = ")
            presharedKey.withSecret { $0.withBytes { buffer.append(base64: $0) } }
            buffer.append(byte: newline)
        }
        list("AllowedIPs", peer.allowedIPs.lazy.map(\.description), to: &buffer)
        if let endpoint = peer.endpoint { line("Endpoint", endpoint.description, to: &buffer) }
        if peer.persistentKeepalive != 0 {
            line("PersistentKeepalive", "\(peer.persistentKeepalive)", to: &buffer)
        }
    }

    /// Adds a line with all items of a list, or none for an empty list.
    private static func list(
        _ key: StaticString, _ items: some Sequence<String>, to buffer: inout SecretBuffer
    ) {
        var isFirst = true
        for item in items {
            if isFirst { buffer.append(key) }
            buffer.append(isFirst ? " = " : ", ")
            value(item, to: &buffer)
            isFirst = false
        }
        if !isFirst { buffer.append(byte: newline) }
    }

    /// Adds a line with one value.
    private static func line(_ key: StaticString, _ text: String, to buffer: inout SecretBuffer) {
        buffer.append(key)
        buffer.append(" = ")
        value(text, to: &buffer)
        buffer.append(byte: newline)
    }

    /// Adds a value; a line end inside it becomes a space, so that no value can bring lines of its own.
    private static func value(_ text: String, to buffer: inout SecretBuffer) {
        guard text.utf8.contains(where: isControl) else {
            buffer.append(text: text)
            return
        }
        for byte in text.utf8 {
            buffer.append(byte: isControl(byte) ? UInt8(ascii: " ") : byte)
        }
    }

    /// Whether a byte ends a line or no text has it.
    private static func isControl(_ byte: UInt8) -> Bool { byte == 0 || (10...13).contains(byte) }

    private static let newline = UInt8(ascii: "\n")
}
