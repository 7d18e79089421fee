// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import NexusGuard
import Testing
import WireGuardConfiguration
import WireGuardCrypto

@Suite("UAPI socket server", .serialized)
struct UAPISocketServerTests {
    /// A running tunnel with a control socket in a directory of its own.
    private final class Served {
        let directory = UAPISocketDirectory()
        let interface: TunnelTestInterface
        let tunnel: Tunnel
        var path: String { "\(directory.path)/served.sock" }

        init(privateKey: PrivateKey? = PrivateKey()) throws {
            interface = try TunnelTestInterface(name: "served")
            var options = TunnelOptions()
            options.exposesControlSocket = true
            options.controlSocketDirectory = directory.path
            let key = privateKey.map { TunnelConfiguration(privateKey: $0) }
            tunnel = Tunnel(name: "served", initial: key, interface: interface, options: options)
            try tunnel.start()
        }

        func client() throws -> UAPISocketClient { try UAPISocketClient(path: path) }

        deinit {
            tunnel.stop()
        }
    }

    @Test("what is set is what get tells, and what the embedder sees")
    func setAndGet() throws {
        let served = try Served(privateKey: nil)
        let own = PrivateKey()
        let peer = PrivateKey().publicKey
        let client = try served.client()
        let text = """
            private_key=\(own.hexadecimal)
            listen_port=0
            public_key=\(peer.hexadecimal)
            endpoint=192.0.2.7:51820
            persistent_keepalive_interval=0
            allowed_ip=10.2.0.0/16
            allowed_ip=fd02::/64

            """
        #expect(try client.ask("set=1\n\(text)\n") == "errno=0\n\n")
        let answer = try client.ask("get=1\n\n")
        let port = served.tunnel.statistics.listenPort
        #expect(
            answer == """
                private_key=\(own.hexadecimal)
                listen_port=\(port)
                public_key=\(peer.hexadecimal)
                preshared_key=\(String(repeating: "0", count: 64))
                protocol_version=1
                endpoint=192.0.2.7:51820
                last_handshake_time_sec=0
                last_handshake_time_nsec=0
                tx_bytes=0
                rx_bytes=0
                persistent_keepalive_interval=0
                allowed_ip=10.2.0.0/16
                allowed_ip=fd02::/64
                errno=0


                """)
        #expect(try served.tunnel.uapiGet() + "errno=0\n\n" == answer)
        #expect(served.tunnel.statistics.peers[peer]?.endpoint?.description == "192.0.2.7:51820")
    }

    @Test("requests in one piece, in pieces of one byte and from several clients at once are all answered")
    func pipelining() throws {
        let served = try Served()
        let key = PrivateKey().publicKey.hexadecimal
        let request =
            "set=1\npublic_key=\(key)\nallowed_ip=10.3.0.0/16\n\nget=1\n\nset=1\nnonsense=1\n\nget=1\n\n"
        let (whole, pieces) = (try served.client(), try served.client())
        try whole.send(request)
        for byte in request.utf8 { try pieces.send(String(UnicodeScalar(byte))) }
        let answers = try [whole, pieces].map { try $0.receive(answers: 4) }
        for answer in answers {
            let statuses = answer.split(separator: "\n").filter { $0.hasPrefix("errno=") }
            #expect(statuses == ["errno=0", "errno=0", "errno=-22", "errno=0"])
            #expect(answer.contains("public_key=\(key)"))
        }
        #expect(answers[0] == answers[1])
    }

    @Test("a refused set changes nothing at all")
    func allOrNothing() throws {
        let served = try Served()
        let client = try served.client()
        let before = try client.ask("get=1\n\n")
        let key = PrivateKey().publicKey.hexadecimal
        let refused = "set=1\nfwmark=7\npublic_key=\(key)\nallowed_ip=10.3.0.0/16\nallowed_ip=10.4.0.0/33\n\n"
        #expect(try client.ask(refused) == "errno=-22\n\n")
        #expect(try client.ask("get=1\n\n") == before)
        let port = try TunnelTestPort()
        #expect(try client.ask("set=1\nlisten_port=\(port.port)\npublic_key=\(key)\n\n") == "errno=-98\n\n")
        #expect(try client.ask("get=1\n\n") == before)
    }

    @Test("a client that ends in the middle of a request changes nothing and is told so")
    func cutShort() throws {
        let served = try Served()
        let client = try served.client()
        try client.send("set=1\nfwmark=7\n")
        client.endSending()
        #expect(try client.receive() == "errno=-71\n\n")
        #expect(try client.receive() == "")
        #expect(try served.tunnel.uapiGet().contains("fwmark") == false)
    }

    @Test("garbage is refused and the connection ends; other clients do not notice")
    func garbage() throws {
        let served = try Served()
        let good = try served.client()
        for garbage in ["GET / HTTP/1.1\r\n\r\n", "\0\0\0\0\0\0\0\0", "get=2\n\n", "\n"] {
            let bad = try served.client()
            try bad.send(garbage)
            #expect(try bad.receive() == "errno=-22\n\n", "\(garbage.debugDescription)")
            #expect(try bad.receive() == "")
            #expect(try good.ask("get=1\n\n").hasSuffix("errno=0\n\n"))
        }
    }

    @Test("more clients than are held at a time cost the first ones their place, and the last is served")
    func manyClients() throws {
        let served = try Served()
        let clients = try (0..<100).map { _ in try served.client() }
        for client in clients.suffix(10) { #expect(try client.ask("get=1\n\n").hasSuffix("errno=0\n\n")) }
        // The first one's place is gone, which a client that connects anew does not notice.
        #expect(try served.client().ask("get=1\n\n").hasSuffix("errno=0\n\n"))
    }

    @Test("24,000 peers are set and told, also to a client that reads late", .timeLimit(.minutes(20)))
    func manyPeers() throws {
        let served = try Served()
        let client = try served.client()
        let keys = (0..<24_000).map { number -> String in
            // Any 32 bytes are a public key; only their number matters here.
            let digits = String(number, radix: 16)
            let zeros = String(repeating: "0", count: 8 - digits.count)
            return zeros + digits + String(repeating: "5a", count: 28)
        }
        var request = "set=1\n"
        for (number, key) in keys.enumerated() {
            request += "public_key=\(key)\nallowed_ip=10.\(number >> 8 & 255).\(number & 255).0/24\n"
        }
        #expect(try client.ask(request + "\n") == "errno=0\n\n")

        let late = try served.client()
        try late.send("get=1\n\nget=1\n\n")
        // The server holds the answer of the late client, and serves others meanwhile.
        let answer = try client.ask("get=1\n\n")
        #expect(answer.hasSuffix("errno=0\n\n"))
        let told = answer.split(separator: "\n").filter { $0.hasPrefix("public_key=") }
            .map { String($0.dropFirst(11)) }
        #expect(told == keys)
        #expect(try late.receive(answers: 2) == answer + answer)
        #expect(try client.ask("set=1\nreplace_peers=true\n\n") == "errno=0\n\n")
        #expect(served.tunnel.statistics.peers.isEmpty)
    }

    @Test("the removal of the socket's path ends the tunnel")
    func deletion() throws {
        let served = try Served()
        unlink(served.path)
        served.tunnel.waitUntilStopped()
        #expect(!served.tunnel.isRunning)
    }

    @Test("other files of the directory may come and go")
    func otherFiles() throws {
        let served = try Served()
        let other = "\(served.directory.path)/other.sock"
        for _ in 0..<20 {
            #expect(FileManager.default.createFile(atPath: other, contents: nil))
            unlink(other)
        }
        #expect(try served.client().ask("get=1\n\n").hasSuffix("errno=0\n\n"))
        #expect(served.tunnel.isRunning)
    }

    @Test("the end of the tunnel removes the path and ends its clients")
    func stop() throws {
        let served = try Served()
        let client = try served.client()
        #expect(try client.ask("get=1\n\n").hasSuffix("errno=0\n\n"))
        served.tunnel.stop()
        #expect(try client.receive() == "")
        #expect(served.directory.mode("served.sock") == nil)
    }

    @Test("a second tunnel of the same name is refused, and the first goes on")
    func sameName() throws {
        let served = try Served()
        var options = TunnelOptions()
        options.exposesControlSocket = true
        options.controlSocketDirectory = served.directory.path
        let second = Tunnel(
            interface: try TunnelTestInterface(name: "served"),
            configuration: TunnelConfiguration(privateKey: PrivateKey()), options: options)
        #expect(throws: TunnelError.controlSocketInUse(path: served.path)) { try second.start() }
        #expect(try served.client().ask("get=1\n\n").hasSuffix("errno=0\n\n"))
    }
}
