// SPDX-License-Identifier: MIT

import NexusGuard
import Synchronization
import Testing

@Suite("Tunnel traffic")
struct TunnelTrafficTests {
    @Test("packets of two tunnels cross both ways in order over UDP")
    func bothWays() throws {
        let pair = try TunnelTestPair()
        defer { pair.stop() }
        // The first packets wait for the handshake, of which at most 128 may do so.
        #expect(pair.crossesToB(0..<40))
        #expect(pair.crossesToA(0..<300))
        #expect(pair.crossesToB(40..<400))

        let statistics = pair.tunnelA.statistics
        let peer = try #require(statistics.peers[pair.keyB.publicKey])
        #expect(peer.latestHandshake != nil)
        #expect(peer.sentByteCount > peer.receivedByteCount)
        #expect(statistics.drops.total == 0)
        // B was not told where A is.
        let endpoint = try #require(pair.tunnelB.statistics.peers[pair.keyA.publicKey]?.endpoint)
        #expect(endpoint.description == "127.0.0.1:\(statistics.listenPort)")
    }

    @Test("what the interface answers to a packet leaves in the same turn, before it is reported readable")
    func answersLeaveAtOnce() throws {
        let pair = try TunnelTestPair()
        defer { pair.stop() }
        pair.interfaceB.answerSilently()
        for numbers in [0..<1, 1..<40] {
            #expect(pair.crossesToB(numbers))
            let answers = numbers.map {
                testPacket(
                    from: TunnelTestPair.addressB, to: TunnelTestPair.addressA, number: $0, bodyByteCount: $0)
            }
            #expect(pair.interfaceA.take(answers.count) == answers)
        }
    }

    @Test("packets that nobody can get are counted by reason")
    func drops() throws {
        let pair = try TunnelTestPair()
        defer { pair.stop() }
        pair.interfaceA.send([
            testPacket(from: TunnelTestPair.addressA, to: 0x0A63_0001, number: 0, bodyByteCount: 20), [0x10],
            [],
        ])
        #expect(pair.crossesToB(0..<1))
        let drops = pair.tunnelA.statistics.drops
        #expect(drops[.noRoute] == 1)
        #expect(drops[.malformedPacket] == 2)
        #expect(drops.total == 3)
    }

    @Test("a change of another peer keeps the session: no new handshake, no packet lost")
    func updateKeepsSession() throws {
        let pair = try TunnelTestPair()
        defer { pair.stop() }
        #expect(pair.crossesToB(0..<10))
        let before = try #require(pair.tunnelA.statistics.peers[pair.keyB.publicKey])

        var configuration = pair.configurationA
        configuration.peers[0].persistentKeepalive = 3600
        configuration.peers[0].allowedIPs.append(try IPPrefix("10.8.0.0/16"))
        configuration.peers.append(
            PeerConfiguration(publicKey: PrivateKey().publicKey, allowedIPs: [try IPPrefix("10.9.0.0/16")]))
        try pair.tunnelA.update(configuration)
        #expect(pair.crossesToB(10..<20))
        #expect(pair.crossesToA(0..<5))

        let after = try #require(pair.tunnelA.statistics.peers[pair.keyB.publicKey])
        #expect(after.latestHandshake == before.latestHandshake)
        #expect(after.sentByteCount > before.sentByteCount)
        #expect(pair.tunnelA.statistics.peers.count == 2)
        let runtime = try pair.tunnelA.runtimeConfiguration()
        #expect(runtime.peers[0].persistentKeepalive == 3600)
        #expect(runtime.peers[0].allowedIPs.map(\.description) == ["10.7.0.2/32", "10.8.0.0/16"])

        try pair.tunnelA.update(pair.configurationA)
        #expect(pair.tunnelA.statistics.peers.count == 1)
        #expect(pair.tunnelA.statistics.peers[pair.keyB.publicKey]?.latestHandshake == before.latestHandshake)
        #expect(pair.crossesToB(20..<30))
    }

    @Test("a port in use refuses the whole change, and the old port keeps working")
    func portInUse() throws {
        let pair = try TunnelTestPair()
        defer { pair.stop() }
        #expect(pair.crossesToB(0..<3))
        let port = pair.tunnelA.statistics.listenPort
        let other = try TunnelTestPort()

        var configuration = pair.configurationA
        configuration.listenPort = other.port
        configuration.peers = []
        #expect(throws: TunnelError.portInUse(other.port)) { try pair.tunnelA.update(configuration) }
        #expect(throws: TunnelError.portInUse(other.port)) {
            try pair.tunnelA.uapiSet("listen_port=\(other.port)\nreplace_peers=true\n")
        }
        #expect(pair.tunnelA.statistics.listenPort == port)
        #expect(pair.tunnelA.statistics.peers.count == 1)
        #expect(pair.tunnelA.configuration?.listenPort == 0)
        #expect(pair.crossesToB(3..<8))
    }

    @Test("a new port is used at once, and the peer follows to it")
    func newPort() throws {
        let pair = try TunnelTestPair()
        defer { pair.stop() }
        #expect(pair.crossesToB(0..<3))
        var other = try openQuietTransport()
        let free = other.port
        other.close()
        try pair.tunnelA.uapiSet("listen_port=\(free)\n")
        #expect(pair.tunnelA.statistics.listenPort == free)
        #expect(pair.crossesToB(3..<6))
        #expect(pair.crossesToA(0..<3))
        let endpoint = pair.tunnelB.statistics.peers[pair.keyA.publicKey]?.endpoint
        #expect(endpoint?.port == free)
    }

    @Test("events tell the handshake to every stream, and the streams end with the tunnel")
    func events() async throws {
        let pair = try TunnelTestPair()
        let (first, second) = (pair.tunnelA.events, pair.tunnelA.events)
        #expect(pair.crossesToB(0..<1))
        pair.stop()
        for stream in [first, second] {
            var seen: [TunnelEvent] = []
            for await event in stream { seen.append(event) }
            #expect(
                seen == [
                    .handshakeStarted(pair.keyB.publicKey), .handshakeCompleted(pair.keyB.publicKey),
                    .stopped,
                ])
        }
    }

    @Test("a log line shows the ends of a public key and nothing of a private one")
    func log() throws {
        let lines = Mutex<[String]>([])
        let line = MutexBox(lines)
        var options = TunnelOptions()
        options.logLevel = .debug
        options.logHandler = { _, text in line.append(text) }
        let pair = try TunnelTestPair(optionsA: options)
        #expect(pair.crossesToB(0..<1))
        pair.stop()
        let text = line.all.joined(separator: "\n")
        let key = pair.keyB.publicKey.base64
        #expect(text.contains("peer(\(key.prefix(4))…\(key.dropLast().suffix(4))) - handshake completed"))
        #expect(!text.contains(key))
        #expect(!text.contains(pair.keyA.base64))
    }
}

/// Lines that threads add to.
final class MutexBox: Sendable {
    private let lines: Mutex<[String]>

    init(_ lines: consuming Mutex<[String]> = Mutex([])) {
        self.lines = lines
    }

    func append(_ line: String) { lines.withLock { $0.append(line) } }

    var all: [String] { lines.withLock { $0 } }
}
