// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Harness
import NexusGuard

/// A configuration as a server sends it, with fields to change one by one.
enum Sample {
    static let privateKey = "a8e34db9706a58e12e191b26872936a975c347aef423012bd39b1f46040e5c55"
    static let presharedKey = "9193c69ef3ce867dfbfe31e6df0137c60a38fdef25c83450ce82bb2571085ed1"
    static let serverKey = "268c4de72081d1a0d645cec360a3ce647650c35371fcabaab0f6803b5f9f56f2"

    /// The fields of a heartbeat response, as the seed of the interface lists them, and the optional ones.
    static var fields: [String: Any] {
        [
            "device_id": "device-0d1e78ef6515", "status": "ok", "internal_ip": "10.172.21.2",
            "private_key": privateKey, "preshared_key": presharedKey, "server_pub": serverKey,
            "endpoint": "vpn.example.net:59750", "dns": "1.1.1.1, 2606:4700::1111",
            "allowed_ips": "10.0.0.0/8, fd00::/8", "server_wg_ip": "10.172.21.1", "forwards_hash": "f-1",
            "config_hash": "c-1", "mtu": 1400, "keepalive": 20, "next_interval": 30,
            "admin_url": "https://admin.example.net/", "forwards": [forward],
        ]
    }

    /// A forward as a server sends it.
    static var forward: [String: Any] {
        ["protocol": "tcp", "public_port": 8443, "target_ip": "10.172.21.2", "target_port": 443]
    }

    /// The document with some fields changed; `NSNull` becomes `null`, and a name in `absent` is left out.
    static func json(_ changes: [String: Any] = [:], absent: Set<String> = []) throws -> [UInt8] {
        var fields = fields.merging(changes) { $1 }
        for name in absent { fields[name] = nil }
        return [UInt8](try JSONSerialization.data(withJSONObject: fields))
    }

    /// The configuration of the document.
    static func config(
        _ changes: [String: Any] = [:], absent: Set<String> = []
    ) throws -> WireGuardConfig {
        try WireGuardConfigCodec.parse(json(changes, absent: absent), requiresStatus: true)
    }

    /// What is wrong with a document, or `nil` when it is taken.
    static func error(_ changes: [String: Any] = [:], absent: Set<String> = []) throws -> AgentError? {
        let json = try json(changes, absent: absent)
        do {
            _ = try HeartbeatResponse(parsing: json)
            return nil
        } catch {
            return error
        }
    }

    /// The base64 form of hexadecimal digits.
    static func base64(_ hexadecimal: String) -> String {
        Data(Fixture.hex(hexadecimal)).base64EncodedString()
    }

    /// A random configuration whose every field varies.
    static func random(_ random: inout SeededGenerator) throws -> WireGuardConfig {
        func address(_ random: inout SeededGenerator) -> IPAddress {
            Bool.random(using: &random)
                ? IPAddress(ipv4: UInt32.random(in: 0x0100_0000...0x7EFF_FFFF, using: &random))
                : IPAddress(
                    ipv6High: 0x2001 << 48 | UInt64.random(in: 0...0xFFFF, using: &random), low: random.next()
                )
        }
        func text(_ random: inout SeededGenerator, _ count: Int) -> String {
            let letters = Array("abcXYZ019-_.:/ \"\\é中🔑")
            return String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
        }
        var config = WireGuardConfig(
            deviceID: text(&random, Int.random(in: 1...20, using: &random)),
            privateKey: try PrivateKey(rawRepresentation: random.bytes(32).span.bytes),
            addresses: [], serverPublicKey: try PublicKey(rawRepresentation: random.bytes(32)),
            endpoint: Endpoint(host: .name("a.example"), port: UInt16.random(in: 1...65535, using: &random)),
            allowedIPs: [])
        if Bool.random(using: &random) {
            config.presharedKey = try PresharedKey(rawRepresentation: random.bytes(32).span.bytes)
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let address = address(&random)
            let length = Int.random(in: 1...address.bitCount, using: &random)
            if let new = InterfaceAddress(address: address, length: length),
                !config.addresses.contains(new)
            {
                config.addresses.append(new)
            }
        }
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            let address = address(&random)
            let length = Int.random(in: 0...address.bitCount, using: &random)
            if let new = IPPrefix(address: address, length: length), !config.allowedIPs.contains(new) {
                config.allowedIPs.append(new)
            }
        }
        if Bool.random(using: &random) {
            config.endpoint = Endpoint(host: .address(address(&random), zone: nil), port: 51820)
        }
        config.nameServers = Array(
            Set((0..<Int.random(in: 0...4, using: &random)).map { _ in address(&random) }))
        if Bool.random(using: &random) { config.serverAddress = address(&random) }
        if Bool.random(using: &random) { config.mtu = Int.random(in: 1280...65535, using: &random) }
        config.keepalive = UInt16.random(in: 0...65535, using: &random)
        if Bool.random(using: &random) { config.configHash = text(&random, 10) }
        if Bool.random(using: &random) { config.forwardsHash = text(&random, 12) }
        if Bool.random(using: &random) { config.adminURL = "https://h.example/\(random.next())" }
        if Bool.random(using: &random) {
            config.forwards = (0..<Int.random(in: 0...5, using: &random)).map { index in
                PortForward(
                    transportProtocol: Bool.random(using: &random) ? .tcp : .udp,
                    publicPort: UInt16(1000 + index), targetAddress: address(&random),
                    targetPort: UInt16.random(in: 1...65535, using: &random))
            }
        }
        return config
    }
}
