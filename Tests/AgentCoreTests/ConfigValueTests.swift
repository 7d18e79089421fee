// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import Testing

@Suite("values of a configuration")
struct ConfigValueTests {
    /// A field, a value that is refused, and the field that the error names.
    struct Refused: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        let field: String
        var testDescription: String { "\(name) = \(text.prefix(40))" }

        init(_ name: String, _ text: String, _ field: String? = nil) {
            self.name = name
            self.text = text
            self.field = field ?? name
        }
    }

    private static let zeros = String(repeating: "0", count: 64)
    private static let zeroBase64 = String(repeating: "A", count: 43) + "="
    private static let badKeys = [
        "a", String(Sample.privateKey.dropLast()), Sample.privateKey + "0", Sample.privateKey + "=",
        String(Sample.privateKey.dropLast()) + "g", " " + Sample.privateKey.dropFirst(),
        String(repeating: "A", count: 44), String(repeating: "A", count: 42) + "B=",
        String(repeating: "-", count: 43) + "=", String(repeating: "z", count: 10_000),
    ]
    private static let keys: [Refused] =
        ["private_key", "server_pub", "preshared_key"].flatMap { name -> [Refused] in
            badKeys.map { Refused(name, $0) }
        }
        + ["private_key", "server_pub"].flatMap { name -> [Refused] in
            [Refused(name, zeros), Refused(name, zeroBase64)]
        }

    private static let addresses = [
        "10.0.0", "10.0.0.256", "010.0.0.1", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/", "10.0.0.1/24/24",
        "fe80::1%eth0", "::1::", "2001:db8::/129", "host.example", "10.0.0.1 10.0.0.2", "0x0a000001",
    ]
    private static let lists = ["internal_ip", "dns", "allowed_ips"]
    private static let badAddresses: [Refused] = addresses.flatMap { text -> [Refused] in
        lists.map { Refused($0, text, "\($0)[0]") } + [Refused("server_wg_ip", text)]
    }
    private static let noHosts: [Refused] = [
        "0.0.0.0", "::", "224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1",
    ].flatMap { text -> [Refused] in
        ["internal_ip", "dns"].map { Refused($0, text, "\($0)[0]") } + [Refused("server_wg_ip", text)]
    }
    private static let noInterfaces: [Refused] = [
        "127.0.0.1", "127.8.8.8", "::1", "10.0.0.1/0", "fd00::1/0",
    ].map { Refused("internal_ip", $0, "internal_ip[0]") }
    private static let gaps: [Refused] = lists.flatMap { name -> [Refused] in
        [
            Refused(name, "10.0.0.1,,10.0.0.2", "\(name)[1]"), Refused(name, ",", "\(name)[0]"),
            Refused(name, "10.0.0.1,", "\(name)[1]"),
        ]
    }
    private static let endpoints: [Refused] = [
        "vpn.example.net", "vpn.example.net:0", "vpn.example.net:65536", "vpn.example.net:http",
        "2001:db8::1:51820", "[2001:db8::1]", "[2001:db8::1:51820", ":51820", "vpn example.net:51820",
        "1.2.3:51820", "0.0.0.0:51820", "[ff02::1]:51820", "https://vpn.example.net:443",
        "vpn.example.net:1:2", String(repeating: "a", count: 254) + ":51820",
    ].map { Refused("endpoint", $0) }
    private static let pages: [Refused] = [
        "javascript:alert(1)", "admin.example.net", "https://", "https:///path", "https://user:word@host/",
        "https://host/a b", "https://host/\"onclick", "http://host/é",
        "https://" + String(repeating: "a", count: 2048),
    ].map { Refused("admin_url", $0) }
    private static let longTexts: [Refused] = [
        Refused("device_id", String(repeating: "d", count: 129)),
        Refused("status", String(repeating: "s", count: 65)),
        Refused("config_hash", String(repeating: "c", count: 257)),
        Refused("forwards_hash", String(repeating: "f", count: 257)),
        Refused("dns", "1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5"), Refused("dns", "1.1.1.1/32", "dns[0]"),
    ]
    /// A line feed, an escape, a C1 control, two that turn or hide text, a line separator, and more.
    private static let unprintable: [Refused] = [
        "\n", "\u{1B}[31m", "\u{9B}2J", "\u{202E}", "\u{200B}", "\u{2028}", "\u{0}", "\u{7F}",
    ].flatMap { text -> [Refused] in
        ["device_id", "status", "endpoint", "config_hash", "forwards_hash", "admin_url", "server_wg_ip"].map {
            Refused($0, "a\(text)b")
        }
    }
    private static let texts: [Refused] = [
        badAddresses, noHosts, noInterfaces, gaps, endpoints, pages, longTexts, unprintable,
    ].flatMap { $0 }

    @Test("bad keys are refused by the name of their field", arguments: keys)
    func refusesKey(_ refused: Refused) throws {
        let error = try Sample.error([refused.name: refused.text])
        guard case .configInvalid(let field, let reason)? = error else {
            Issue.record("taken: \(String(describing: error))")
            return
        }
        #expect(field == refused.field)
        // A few letters of a key could be a word of the message.
        #expect(refused.text.count < 20 || !reason.contains(refused.text))
    }

    @Test("bad values are refused by the name of their field", arguments: texts)
    func refusesText(_ refused: Refused) throws {
        let error = try Sample.error([refused.name: refused.text])
        guard case .configInvalid(let field, let reason)? = error else {
            Issue.record("taken: \(String(describing: error))")
            return
        }
        #expect(field == refused.field)
        #expect(ShownText.isPlain(reason) && reason.utf8.count < 200)
    }

    @Test(
        "numbers are refused outside their range, with the name of their field",
        arguments: [
            ("mtu", "575"), ("mtu", "65536"), ("mtu", "0"), ("mtu", "-1400"), ("mtu", "1400.5"),
            ("mtu", "1e3"),
            ("mtu", "99999999999999999999"), ("keepalive", "-1"), ("keepalive", "65536"),
            ("keepalive", "2.5"),
            ("next_interval", "0"), ("next_interval", "-30"), ("next_interval", "-0.5"),
        ])
    func refusesNumber(_ name: String, _ number: String) throws {
        let text = String(decoding: try Sample.json([name: "@"]), as: UTF8.self)
        let json = Array(text.replacingOccurrences(of: "\"@\"", with: number).utf8)
        let error = #expect(throws: AgentError.self) { try HeartbeatResponse(parsing: json) }
        guard case .configInvalid(name, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("numbers at the ends of their range are taken")
    func ends() throws {
        #expect(try Sample.config(["mtu": 576]).mtu == 576)
        #expect(try Sample.config(["mtu": 65535]).mtu == 65535)
        #expect(try Sample.config(["keepalive": 0]).keepalive == 0)
        #expect(try Sample.config(["keepalive": 65535]).keepalive == 65535)
    }

    @Test(
        "the next interval is brought between one second and an hour",
        arguments: [(1, 1), (5, 5), (31, 31), (3600, 3600), (3601, 3600), (31_536_000, 3600)])
    func interval(_ asked: Int, _ seconds: Int) throws {
        let response = try HeartbeatResponse(parsing: Sample.json(["next_interval": asked]))
        #expect(response.nextInterval == .seconds(seconds))
        let short = try HeartbeatResponse(parsing: Sample.json(["next_interval": 0.001]))
        #expect(short.nextInterval == .seconds(1))
        let absurd = try HeartbeatResponse(parsing: Sample.json(["next_interval": 1e300]))
        #expect(absurd.nextInterval == .seconds(3600))
    }

    @Test("an interface with an IPv6 address needs the MTU that IPv6 needs")
    func ipv6MTU() throws {
        let error = try Sample.error(["internal_ip": "10.0.0.2, fd00::2", "mtu": 1279])
        #expect(error == .configInvalid(field: "mtu", reason: "is below 1280, which IPv6 needs"))
        #expect(try Sample.config(["internal_ip": "10.0.0.2, fd00::2", "mtu": 1280]).mtu == 1280)
    }

    @Test("lists longer than the limit are refused by their name")
    func longLists() throws {
        let prefixes = (0..<1025).map { "10.\($0 / 256).\($0 % 256).0/24" }
        #expect(try Sample.config(["allowed_ips": Array(prefixes.dropLast())]).allowedIPs.count == 1024)
        let values: [(String, Any, Any)] = [
            ("allowed_ips", prefixes, prefixes.joined(separator: ",")),
            ("internal_ip", prefixes.prefix(17).map(\.self), prefixes.prefix(17).joined(separator: ",")),
            ("dns", (1...5).map { "10.0.0.\($0)" }, "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5"),
        ]
        for (name, list, text) in values {
            for value in [list, text] {
                guard case .configInvalid(name, _)? = try Sample.error([name: value]) else {
                    Issue.record("\(name) was not refused")
                    continue
                }
            }
        }
    }

    @Test("a server key that is the device's own is refused")
    func ownKey() throws {
        let own = try PrivateKey(hexadecimal: Sample.privateKey).publicKey.base64
        let error = try Sample.error(["server_pub": own])
        #expect(error == .configInvalid(field: "server_pub", reason: "is this device's own key"))
    }

    @Test("a preshared key of zeros is none, as for WireGuard itself")
    func zeroPresharedKey() throws {
        #expect(try Sample.config(["preshared_key": Self.zeros]).presharedKey == nil)
        #expect(try Sample.config(["preshared_key": Self.zeroBase64]).presharedKey == nil)
    }

    @Test("odd but right values are taken")
    func oddValues() throws {
        #expect(try Sample.config(["device_id": "périphérique-中🔑"]).deviceID == "périphérique-中🔑")
        #expect(try Sample.config(["device_id": String(repeating: "d", count: 128)]).deviceID.count == 128)
        #expect(try Sample.config(["endpoint": "[fe80::1%eth0]:1"]).endpoint.port == 1)
        #expect(try Sample.config(["server_wg_ip": "10.0.0.1/24"]).serverAddress?.description == "10.0.0.1")
        #expect(try Sample.config(["private_key": Sample.privateKey.uppercased()]).mtu == 1400)
        #expect(
            try Sample.config(["allowed_ips": "10.1.2.3/8"]).allowedIPs.map(\.description) == ["10.0.0.0/8"])
        #expect(try Sample.config(["admin_url": "http://10.0.0.1:8080/a?b=c#d"]).adminURL?.count == 28)
    }
}
