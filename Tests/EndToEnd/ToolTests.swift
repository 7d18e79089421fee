// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("The wg tool", .enabled(if: Machine.isReady, Machine.skipReason))
struct ToolTests {
    /// A daemon with a private key and one peer that is never reached.
    private func daemonWithPeer(_ lab: Lab) async throws -> (daemon: Daemon, keyPath: String, peer: String) {
        let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
        let own = try await lab.keyPair()
        let peer = try await lab.keyPair().publicKey
        try await daemon.wg(
            "set \(daemon.interface) private-key \(own.path) listen-port 51000 fwmark 0x20"
                + " peer \(peer) endpoint 192.0.2.9:7 persistent-keepalive 25 allowed-ips 10.0.0.0/8,fd00::/8"
        )
        return (daemon, own.path, peer)
    }

    @Test("wg show dump gives back every setting")
    func dump() async throws {
        try await Lab.with { lab in
            let (daemon, keyPath, peer) = try await daemonWithPeer(lab)
            let lines = try await daemon.wg("show \(daemon.interface) dump").lines.map {
                $0.split(separator: "\t").map(String.init)
            }
            let key = try await Shell.check(["cat", keyPath]).text
            let publicKey = try await Shell.check(["wg", "pubkey"], input: key).text
            #expect(lines.count == 2)
            #expect(lines.first == [key, publicKey, "51000", "0x20"])
            #expect(
                lines.last == [peer, "(none)", "192.0.2.9:7", "10.0.0.0/8,fd00::/8", "0", "0", "0", "25"])
        }
    }

    @Test("an interface without any setting is shown as such, with a port once it is up")
    func bare() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            let fields = try await daemon.wg("show \(daemon.interface) dump").text.split(separator: "\t")
            #expect(fields.count == 4)
            #expect(fields.first == "(none)")
            #expect(fields.last == "off")
            try await daemon.namespace.ip("link set \(daemon.interface) up")
            try await Shell.eventually("a port chosen by the system") {
                try await daemon.wg("show \(daemon.interface) listen-port").text != "0"
            }
        }
    }

    @Test("what showconf prints, setconf sets")
    func configurationRoundTrip() async throws {
        try await Lab.with { lab in
            let (daemon, _, _) = try await daemonWithPeer(lab)
            let text = try await daemon.wg("showconf \(daemon.interface)").standardOutput
            let path = try lab.file("shown.conf", text)
            let second = try await Daemon(.tested, in: try await lab.namespace(), lab)
            try await second.wg("setconf \(second.interface) \(path)")
            #expect(try await second.wg("showconf \(second.interface)").standardOutput == text)
            // A second setconf replaces, it does not add.
            try await second.wg("setconf \(second.interface) \(path)")
            #expect(try await second.wg("showconf \(second.interface)").standardOutput == text)
        }
    }

    @Test("syncconf changes the difference and keeps the sessions of the others")
    func synchronise() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let daemon = pair.left.daemon
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            let handshake = try await daemon.latestHandshake()
            let (received, sent) = try await daemon.transfer()
            let newcomer = try await lab.keyPair().publicKey
            let text = try await daemon.wg("showconf \(daemon.interface)").standardOutput
            let changed =
                text
                + "PersistentKeepalive = 300\n\n[Peer]\nPublicKey = \(newcomer)\nAllowedIPs = 10.9.0.0/16\n"
            let path = try lab.file("changed.conf", changed)
            try await daemon.wg("syncconf \(daemon.interface) \(path)")
            let peers = try await daemon.wg("show \(daemon.interface) peers").lines
            #expect(Set(peers) == [pair.right.publicKey, newcomer])
            let keepalives = try await daemon.wg("show \(daemon.interface) persistent-keepalive").lines
            #expect(keepalives.contains("\(pair.right.publicKey)\t300"))

            let original = try lab.file("original.conf", text)
            try await daemon.wg("syncconf \(daemon.interface) \(original)")
            #expect(try await daemon.wg("show \(daemon.interface) peers").lines == [pair.right.publicKey])
            #expect(try await pair.left.namespace.answers(to: 20, from: pair.right.inner4) == 20)
            #expect(try await daemon.latestHandshake() == handshake)
            let after = try await daemon.transfer()
            #expect(after.received > received && after.sent > sent)
        }
    }

    @Test("addconf adds a peer and leaves the rest")
    func add() async throws {
        try await Lab.with { lab in
            let (daemon, _, peer) = try await daemonWithPeer(lab)
            let newcomer = try await lab.keyPair().publicKey
            let path = try lab.file(
                "more.conf", "[Peer]\nPublicKey = \(newcomer)\nAllowedIPs = 172.16.0.0/12\n")
            try await daemon.wg("addconf \(daemon.interface) \(path)")
            let allowed = try await daemon.wg("show \(daemon.interface) allowed-ips").lines
            #expect(Set(allowed) == ["\(peer)\t10.0.0.0/8 fd00::/8", "\(newcomer)\t172.16.0.0/12"])
            #expect(try await daemon.wg("show \(daemon.interface) listen-port").text == "51000")
        }
    }

    @Test("a prefix that is given to a second peer leaves the first")
    func prefixMoves() async throws {
        try await Lab.with { lab in
            let (daemon, _, peer) = try await daemonWithPeer(lab)
            let second = try await lab.keyPair().publicKey
            try await daemon.wg("set \(daemon.interface) peer \(second) allowed-ips 10.0.0.0/8")
            let allowed = try await daemon.wg("show \(daemon.interface) allowed-ips").lines
            #expect(Set(allowed) == ["\(peer)\tfd00::/8", "\(second)\t10.0.0.0/8"])
        }
    }

    @Test("a removed peer is gone and its packets with it")
    func remove() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            try await pair.right.daemon.wg(
                "set \(pair.right.daemon.interface) peer \(pair.left.publicKey) remove")
            #expect(try await pair.right.daemon.wg("show \(pair.right.daemon.interface) peers").text.isEmpty)
            #expect(try await !pair.left.namespace.ping(pair.right.inner4, within: 2))
        }
    }

    @Test("a changed private key ends the sessions, and the peers that learn of it talk again")
    func keyChange() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            let fresh = try await lab.keyPair()
            let (left, right) = (pair.left.daemon, pair.right.daemon)
            try await left.wg("set \(left.interface) private-key \(fresh.path)")
            #expect(try await left.wg("show \(left.interface) public-key").text == fresh.publicKey)
            try await right.wg(
                "set \(right.interface) peer \(pair.left.publicKey) remove peer \(fresh.publicKey)"
                    + " allowed-ips \(pair.left.inner4)/32,\(pair.left.inner6)/128")
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
        }
    }

    @Test("listen-port to a busy port fails with the reason, and the old port works on")
    func busyPort() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let daemon = pair.left.daemon
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            try lab.spawn(in: pair.left.namespace, "socat", "-u", "UDP4-LISTEN:4000", "/dev/null")
            try await Shell.eventually("the port is busy") {
                try await !pair.left.namespace.run("ss", "-Hlun", "sport = :4000").text.isEmpty
            }
            let output = try await daemon.tryWg("set \(daemon.interface) listen-port 4000")
            #expect(!output.succeeded)
            #expect(output.standardError.contains("Address already in use"), "\(output)")
            if Implementation.isOurs {
                #expect(try await daemon.wg("show \(daemon.interface) listen-port").text == "\(Pair.port)")
                #expect(try await pair.left.namespace.answers(to: 10, from: pair.right.inner4) == 10)
                #expect(try await pair.right.namespace.answers(to: 10, from: pair.left.inner4) == 10)
            }
        }
    }

    @Test("the firewall mark is on what is sent", arguments: Pair.Family.allCases)
    func mark(family: Pair.Family) async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, over: family)
            let (daemon, namespace) = (pair.left.daemon, pair.left.namespace)
            let counter = try await Counter(
                in: namespace, "output", "meta mark 0x1234 udp dport \(Pair.port)")
            #expect(try await namespace.ping(pair.right.inner4))
            #expect(try await counter.packets() == 0)
            try await daemon.wg("set \(daemon.interface) fwmark 0x1234")
            #expect(try await daemon.wg("show \(daemon.interface) fwmark").text == "0x1234")
            #expect(try await namespace.answersInTurn(to: 10, from: pair.right.inner4) == 10)
            #expect(try await counter.packets() >= 10)
            // A new socket has the mark too.
            try await daemon.wg("set \(daemon.interface) listen-port 51999")
            let moved = try await Counter(in: namespace, "output", "meta mark 0x1234 udp sport 51999")
            #expect(try await namespace.answersInTurn(to: 10, from: pair.right.inner4) == 10)
            #expect(try await moved.packets() >= 10)
            try await daemon.wg("set \(daemon.interface) fwmark off")
            #expect(try await daemon.wg("show \(daemon.interface) fwmark").text == "off")
        }
    }

    @Test("the control socket answers by the text protocol and refuses what it does not know")
    func controlSocket() async throws {
        try await Lab.with { lab in
            let (daemon, _, _) = try await daemonWithPeer(lab)
            func ask(_ text: String) async throws -> String {
                try await Shell.check(
                    ["socat", "-t", "60", "-", "UNIX-CONNECT:\(daemon.socketPath)"], input: text
                ).standardOutput
            }
            let state = try await ask("get=1\n\n")
            #expect(state.hasSuffix("errno=0\n\n"))
            #expect(state.contains("listen_port=51000\n"))
            #expect(state.contains("protocol_version=1\n"))
            for request in [
                "set=1\nbogus=1\n\n", "set=1\nlisten_port=65536\n\n", "set=1\nprivate_key=00\n\n",
            ] {
                let answer = try await ask(request)
                #expect(answer.contains("errno=") && !answer.contains("errno=0"), "\(request) \(answer)")
            }
            #expect(try await ask("get=1\n\n") == state)
        }
    }
}
