// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

extension Samples {
    /// The error of a configuration file that is refused, or `nil` if it is accepted.
    static func fileError(_ text: String) -> ConfigurationFileError? { fileError(Array(text.utf8)) }

    /// The error that the bytes of a file give.
    static func fileError(_ bytes: [UInt8]) -> ConfigurationFileError? {
        do {
            _ = try ConfigurationFile(parsing: bytes.span.bytes)
            return nil
        } catch {
            return error
        }
    }

    /// Expects two files to hold the same values; keys are compared by what they are.
    static func expectSame(_ left: ConfigurationFile, _ right: ConfigurationFile, _ comment: Comment) {
        #expect(left.tunnel.privateKey.isEqual(to: right.tunnel.privateKey), comment)
        #expect(left.tunnel.listenPort == right.tunnel.listenPort, comment)
        #expect(left.tunnel.firewallMark == right.tunnel.firewallMark, comment)
        #expect(left.addresses == right.addresses, comment)
        #expect(left.nameServers == right.nameServers, comment)
        #expect(left.searchDomains == right.searchDomains, comment)
        #expect(left.mtu == right.mtu && left.table == right.table, comment)
        #expect(left.preUp == right.preUp && left.postUp == right.postUp, comment)
        #expect(left.preDown == right.preDown && left.postDown == right.postDown, comment)
        #expect(left.savesConfiguration == right.savesConfiguration, comment)
        #expect(left.tunnel.peers.count == right.tunnel.peers.count, comment)
        for (one, other) in zip(left.tunnel.peers, right.tunnel.peers) {
            #expect(one.publicKey == other.publicKey, comment)
            #expect(one.allowedIPs == other.allowedIPs, comment)
            #expect(one.endpoint == other.endpoint, comment)
            #expect(one.persistentKeepalive == other.persistentKeepalive, comment)
            #expect(one.presharedKey?.base64 == other.presharedKey?.base64, comment)
        }
    }
}

extension Samples.Generator {
    /// A random configuration file.
    mutating func file() throws -> ConfigurationFile {
        func maybe() -> Bool { Bool.random(using: &self) }
        var peers: [PeerConfiguration] = []
        for _ in 0..<Int.random(in: 0...5, using: &self) {
            var peer = PeerConfiguration(publicKey: try PublicKey(rawRepresentation: bytes(32)))
            if maybe() { peer.presharedKey = try PresharedKey(rawRepresentation: bytes(32).span.bytes) }
            if maybe() { peer.allowedIPs = (0..<4).map { _ in prefix() } }
            if maybe() { peer.endpoint = endpoint() }
            if maybe() { peer.persistentKeepalive = UInt16.random(in: 0...65535, using: &self) }
            peers.append(peer)
        }
        var tunnel = TunnelConfiguration(
            privateKey: try PrivateKey(rawRepresentation: bytes(32).span.bytes), peers: peers)
        if maybe() { tunnel.listenPort = UInt16.random(in: 0...65535, using: &self) }
        if maybe() { tunnel.firewallMark = UInt32.random(in: 0...UInt32.max, using: &self) }
        var file = ConfigurationFile(tunnel: tunnel)
        if maybe() {
            file.addresses = (0..<3).compactMap { _ in
                let address = prefix().address
                return InterfaceAddress(
                    address: address, length: Int.random(in: 0...address.bitCount, using: &self))
            }
        }
        if maybe() { file.nameServers = [prefix().address, prefix().address] }
        if maybe() { file.searchDomains = ["example.com", "lan", "~."] }
        if maybe() { file.mtu = Int.random(in: 68...65535, using: &self) }
        if maybe() { file.table = maybe() ? .off : .number(UInt32.random(in: 0...UInt32.max, using: &self)) }
        if maybe() { file.preUp = ["echo '#' = %i", "true"] }
        if maybe() { file.postUp = ["[ -e /x ] && y # z"] }
        if maybe() { file.preDown = ["a;b,c"] }
        if maybe() { file.postDown = ["ü"] }
        file.savesConfiguration = maybe()
        return file
    }

    /// A random endpoint: an address with or without zone, or a name.
    private mutating func endpoint() -> Endpoint {
        let port = UInt16.random(in: 1...65535, using: &self)
        let address = prefix().address
        switch Int.random(in: 0...2, using: &self) {
        case 0: return Endpoint(host: .name("host-\(port).example"), port: port)
        case 1: return Endpoint(host: .address(address, zone: address.isIPv6 ? "eth0" : nil), port: port)
        default: return Endpoint(host: .address(address, zone: nil), port: port)
        }
    }
}
