// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("UAPI set parser")
struct UAPISetParserTests {
    private let a = "public_key=\(Samples.hexA)\n"

    @Test("an empty operation changes nothing")
    func empty() throws {
        for text in ["", "\n", "\r\n"] {
            let change = try Samples.parse(text)
            #expect(change.privateKey == nil)
            #expect(change.listenPort == nil && change.firewallMark == nil && !change.replacesPeers)
            #expect(change.peers.isEmpty)
        }
    }

    @Test("every key of a device and of a peer is read")
    func everyKey() throws {
        let change = try Samples.parse(
            """
            private_key=\(Samples.hexSecret)
            listen_port=51820
            fwmark=4294967295
            replace_peers=true
            public_key=\(Samples.hexA)
            update_only=true
            preshared_key=\(Samples.hexPreshared.uppercased())
            endpoint=192.0.2.7:51820
            persistent_keepalive_interval=25
            replace_allowed_ips=true
            allowed_ip=10.1.2.3/8
            allowed_ip=-fd00::/8
            protocol_version=1
            public_key=\(Samples.hexB)
            remove=true
            """)
        let key = try PrivateKey(hexadecimal: Samples.hexSecret)
        if case .set(let given) = change.privateKey {
            #expect(given.isEqual(to: key))
        } else {
            Issue.record("the private key is not set")
        }
        #expect(change.listenPort == 51820)
        #expect(change.firewallMark == 4_294_967_295)
        #expect(change.replacesPeers)
        try #require(change.peers.count == 2)
        let peer = change.peers[0]
        #expect(peer.publicKey.hexadecimal == Samples.hexA)
        #expect(peer.isUpdateOnly && !peer.isRemoval && peer.replacesAllowedIPs)
        #expect(peer.presharedKey?.hexadecimal == Samples.hexPreshared)
        #expect(peer.endpoint == SocketAddress(address: IPAddress(ipv4: 0xC000_0207), port: 51820))
        #expect(peer.persistentKeepalive == 25)
        #expect(
            peer.allowedIPs == [
                .init(try IPPrefix("10.0.0.0/8")), .init(try IPPrefix("fd00::/8"), isRemoval: true),
            ])
        #expect(change.peers[1].publicKey.hexadecimal == Samples.hexB)
        #expect(change.peers[1].isRemoval)
    }

    @Test("a key of zeros clears the private key, and stays a preshared key that means none")
    func zeroKeys() throws {
        let zeros = String(repeating: "0", count: 64)
        let change = try Samples.parse("private_key=\(zeros)\n\(a)preshared_key=\(zeros)\n")
        guard case .clear = change.privateKey else {
            Issue.record("the private key is not cleared")
            return
        }
        #expect(change.peers.first?.presharedKey?.isZero == true)
    }

    @Test("absent fields of a peer stay absent")
    func absentFields() throws {
        let peer = try #require(try Samples.parse(a).peers.first)
        #expect(peer.presharedKey == nil && peer.endpoint == nil && peer.persistentKeepalive == nil)
        #expect(peer.allowedIPs.isEmpty && !peer.replacesAllowedIPs && !peer.isRemoval && !peer.isUpdateOnly)
    }

    @Test("the same peer may come twice, in order")
    func samePeerTwice() throws {
        let peers = try Samples.parse("\(a)remove=true\n\(a)allowed_ip=10.0.0.0/8\n").peers
        #expect(peers.map(\.isRemoval) == [true, false])
        #expect(peers.map(\.allowedIPs.count) == [0, 1])
    }

    @Test("replacing allowed IPs drops what the section gave before, not what it gives after")
    func replaceOrder() throws {
        let text = "\(a)allowed_ip=10.0.0.0/8\nreplace_allowed_ips=true\nallowed_ip=10.1.0.0/16\n"
        #expect(try Samples.parse(text).peers.first?.allowedIPs == [.init(try IPPrefix("10.1.0.0/16"))])
    }

    @Test(
        "endpoints are an address and a port, IPv6 in brackets, with a zone by name or number",
        arguments: [
            ("192.0.2.1:0", "192.0.2.1:0"), ("192.0.2.1:65535", "192.0.2.1:65535"),
            ("[2001:db8::1]:51820", "[2001:db8::1]:51820"), ("[fe80::1%eth0]:1", "[fe80::1%2]:1"),
            ("[fe80::1%wlan0]:1", "[fe80::1%3]:1"), ("[fe80::1%77]:1", "[fe80::1%77]:1"),
        ])
    func endpoints(text: String, expected: String) throws {
        #expect(try Samples.parse("\(a)endpoint=\(text)\n").peers.first?.endpoint?.description == expected)
    }

    @Test("lines may end with a carriage return, and the last one with nothing")
    func lineEnds() throws {
        let change = try Samples.parse("listen_port=1\r\nfwmark=2\r\n\(a)allowed_ip=::/0")
        #expect(change.listenPort == 1 && change.firewallMark == 2)
        #expect(change.peers.first?.allowedIPs == [.init(try IPPrefix("::/0"))])
    }

    @Test("reading stops at an empty line")
    func emptyLine() throws {
        #expect(try Samples.parse("listen_port=1\n\nlisten_port=x\n").listenPort == 1)
    }

    static let badDeviceLines = [
        "listen_port=", "listen_port=65536", "listen_port=-1", "listen_port=0x10", "listen_port= 1",
        "listen_port=1 ", "listen_port=+1", "listen_port=99999999999999999999999", "fwmark=", "fwmark=0x10",
        "fwmark=4294967296", "fwmark=off", "replace_peers=false", "replace_peers=", "replace_peers=True",
        "private_key=", "private_key=00", "private_key=\(Samples.hexSecret)0", "private_key=zz", "unknown=1",
        "=1",
        "allowed_ip=10.0.0.0/8", "endpoint=192.0.2.1:1", "preshared_key=\(Samples.hexPreshared)",
        "remove=true",
        "update_only=true", "replace_allowed_ips=true", "persistent_keepalive_interval=1",
        "protocol_version=1",
        "LISTEN_PORT=1", "listen_port =1",
    ]

    @Test(
        "a device line that is wrong or of a peer is refused as invalid, with line and key",
        arguments: badDeviceLines)
    func badDevice(line: String) throws {
        let error = try #require(Samples.error("fwmark=1\n\(line)\n"))
        #expect(error.status == .invalid && error.status.rawValue == -22)
        #expect(error.line == 2)
        let key = line.prefix { $0 != "=" }
        #expect(error.key == (key.isEmpty || key.contains(" ") ? "(no key)" : String(key)))
    }

    static let badPeerLines = [
        "private_key=\(Samples.hexSecret)", "listen_port=1", "fwmark=1", "replace_peers=true", "unknown=1",
        "remove=false", "remove=", "update_only=1", "replace_allowed_ips=false", "protocol_version=2",
        "protocol_version=", "protocol_version=01", "persistent_keepalive_interval=off",
        "persistent_keepalive_interval=65536", "persistent_keepalive_interval=", "preshared_key=",
        "preshared_key=0", "public_key=", "public_key=\(Samples.hexA)00", "endpoint=", "endpoint=:1",
        "endpoint=192.0.2.1", "endpoint=192.0.2.1:", "endpoint=192.0.2.1:65536", "endpoint=192.0.2.01:1",
        "endpoint=[192.0.2.1]:1", "endpoint=2001:db8::1:51820", "endpoint=[2001:db8::1]", "endpoint=[]:1",
        "endpoint=[2001:db8::1:1", "endpoint=2001:db8::1]:1", "endpoint=[fe80::1%]:1",
        "endpoint=[fe80::1%none]:1",
        "endpoint=[fe80::1%0]:1", "endpoint=example.com:51820", "endpoint=localhost:1", "allowed_ip=",
        "allowed_ip=-", "allowed_ip=+10.0.0.0/8", "allowed_ip=10.0.0.0", "allowed_ip=10.0.0.0/",
        "allowed_ip=10.0.0.0/33", "allowed_ip=10.0.0.0/08", "allowed_ip=10.0.0/8", "allowed_ip=::/129",
        "allowed_ip=fe80::1%eth0/64", "allowed_ip=10.0.0.0/8,10.1.0.0/16", "allowed_ip=--10.0.0.0/8",
    ]

    @Test(
        "a peer line that is wrong or of a device is refused as invalid, with line and key",
        arguments: badPeerLines)
    func badPeer(line: String) throws {
        let error = try #require(Samples.error("listen_port=1\n\(a)\(line)\n"))
        #expect(error.status == .invalid)
        #expect(error.line == 3)
        #expect(error.key == String(line.prefix { $0 != "=" }))
    }

    @Test("a line without an equals sign breaks the protocol")
    func noEquals() throws {
        let error = try #require(Samples.error("listen_port=1\nprivate_key \(Samples.hexSecret)\n"))
        #expect(error.status == .brokenProtocol && error.line == 2)
        #expect(!error.description.contains(Samples.hexSecret))
    }

    @Test("no error repeats a key, wherever it stands in a refused line")
    func noSecrets() throws {
        let secret = Samples.hexSecret
        for line in [
            "private_key=\(secret)0", "private_key=g\(secret.dropFirst())", "private_key \(secret)",
            "\(secret)=1",
            "\(secret)", "=\(secret)", "listen_port=\(secret)", "\(a)preshared_key=\(secret) ",
            "\(a)endpoint=\(secret)", "\(a)allowed_ip=\(secret)", "\(a)public_key=\(secret)1",
            "\(a)remove=\(secret)", "\(a)protocol_version=\(secret)",
        ] {
            let error = try #require(Samples.error(line), "\(line) is accepted")
            let shown = error.description + String(reflecting: error)
            #expect(!shown.contains(secret.dropFirst().prefix(20)), "\(line)")
        }
    }

    @Test("an operation cut short at any byte is read or refused, and never crashes")
    func truncation() throws {
        let text = """
            private_key=\(Samples.hexSecret)
            replace_peers=true
            public_key=\(Samples.hexA)
            endpoint=[fe80::1%eth0]:51820
            allowed_ip=10.0.0.0/8
            """
        var accepted = 0
        for count in 0...text.utf8.count {
            if Samples.error(String(text.prefix(count))) == nil { accepted += 1 }
        }
        // At the start and at each line end with and without it, and inside the last prefix and port when what
        // is there is whole: "/8" alone, ports 5, 51, 518, 5182.
        #expect(accepted == 1 + 2 * 4 + 4 + 1)
    }

    @Test("24,000 peers and 130,561 allowed IPs are read in full")
    func veryMany() throws {
        var text = "replace_peers=true\n"
        for number in 0..<24_000 {
            let digits = String(number, radix: 16)
            let padded = String(repeating: "0", count: 64 - digits.count) + digits
            text +=
                "public_key=\(padded)\nendpoint=192.0.2.1:\(number)\nallowed_ip=10.\(number >> 8).\(number & 255).0/32\n"
        }
        #expect(try Samples.parse(text).peers.count == 24_000)

        text = a
        for number in 0..<130_561 {
            text += "allowed_ip=10.\(number >> 16).\(number >> 8 & 255).\(number & 255)/32\n"
        }
        let lines = try Samples.parse(text).peers[0].allowedIPs
        #expect(lines.count == 130_561)
        #expect(Set(lines).count == 130_561)
        #expect(lines.last?.prefix.description == "10.1.254.0/32")
    }
}
