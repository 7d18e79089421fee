// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl
import Synchronization
import Testing

/// A server peer in memory, with real UDP on loopback between it and its devices.
final class TunnelBench: Sendable {
    static let serverAddress: UInt32 = 0x0AAC_1501

    let directory: TemporaryDirectory
    let store: SQLiteStore
    let key = PrivateKey()
    let interface = MemoryInterface(name: "server")
    let server: ServerTunnel
    let ends = Counter()
    private let made: Maker

    /// Remembers the tunnel that the server made.
    private final class Maker: Sendable {
        let tunnel = Mutex<Tunnel?>(nil)
    }

    init() throws {
        directory = try TemporaryDirectory()
        store = try SQLiteStore(directory: directory.path, createsFile: true)
        let made = Maker()
        self.made = made
        let interface = interface
        server = ServerTunnel(store: store, privateKey: key, listenPort: 0, log: TestLog()) { configuration in
            let tunnel = Tunnel(interface: interface, configuration: configuration)
            made.tunnel.withLock { $0 = tunnel }
            return tunnel
        }
    }

    /// Starts the server peer.
    func start() async throws {
        try await server.start { [ends] in ends.increase() }
    }

    /// The server's tunnel.
    var tunnel: Tunnel {
        get throws { try #require(made.tunnel.withLock { $0 }) }
    }

    /// Enrols a device as the server does it.
    func enrol(_ token: String, in store: SQLiteStore? = nil) async throws -> DeviceRecord {
        let store = store ?? self.store
        #expect(try await store.addToken(Samples.token(token)))
        let request = Samples.enrolment(token: token, hwid: token, pools: [try Samples.pool()])
        return try #require(await store.enrol(request).device)
    }

    /// Starts the other end of a device.
    func connect(_ device: DeviceRecord, _ keys: DeviceKeys? = nil) throws -> TestPeer {
        let keys = try #require(keys ?? device.newestKeys)
        let port = try tunnel.statistics.listenPort
        try #require(port > 0)
        return try TestPeer(device, keys, serverKey: key.publicKey, port: port)
    }

    /// Sends packets from a device until one arrives, and one back until that arrives.
    func exchange(_ peer: TestPeer, number: UInt8) async throws {
        let there = MemoryInterface.packet(from: peer.address, to: Self.serverAddress, number: number)
        try await eventually("packet \(number) reaches the server") {
            peer.interface.send(there)
            return self.interface.delivered.contains(there)
        }
        let back = MemoryInterface.packet(from: Self.serverAddress, to: peer.address, number: number)
        try await eventually("packet \(number) comes back") {
            self.interface.send(back)
            return peer.interface.delivered.contains(back)
        }
    }

    /// Whether the session with keys is still the one of an earlier handshake.
    ///
    /// Keys are renewed after 120 s (section 6.2 of the paper), which a busy machine may reach within a test.
    func continues(_ keys: DeviceKeys?, since former: Duration) throws -> Bool {
        guard let now = try handshake(keys) else { return false }
        return now == former || now - former >= .seconds(118)
    }

    /// When the last handshake with keys was, if there was one.
    func handshake(_ keys: DeviceKeys?) throws -> Duration? {
        let key = try #require(keys?.wireGuardPrivateKey).publicKey
        return try tunnel.statistics.peers[key]?.latestHandshake
    }
}

/// The other end of a device.
final class TestPeer: Sendable {
    let interface: MemoryInterface
    let tunnel: Tunnel
    let address: UInt32

    init(_ device: DeviceRecord, _ keys: DeviceKeys, serverKey: PublicKey, port: UInt16) throws {
        interface = MemoryInterface(name: "peer")
        let text = try #require(device.addresses.first).description
        address = text.split(separator: ".").reduce(0) { $0 << 8 | (UInt32($1) ?? 0) }
        let peer = PeerConfiguration(
            publicKey: serverKey, presharedKey: keys.wireGuardPresharedKey,
            allowedIPs: [try IPPrefix("10.172.21.0/24")], endpoint: try Endpoint("127.0.0.1:\(port)"))
        tunnel = Tunnel(
            interface: interface,
            configuration: TunnelConfiguration(
                privateKey: try #require(keys.wireGuardPrivateKey), peers: [peer]))
        try tunnel.start()
    }

    deinit {
        tunnel.stop()
    }
}

/// A condition that did not come true.
struct NeverTrue: Error, CustomStringConvertible {
    let description: String
}

/// Returns once `condition` holds; asks again and again.
func eventually(
    _ sentence: String, atMost limit: Duration = .seconds(600), _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NeverTrue(description: "never so: \(sentence)") }
        try await Task.sleep(for: .milliseconds(20))
    }
}
