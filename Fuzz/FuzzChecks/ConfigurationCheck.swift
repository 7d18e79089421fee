// SPDX-License-Identifier: MIT

internal import WireGuardConfiguration
internal import WireGuardCrypto
internal import WireGuardProtocol

/// A configuration file: it is refused without a secret in the reason, or written and read again it is the same.
enum ConfigurationCheck {
    private static let secrets = ["privatekey", "presharedkey"]

    static func failure(_ reader: inout ByteReader) -> String? {
        let text = reader.rest()
        let file: ConfigurationFile
        do {
            file = try ConfigurationFile(parsing: text.span.bytes)
        } catch {
            let isLeak = SecretSearch.leaks("\(error)", text, of: secrets)
            return isLeak ? "the reason shows a secret: \(error)" : nil
        }
        for warning in file.warnings where SecretSearch.leaks("\(warning)", text, of: secrets) {
            return "a warning shows a secret: \(warning)"
        }
        let written = file.text
        do {
            let again = try ConfigurationFile(parsing: written)
            if again.text != written { return "a file that was written is read as another one" }
            return difference(file, again)
        } catch {
            return "a file that was written is refused: \(error)"
        }
    }

    /// What the two files do not have in common.
    private static func difference(_ first: ConfigurationFile, _ second: ConfigurationFile) -> String? {
        if !first.tunnel.privateKey.isEqual(to: second.tunnel.privateKey) { return "another private key" }
        if first.tunnel.listenPort != second.tunnel.listenPort { return "another port" }
        if first.tunnel.firewallMark != second.tunnel.firewallMark { return "another mark" }
        let peers = [first, second].map(\.tunnel.peers)
        if peers[0].map(\.publicKey) != peers[1].map(\.publicKey) { return "other peers" }
        if peers[0].map(\.allowedIPs) != peers[1].map(\.allowedIPs) { return "other allowed IPs" }
        if peers[0].map(\.endpoint) != peers[1].map(\.endpoint) { return "other endpoints" }
        if peers[0].map(\.persistentKeepalive) != peers[1].map(\.persistentKeepalive) {
            return "other intervals"
        }
        for (left, right) in zip(peers[0], peers[1]) where !isSame(left.presharedKey, right.presharedKey) {
            return "another preshared key"
        }
        if first.addresses != second.addresses { return "other addresses" }
        if first.nameServers != second.nameServers || first.searchDomains != second.searchDomains {
            return "other name servers"
        }
        if first.mtu != second.mtu || first.table != second.table { return "another MTU or table" }
        if commands(of: first) != commands(of: second) { return "other commands" }
        return first.savesConfiguration == second.savesConfiguration ? nil : "another SaveConfig"
    }

    /// Whether two keys are the same; one of zeros is none.
    private static func isSame(_ left: PresharedKey?, _ right: PresharedKey?) -> Bool {
        let none = PresharedKey(SecretKey(copying: [UInt8](repeating: 0, count: 32).span.bytes))
        return (left ?? none).isEqual(to: right ?? none)
    }

    /// The commands as they are written: with a space for each sign that ends a line somewhere.
    private static func commands(of file: ConfigurationFile) -> [[String]] {
        [file.preUp, file.postUp, file.preDown, file.postDown].map { commands in
            commands.map { command in
                String(decoding: command.utf8.map { (10...13).contains($0) ? 32 : $0 }, as: UTF8.self)
            }
        }
    }
}
