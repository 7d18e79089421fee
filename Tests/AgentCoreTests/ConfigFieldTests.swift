// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import Testing

@Suite("fields of a configuration")
struct ConfigFieldTests {
    @Test("the whole document is taken, each field where it belongs")
    func whole() throws {
        let response = try HeartbeatResponse(parsing: Sample.json())
        let config = response.config
        #expect(response.status == "ok")
        #expect(response.nextInterval == .seconds(30))
        #expect(config.deviceID == "device-0d1e78ef6515")
        #expect(config.privateKey.isEqual(to: try PrivateKey(hexadecimal: Sample.privateKey)))
        let presharedKey = try PresharedKey(hexadecimal: Sample.presharedKey)
        #expect(config.presharedKey?.isEqual(to: presharedKey) == true)
        #expect(config.serverPublicKey.hexadecimal == Sample.serverKey)
        #expect(config.addresses == [try InterfaceAddress("10.172.21.2/32")])
        #expect(config.endpoint == (try Endpoint("vpn.example.net:59750")))
        #expect(config.nameServers == [try IPAddress("1.1.1.1"), try IPAddress("2606:4700::1111")])
        #expect(config.allowedIPs == [try IPPrefix("10.0.0.0/8"), try IPPrefix("fd00::/8")])
        #expect(config.serverAddress == (try IPAddress("10.172.21.1")))
        #expect(config.mtu == 1400)
        #expect(config.keepalive == 20)
        #expect(config.configHash == "c-1")
        #expect(config.forwardsHash == "f-1")
        #expect(config.adminURL == "https://admin.example.net/")
        let target = try IPAddress("10.172.21.2")
        #expect(
            config.forwards == [
                PortForward(
                    transportProtocol: .tcp, publicPort: 8443, targetAddress: target, targetPort: 443)
            ])
    }

    @Test(
        "a field that must be there is named when it is absent, null or empty",
        arguments: [
            "device_id", "status", "internal_ip", "private_key", "server_pub", "endpoint", "allowed_ips",
        ])
    func required(_ name: String) throws {
        for error in [
            try Sample.error(absent: [name]), try Sample.error([name: NSNull()]),
            try Sample.error([name: ""]),
        ] {
            guard case .configInvalid(let field, let reason)? = error else {
                Issue.record("\(name) was not missed: \(String(describing: error))")
                continue
            }
            #expect(field == name)
            #expect(reason == "is missing" || reason == "is empty")
        }
    }

    @Test("the status is asked for only where it belongs")
    func status() throws {
        let json = try Sample.json(absent: ["status"])
        #expect(try WireGuardConfigCodec.parse(json, requiresStatus: false).mtu == 1400)
        #expect(throws: AgentError.configInvalid(field: "status", reason: "is missing")) {
            try WireGuardConfigCodec.parse(json, requiresStatus: true)
        }
    }

    @Test(
        "a field that need not be there may be absent or null",
        arguments: [
            "preshared_key", "dns", "server_wg_ip", "forwards_hash", "config_hash", "mtu", "keepalive",
            "next_interval", "admin_url", "forwards",
        ])
    func optional(_ name: String) throws {
        #expect(try Sample.error(absent: [name]) == nil)
        #expect(try Sample.error([name: NSNull()]) == nil)
    }

    @Test("what is absent has the documented value")
    func defaults() throws {
        let names: Set = [
            "preshared_key", "dns", "server_wg_ip", "forwards_hash", "config_hash", "mtu", "keepalive",
            "next_interval", "admin_url", "forwards",
        ]
        let response = try HeartbeatResponse(parsing: Sample.json(absent: names))
        #expect(response.nextInterval == nil)
        #expect(response.config.presharedKey == nil)
        #expect(response.config.nameServers.isEmpty)
        #expect(response.config.serverAddress == nil)
        #expect(response.config.forwardsHash == nil)
        #expect(response.config.configHash == nil)
        #expect(response.config.mtu == nil)
        #expect(response.config.keepalive == 25)
        #expect(response.config.adminURL == nil)
        #expect(response.config.forwards == nil)
        for name in ["preshared_key", "dns", "server_wg_ip", "forwards_hash", "config_hash", "admin_url"] {
            #expect(try Sample.error([name: ""]) == nil)
        }
    }

    @Test(
        "each field is refused by its name when it is of another kind", arguments: Sample.fields.keys.sorted()
    )
    func kinds(_ name: String) throws {
        let values: [Any] = [true, ["a": 1], [1], [["a"]], 0.5, "\u{1B}[2Jx"]
        for value in values {
            if name == "next_interval", value as? Double == 0.5 { continue }
            guard case .configInvalid(let field, let reason)? = try Sample.error([name: value]) else {
                Issue.record("\(name) was taken as \(value)")
                continue
            }
            #expect(field == name || field.hasPrefix("\(name)["))
            #expect(!reason.isEmpty && ShownText.isPlain(reason))
        }
    }

    @Test("lists may be lists, texts with commas, or one text")
    func lists() throws {
        let listed = try Sample.config([
            "internal_ip": ["10.172.21.2/24", "fd07::2"], "dns": ["1.1.1.1", " 9.9.9.9 "],
            "allowed_ips": ["0.0.0.0/0", "::/0"],
        ])
        let written = try Sample.config([
            "internal_ip": "10.172.21.2/24,fd07::2", "dns": "1.1.1.1 ,9.9.9.9",
            "allowed_ips": " 0.0.0.0/0,   ::/0 ",
        ])
        #expect(listed.addresses.map(\.description) == ["10.172.21.2/24", "fd07::2/128"])
        #expect(listed.nameServers.map(\.description) == ["1.1.1.1", "9.9.9.9"])
        #expect(listed.allowedIPs.map(\.description) == ["0.0.0.0/0", "::/0"])
        #expect(listed.addresses == written.addresses)
        #expect(listed.nameServers == written.nameServers)
        #expect(listed.allowedIPs == written.allowedIPs)
        #expect(try Sample.config(["dns": []]).nameServers.isEmpty)
        let twice = try Sample.config(["allowed_ips": "10.1.2.3/8, 10.0.0.0/8", "dns": "1.1.1.1,1.1.1.1"])
        #expect(twice.allowedIPs == [try IPPrefix("10.0.0.0/8")])
        #expect(twice.nameServers.count == 1)
    }

    @Test("camel case is read too, and a field in both spellings is refused")
    func camelCase() throws {
        let names = [
            "device_id": "deviceId", "internal_ip": "internalIp", "private_key": "privateKey",
            "preshared_key": "presharedKey", "server_pub": "serverPub", "allowed_ips": "allowedIps",
            "server_wg_ip": "serverWgIp", "forwards_hash": "forwardsHash", "config_hash": "configHash",
            "next_interval": "nextInterval", "admin_url": "adminUrl",
        ]
        var changes: [String: Any] = [:]
        for (snake, camel) in names { changes[camel] = Sample.fields[snake] }
        let config = try Sample.config(changes, absent: Set(names.keys))
        #expect(config.tunnelDigest == (try Sample.config().tunnelDigest))
        #expect(config.difference(from: try Sample.config()) == .none)
        for (snake, camel) in names {
            let error = try Sample.error([camel: Sample.fields[snake] ?? ""])
            #expect(
                error
                    == .configInvalid(field: snake, reason: "is given twice, as \(snake) and as \(camel)"))
        }
    }

    @Test("unknown fields are ignored, whatever they hold")
    func unknown() throws {
        let config = try Sample.config(["extra": ["deep": [1, 2, ["x": NSNull()]]], "version": 7])
        #expect(config.difference(from: try Sample.config()) == .none)
    }

    @Test(
        "a document that is no object is refused",
        arguments: ["[]", "null", "\"text\"", "1", "true", "[{\"device_id\":\"a\"}]"])
    func noObject(_ text: String) {
        let error = #expect(throws: AgentError.self) {
            try WireGuardConfigCodec.parse(Array(text.utf8), requiresStatus: false)
        }
        guard case .configInvalid("document", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
