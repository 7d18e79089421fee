// SPDX-License-Identifier: MIT

import Foundation
import NexusGuard
import Synchronization
import Testing

@Suite("Tunnel life")
struct TunnelLifeTests {
    private func makeTunnel(
        _ interface: TunnelTestInterface, options: TunnelOptions = TunnelOptions()
    ) -> Tunnel {
        let configuration = TunnelConfiguration(privateKey: PrivateKey())
        return Tunnel(interface: interface, configuration: configuration, options: options)
    }

    @Test("a second start is refused and the tunnel goes on; a second stop does nothing")
    func twice() throws {
        let tunnel = makeTunnel(try TunnelTestInterface(name: "life"))
        #expect(!tunnel.isRunning)
        try tunnel.start()
        #expect(throws: TunnelError.alreadyRunning) { try tunnel.start() }
        #expect(tunnel.isRunning)
        #expect(tunnel.statistics.listenPort != 0)
        tunnel.stop()
        #expect(!tunnel.isRunning)
        tunnel.stop()
        #expect(!tunnel.isRunning)
    }

    @Test("a stopped tunnel starts again with new event streams")
    func again() async throws {
        let tunnel = makeTunnel(try TunnelTestInterface(name: "life"))
        for _ in 0..<3 {
            let events = tunnel.events
            try tunnel.start()
            tunnel.stop()
            var seen: [TunnelEvent] = []
            for await event in events { seen.append(event) }
            #expect(seen.count == 2)
            #expect(seen.last == .stopped)
        }
    }

    @Test("a tunnel that does not run refuses what needs it to run")
    func beforeStart() throws {
        let tunnel = makeTunnel(try TunnelTestInterface(name: "life"))
        let configuration = TunnelConfiguration(privateKey: PrivateKey())
        #expect(throws: TunnelError.notRunning) { try tunnel.update(configuration) }
        #expect(throws: TunnelError.notRunning) { try tunnel.uapiSet("listen_port=1\n") }
        #expect(throws: TunnelError.notRunning) { try tunnel.uapiGet() }
        #expect(throws: TunnelError.notRunning) { try tunnel.runtimeConfiguration() }
        #expect(tunnel.statistics == tunnel.statistics)
        #expect(tunnel.statistics.listenPort == 0)
        tunnel.waitUntilStopped()
        tunnel.stop()
    }

    @Test("a tunnel that nobody holds any more stops and closes its port")
    func deinitialised() throws {
        let events = MutexBox()
        var options = TunnelOptions()
        options.logLevel = .debug
        options.logHandler = { _, text in events.append(text) }
        var tunnel: Tunnel? = makeTunnel(try TunnelTestInterface(name: "life"), options: options)
        try tunnel?.start()
        tunnel = nil
        #expect(events.all.last == TunnelEvent.stopped.description)
    }

    @Test("the end of the interface ends the tunnel")
    func removed() async throws {
        let interface = try TunnelTestInterface(name: "life")
        let tunnel = makeTunnel(interface)
        let events = tunnel.events
        try tunnel.start()
        interface.remove()
        tunnel.waitUntilStopped()
        #expect(!tunnel.isRunning)
        #expect(throws: TunnelError.notRunning) { try tunnel.uapiGet() }
        var seen: [TunnelEvent] = []
        for await event in events { seen.append(event) }
        #expect(seen.suffix(2) == [.interfaceRemoved, .stopped])
    }

    @Test("calls on the tunnel's own thread are refused instead of waiting for themselves")
    func ownThread() throws {
        let interface = try TunnelTestInterface(name: "life")
        let tunnel = makeTunnel(interface)
        try tunnel.start()
        let outcome = MutexBox()
        interface.atNextRead { [weak tunnel] in
            guard let tunnel else { return }
            do throws(TunnelError) {
                try tunnel.uapiSet("fwmark=0\n")
                outcome.append("applied")
            } catch {
                outcome.append(error.description)
            }
            outcome.append("\(tunnel.statistics.listenPort)")
            tunnel.waitUntilStopped()
            tunnel.stop()
            outcome.append("returned")
        }
        tunnel.waitUntilStopped()
        #expect(outcome.all == [TunnelError.calledFromHandler.description, "0", "returned"])
        #expect(!tunnel.isRunning)
    }

    @Test("the log handler may stop the tunnel")
    func stopInHandler() throws {
        let holder = Mutex<Tunnel?>(nil)
        let shared = TunnelHolder(holder)
        var options = TunnelOptions()
        options.logLevel = .debug
        options.logHandler = { _, text in
            if text.contains("removed") { shared.tunnel?.stop() }
        }
        let interface = try TunnelTestInterface(name: "life")
        let tunnel = makeTunnel(interface, options: options)
        shared.tunnel = tunnel
        try tunnel.start()
        interface.remove()
        tunnel.waitUntilStopped()
        #expect(!tunnel.isRunning)
        shared.tunnel = nil
    }

    @Test("a port in use at the start is named, and nothing is left running")
    func portInUse() throws {
        let port = try TunnelTestPort()
        let interface = try TunnelTestInterface(name: "life")
        let tunnel = Tunnel(
            interface: interface,
            configuration: TunnelConfiguration(privateKey: PrivateKey(), listenPort: port.port))
        #expect(throws: TunnelError.portInUse(port.port)) { try tunnel.start() }
        #expect(!tunnel.isRunning)
    }

    @Test("a peer configured twice and a name without address are refused at the start")
    func refusedConfigurations() throws {
        let peer = PeerConfiguration(publicKey: PrivateKey().publicKey)
        let twice = Tunnel(
            interface: try TunnelTestInterface(name: "life"),
            configuration: TunnelConfiguration(privateKey: PrivateKey(), peers: [peer, peer]))
        #expect(throws: TunnelError.duplicatePeer(peer.publicKey)) { try twice.start() }

        var unknown = peer
        unknown.endpoint = try Endpoint("a..b:51820")
        let unresolved = Tunnel(
            interface: try TunnelTestInterface(name: "life"),
            configuration: TunnelConfiguration(privateKey: PrivateKey(), peers: [unknown]))
        let error = try #require(throws: TunnelError.self) { try unresolved.start() }
        guard case .unresolvedEndpoint("a..b:51820", _) = error else {
            Issue.record("unexpected error: \(error)")
            return
        }
    }

    @Test("an endpoint on an unknown interface is an error of its peer, and the others load")
    func unknownZone() async throws {
        var zoned = PeerConfiguration(publicKey: PrivateKey().publicKey)
        zoned.endpoint = try Endpoint("[fe80::1%nosuchif0]:51820")
        var other = PeerConfiguration(publicKey: PrivateKey().publicKey)
        other.endpoint = try Endpoint("192.0.2.1:51820")
        let tunnel = Tunnel(
            interface: try TunnelTestInterface(name: "life"),
            configuration: TunnelConfiguration(privateKey: PrivateKey(), peers: [zoned, other]))
        let events = tunnel.events
        try tunnel.start()
        let peers = tunnel.statistics.peers
        #expect(peers.count == 2)
        #expect(peers[zoned.publicKey]?.endpoint == nil)
        #expect(peers[other.publicKey]?.endpoint?.description == "192.0.2.1:51820")
        tunnel.stop()
        var told: [TunnelEvent] = []
        for await event in events { told.append(event) }
        let reason = "there is no interface 'nosuchif0'"
        #expect(told.contains(.endpointUnusable(zoned.publicKey, reason: reason)))
    }

    @Test("a configuration comes from a file, and a file that is refused is named with its line")
    func configurationFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "ng-\(UUID().uuidString).conf").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let key = PrivateKey()
        let peer = PrivateKey().publicKey
        let text = """
            [Interface]
            PrivateKey = \(key.base64)
            ListenPort = 51820
            [Peer]
            PublicKey = \(peer.base64)
            AllowedIPs = 10.0.0.0/8

            """
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        let configuration = try TunnelConfiguration(contentsOf: path)
        #expect(configuration.privateKey.isEqual(to: key))
        #expect(configuration.listenPort == 51820)
        #expect(configuration.peers.map(\.publicKey) == [peer])

        try (text + "Nonsense = 1\n").write(toFile: path, atomically: false, encoding: .utf8)
        let invalid = #expect(throws: ConfigurationReadError.self) {
            try TunnelConfiguration(contentsOf: path)
        }
        #expect(invalid?.description.hasPrefix("\(path), line 7: ") == true)
        let missing = #expect(throws: ConfigurationReadError.self) {
            try TunnelConfiguration(contentsOf: "\(path).missing")
        }
        #expect(missing?.description.contains("No such file") == true)
    }

    @Test("get and set calls from many threads while peers come and go all end", .timeLimit(.minutes(20)))
    func parallelCalls() throws {
        let tunnel = makeTunnel(try TunnelTestInterface(name: "life"))
        try tunnel.start()
        let rounds = 10_000
        let key = PrivateKey().publicKey.hexadecimal
        let isDone = AtomicFlag()
        let failures = MutexBox()
        let reader = try WorkerThread(name: "reader") {
            while !isDone.isSet {
                guard let text = try? tunnel.uapiGet(), text.hasPrefix("private_key=") else {
                    failures.append("get")
                    return
                }
            }
        }
        for _ in 0..<rounds {
            try tunnel.uapiSet("public_key=\(key)\nallowed_ip=10.1.0.0/16\n")
            try tunnel.uapiSet("public_key=\(key)\nremove=true\n")
        }
        isDone.set()
        reader.join()
        #expect(failures.all.isEmpty)
        #expect(tunnel.statistics.peers.isEmpty)
        tunnel.stop()
    }
}

/// Holds a tunnel weakly for a handler that is made before it.
final class TunnelHolder: Sendable {
    private let holder: Mutex<Tunnel?>

    init(_ holder: consuming Mutex<Tunnel?>) {
        self.holder = holder
    }

    var tunnel: Tunnel? {
        get { holder.withLock { $0 } }
        set { holder.withLock { $0 = newValue } }
    }
}

/// A flag that one thread sets for another.
final class AtomicFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}
