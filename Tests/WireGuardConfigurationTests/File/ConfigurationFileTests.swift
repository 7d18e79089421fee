// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("Configuration file")
struct ConfigurationFileTests {
    private static let a = "oaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaGhoaE="
    private static let b = "srKysrKysrKysrKysrKysrKysrKysrKysrKysrKysrI="
    private static let slash = "/DMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzM="
    private static let psk = "nZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ2dnZ0="
    private static let zero = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    private static let interface = "[Interface]\nPrivateKey = SEhISEhISEhISEhISEhISEhISEhISEhISEhISEhISEg=\n"
    private static let peer = "[Peer]\nPublicKey = \(a)\n"

    /// Reads lines of `[Interface]`, then one peer with `peerLines`.
    private func read(_ lines: String = "", peer peerLines: String = "") throws -> ConfigurationFile {
        try ConfigurationFile(parsing: Self.interface + lines + "\n" + Self.peer + peerLines)
    }

    /// The error of the same text.
    private func error(_ lines: String = "", peer peerLines: String = "") -> ConfigurationFileError? {
        Samples.fileError(Self.interface + lines + "\n" + Self.peer + peerLines)
    }

    // MARK: Faults reported of other readers

    @Test("a second line of a list adds to it, in order")
    func repeatedLists() throws {
        let file = try read(
            "Address = 10.8.0.2/24\nAddress = fd00::2/64,10.9.0.2\nDNS = 1.1.1.1\nDNS = 9.9.9.9, lan\n",
            peer: "AllowedIPs = 10.0.0.0/8\nAllowedIPs = fd00::/8, 192.168.0.0/16,1.1.1.1\n")
        #expect(
            file.tunnel.peers[0].allowedIPs.map(\.description)
                == ["10.0.0.0/8", "fd00::/8", "192.168.0.0/16", "1.1.1.1/32"])
        #expect(file.addresses.map(\.description) == ["10.8.0.2/24", "fd00::2/64", "10.9.0.2/32"])
        #expect(file.nameServers.map(\.description) == ["1.1.1.1", "9.9.9.9"])
        #expect(file.searchDomains == ["lan"])
    }

    @Test("an IPv6 endpoint is read in brackets, and written with them")
    func bracketedEndpoint() throws {
        let file = try read(peer: "Endpoint = [2001:db8::1]:51820\n")
        let expected = try Endpoint("[2001:db8::1]:51820")
        #expect(file.tunnel.peers[0].endpoint == expected)
        #expect(file.text.contains("\nEndpoint = [2001:db8::1]:51820\n"))
    }

    @Test("an IPv6 endpoint without brackets is refused, not read as a host and a port")
    func unbracketedEndpoint() throws {
        let error = try #require(self.error(peer: "Endpoint = 2001:db8::1:51820\n"))
        #expect(
            error.description
                == "line 6: Endpoint: '2001:db8::1:51820' needs brackets around its IPv6 address: [address]:port"
        )
        #expect(self.error(peer: "Endpoint = [2001:db8::1]\n")?.reason == "'[2001:db8::1]' has no port")
    }

    @Test("a key or an endpoint without a value is refused at its line")
    func emptyValues() throws {
        for key in ["PresharedKey", "PublicKey", "Endpoint"] {
            #expect(
                self.error(peer: "\(key) =\n") == .init(line: 6, key: key, reason: "has no value"))
        }
        #expect(error("PrivateKey = # later\n") == .init(line: 3, key: "PrivateKey", reason: "has no value"))
    }

    @Test("empty allowed IPs are an empty list, with a warning")
    func emptyAllowedIPs() throws {
        let file = try read(peer: "AllowedIPs =\n")
        #expect(file.tunnel.peers[0].allowedIPs.isEmpty)
        #expect(file.warnings.map(\.line) == [6])
        #expect(file.warnings.map(\.key) == ["AllowedIPs"])
    }

    @Test("a preshared key of zeros is no preshared key, with a warning")
    func zeroPresharedKey() throws {
        let file = try read(peer: "PresharedKey = \(Self.zero)\n")
        #expect(file.tunnel.peers[0].presharedKey == nil)
        #expect(file.warnings.map(\.key) == ["PresharedKey"])
        #expect(!file.text.contains("PresharedKey"))
    }

    @Test("a preshared key reaches the change of a device, and a peer without one gets none")
    func presharedKeySurvives() throws {
        let text = Self.interface + Self.peer + "PresharedKey = \(Self.psk)\n[Peer]\nPublicKey = \(Self.b)\n"
        let written = try ConfigurationFile(parsing: text).text
        let tunnel = try ConfigurationFile(parsing: written).tunnel
        #expect(tunnel.peers.map { $0.presharedKey?.base64 } == [Self.psk, nil])
        let change = ConfigurationChange.replacement(by: tunnel, endpoints: [:])
        #expect(change.peers.map { $0.presharedKey?.base64 } == [Self.psk, Self.zero])
        #expect(change.peers.map { $0.presharedKey?.isZero } == [false, true])
    }

    @Test("case of keys and sections and space around them do not matter, case of base64 does")
    func caseAndSpacing() throws {
        let file = try ConfigurationFile(
            parsing: try Fixtures.text("configuration/good/case-and-spacing.conf"))
        #expect(file.tunnel.listenPort == 51820)
        #expect(file.tunnel.peers.map(\.publicKey.base64) == [Self.a, Self.b])
        #expect(file.tunnel.peers[0].allowedIPs.map(\.description) == ["10.0.0.0/8"])
        #expect(file.tunnel.peers[0].endpoint?.description == "1.2.3.4:1")
    }

    @Test("comments go, values before them stay, and commands keep the sign")
    func comments() throws {
        let file = try ConfigurationFile(parsing: try Fixtures.text("configuration/good/wg-quick.conf"))
        #expect(file.postUp.first == "sh -c 'echo a#b' # kept")
        #expect(file.tunnel.peers[0].allowedIPs.first?.description == "10.8.0.1/32")
        #expect(file.tunnel.peers[0].publicKey.base64 == Self.slash)
        #expect(file.warnings.isEmpty)
        #expect(try read("# PostUp = reboot\n").postUp.isEmpty)
    }

    @Test("a peer without an endpoint is read, and a zone stays with its address")
    func endpointForms() throws {
        #expect(try read().tunnel.peers[0].endpoint == nil)
        let endpoint = try read(peer: "Endpoint = [fe80::1%eth0]:51820\n").tunnel.peers[0].endpoint
        let address = try IPAddress("fe80::1")
        #expect(endpoint?.host == .address(address, zone: "eth0"))
        #expect(endpoint?.description == "[fe80::1%eth0]:51820")
        #expect(
            try read(peer: "Endpoint = a-b.example:1").tunnel.peers[0].endpoint?.host == .name("a-b.example"))
    }

    @Test("a peer whose interface is not known is loaded with the others, without an endpoint")
    func unknownZone() throws {
        let tunnel = try read(peer: "Endpoint = [fe80::1%none]:1\n[Peer]\nPublicKey = \(Self.b)\n").tunnel
        let change = ConfigurationChange.replacement(by: tunnel, endpoints: [:])
        #expect(change.peers.count == 2)
        #expect(change.peers[0].endpoint == nil)
    }

    // MARK: Values

    @Test("every key of wg-quick is read")
    func wgQuick() throws {
        let file = try ConfigurationFile(parsing: try Fixtures.text("configuration/good/wg-quick.conf"))
        #expect(file.addresses.map(\.description) == ["10.8.0.2/24", "fd00:8::2/64", "10.8.1.2/32"])
        #expect(file.addresses[0].network.description == "10.8.0.0/24")
        #expect(file.nameServers.map(\.description) == ["10.8.0.1", "fd00:8::1"])
        #expect(file.searchDomains == ["example.com", "~."])
        #expect(file.mtu == 1380)
        #expect(file.table == .off)
        #expect(file.preUp == ["echo %i"] && file.preDown == ["true"] && file.postUp.count == 2)
        #expect(file.postDown == ["sh -c 'echo \"x = y, z\"'"])
        #expect(file.savesConfiguration)
        #expect(file.tunnel.listenPort == 51820 && file.tunnel.firewallMark == 51)
        #expect(file.tunnel.peers[0].persistentKeepalive == 25)
        #expect(file.tunnel.peers[0].endpoint?.host == .name("vpn.example.com"))
    }

    @Test(
        "a mark is decimal, hexadecimal or off",
        arguments: [("51", 51), ("0xCA6C", 51820), ("0X1f", 31), ("off", 0), ("0xffffffff", .max)]
            as [(String, UInt32)])
    func marks(text: String, expected: UInt32) throws {
        #expect(try read("FwMark = \(text)\n").tunnel.firewallMark == expected)
    }

    @Test("a table is auto, off, a number or a name of every system")
    func tables() throws {
        let expected: [(String, ConfigurationFile.Table)] = [
            ("auto", .automatic), ("off", .off), ("1234", .number(1234)), ("0x10", .number(16)),
            ("main", .number(254)),
        ]
        for (text, table) in expected { #expect(try read("Table = \(text)\n").table == table) }
    }

    @Test("a single value given twice counts as given last")
    func lastWins() throws {
        let file = try read("ListenPort = 1\nListenPort = 2\n", peer: "Endpoint = a.b:1\nEndpoint = a.b:2\n")
        #expect(file.tunnel.listenPort == 2)
        #expect(file.tunnel.peers[0].endpoint?.port == 2)
    }

    @Test("a prefix that a later peer has too gives a warning with both lines")
    func movedPrefix() throws {
        let file = try read(
            peer:
                "AllowedIPs = 10.0.0.0/8, 10.0.0.0/8\n[Peer]\nPublicKey = \(Self.b)\nAllowedIPs = 10.1.2.3/8\n"
        )
        #expect(
            file.warnings.map(\.description) == [
                "line 9: AllowedIPs: 10.0.0.0/8 moves here from the peer that got it in line 6"
            ])
    }

    @Test("a plus sign before a prefix is allowed")
    func plus() throws {
        #expect(try read(peer: "AllowedIPs = +10.0.0.0/8").tunnel.peers[0].allowedIPs.count == 1)
    }

    @Test("24,000 peers, and 130,561 prefixes of one, are read and written in full")
    func veryMany() throws {
        var tunnel = try read().tunnel
        tunnel.peers[0].allowedIPs = (0..<130_561).compactMap {
            IPPrefix(address: IPAddress(ipv4: 0x0A00_0000 + UInt32($0)), length: 32)
        }
        for number in 0..<24_000 {
            let bytes = withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
            let key = try PublicKey(rawRepresentation: bytes + Array(repeating: 7, count: 24))
            tunnel.peers.append(PeerConfiguration(publicKey: key))
        }
        let again = try ConfigurationFile(parsing: ConfigurationFile(tunnel: tunnel).text).tunnel
        #expect(again.peers.count == 24_001)
        #expect(again.peers[0].allowedIPs == tunnel.peers[0].allowedIPs)
        #expect(again.peers.map(\.publicKey) == tunnel.peers.map(\.publicKey))
    }
}
