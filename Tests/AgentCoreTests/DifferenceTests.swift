// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Harness
import NexusGuard
import Testing

@Suite("differences and digests")
struct DifferenceTests {
    private static let otherKey = "268c4de72081d1a0d645cec360a3ce647650c35371fcabaab0f6803b5f9f56f3"

    /// A change of the sample document and what it asks for.
    struct Change: CustomTestStringConvertible, Sendable {
        let name: String
        let value: String
        let difference: ConfigDifference
        var testDescription: String { "\(name) = \(value)" }

        init(_ name: String, _ value: String, _ difference: ConfigDifference) {
            self.name = name
            self.value = value
            self.difference = difference
        }

        /// The sample with the change; a value that is a number becomes one.
        func config() throws -> WireGuardConfig {
            if name == "forwards" { return try Sample.config(["forwards": []]) }
            let isNumber = name == "mtu" || name == "keepalive"
            return try Sample.config([name: isNumber ? Int(value) ?? 0 : value])
        }
    }

    private static let changes = [
        Change("device_id", "device-1", .identity),
        Change("private_key", otherKey, .identity),
        Change("server_pub", otherKey, .identity),
        Change("internal_ip", "10.172.21.3", .host),
        Change("internal_ip", "10.172.21.2/24", .host),
        Change("internal_ip", "10.172.21.2, fd00::2", .host),
        Change("allowed_ips", "10.0.0.0/8", .host),
        Change("allowed_ips", "10.0.0.0/9, fd00::/8", .host),
        Change("dns", "1.1.1.1", .host),
        Change("dns", "2606:4700::1111, 1.1.1.1", .host),
        Change("dns", "", .host),
        Change("server_wg_ip", "10.172.21.9", .host),
        Change("mtu", "1401", .host),
        Change("preshared_key", otherKey, .peer),
        Change("preshared_key", "", .peer),
        Change("endpoint", "vpn.example.net:59751", .peer),
        Change("endpoint", "192.0.2.1:59750", .peer),
        Change("keepalive", "0", .peer),
        Change("forwards_hash", "f-2", .forwards),
        Change("forwards_hash", "", .forwards),
        Change("forwards", "", .forwards),
        Change("config_hash", "c-2", .none),
        Change("admin_url", "https://other.example.net/", .none),
        Change("status", "renewed", .none),
    ]

    @Test("each change asks for what the table says, in both directions", arguments: changes)
    func table(_ change: Change) throws {
        let sample = try Sample.config()
        let changed = try change.config()
        #expect(changed.difference(from: sample) == change.difference)
        #expect(sample.difference(from: changed) == change.difference)
        #expect(changed.difference(from: changed) == .none)
    }

    @Test("of two changes the larger one counts", arguments: changes)
    func pairs(_ change: Change) throws {
        let sample = try Sample.config()
        for other in Self.changes where other.name != change.name {
            // A changed field of the one, put into the other.
            var both = try change.config()
            let second = try other.config()
            switch other.name {
            case "device_id": both.deviceID = second.deviceID
            case "private_key": both.privateKey = second.privateKey
            case "server_pub": both.serverPublicKey = second.serverPublicKey
            case "internal_ip": both.addresses = second.addresses
            case "allowed_ips": both.allowedIPs = second.allowedIPs
            case "dns": both.nameServers = second.nameServers
            case "server_wg_ip": both.serverAddress = second.serverAddress
            case "mtu": both.mtu = second.mtu
            case "preshared_key": both.presharedKey = second.presharedKey
            case "endpoint": both.endpoint = second.endpoint
            case "keepalive": both.keepalive = second.keepalive
            case "forwards_hash": both.forwardsHash = second.forwardsHash
            case "forwards": both.forwards = second.forwards
            default: continue
            }
            #expect(both.difference(from: sample) == max(change.difference, other.difference))
        }
    }

    @Test("the digest changes with each field of the tunnel and with nothing else", arguments: changes)
    func digest(_ change: Change) throws {
        let same = try Sample.config().tunnelDigest == change.config().tunnelDigest
        // The device is not a field of the tunnel.
        #expect(same == (change.difference <= .forwards || change.name == "device_id"))
    }

    @Test("all changes of the tunnel have digests of their own, of 32 bytes")
    func distinct() throws {
        var digests: Set<[UInt8]> = []
        for change in Self.changes where change.difference >= .peer && change.name != "device_id" {
            let digest = try change.config().tunnelDigest
            #expect(digest.count == 32)
            #expect(digests.insert(digest).inserted, "\(change.testDescription)")
        }
    }

    @Test("neither order nor spelling counts")
    func spelling() throws {
        let sample = try Sample.config(["internal_ip": "10.172.21.2, fd00::2"])
        let spellings: [[String: Any]] = [
            ["private_key": Sample.base64(Sample.privateKey)],
            ["private_key": Sample.privateKey.uppercased()],
            ["server_pub": Sample.base64(Sample.serverKey)],
            ["preshared_key": Sample.base64(Sample.presharedKey)],
            ["internal_ip": "fd00:0:0::0002/128,10.172.21.2/32"],
            ["internal_ip": ["FD00::2", "10.172.21.2"]],
            ["allowed_ips": "fd00::/8, 10.0.0.0/8"],
            ["allowed_ips": ["10.9.9.9/8", "FDFF::1/8", "10.0.0.0/8"]],
            ["dns": ["1.1.1.1", "2606:4700:0:0::1111"]],
            ["endpoint": "VPN.Example.NET:59750"],
            ["endpoint": "vpn.example.net.:59750"],
            ["server_wg_ip": "10.172.21.1/24"],
        ]
        for spelling in spellings {
            var changes: [String: Any] = ["internal_ip": "10.172.21.2, fd00::2"]
            changes.merge(spelling) { $1 }
            let other = try Sample.config(changes)
            #expect(other.tunnelDigest == sample.tunnelDigest, "\(spelling.keys)")
            #expect(other.difference(from: sample) == .none, "\(spelling.keys)")
        }
        // The bits that clamping sets (RFC 7748) are the same key too.
        let clamped = try PrivateKey(hexadecimal: Sample.privateKey).base64
        let other = try Sample.config(["internal_ip": "10.172.21.2, fd00::2", "private_key": clamped])
        #expect(other.tunnelDigest == sample.tunnelDigest)
    }

    @Test("shuffled lists have the same digest", arguments: 0..<30 as Range<UInt64>)
    func shuffled(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let config = try Sample.random(&random)
        var other = config
        other.addresses.shuffle(using: &random)
        other.allowedIPs.shuffle(using: &random)
        other.forwards?.shuffle(using: &random)
        #expect(other.tunnelDigest == config.tunnelDigest)
        #expect(other.difference(from: config) == .none)
    }

    @Test("the engine gets the server as its one peer")
    func tunnelConfiguration() throws {
        let config = try Sample.config()
        let tunnel = config.tunnelConfiguration(firewallMark: 0x4E47_0000)
        #expect(tunnel.privateKey.isEqual(to: config.privateKey))
        #expect(tunnel.firewallMark == 0x4E47_0000)
        #expect(tunnel.listenPort == 0)
        let peer = try #require(tunnel.peers.first)
        #expect(tunnel.peers.count == 1)
        #expect(peer.publicKey == config.serverPublicKey)
        #expect(peer.presharedKey?.base64 == config.presharedKey?.base64)
        #expect(peer.allowedIPs == config.allowedIPs)
        #expect(peer.endpoint == config.endpoint)
        #expect(peer.persistentKeepalive == 20)
    }
}
