// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("Changes under way", .enabled(if: Machine.isReady, Machine.skipReason))
struct ChangeTests {
    @Test("an interface that is set down is silent, and works again when set up")
    func downAndUp() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            try await left.namespace.ip("link set \(left.daemon.interface) down")
            #expect(try await !right.namespace.ping(left.inner4, within: 2))
            try await left.namespace.ip("link set \(left.daemon.interface) up")
            #expect(
                try await left.daemon.wg("show \(left.daemon.interface) listen-port").text == "\(Pair.port)")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await right.namespace.answers(to: 10, from: left.inner4) == 10)
        }
    }

    @Test("a peer that is not there yet is reached once it is")
    func absentPeer() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            // The port is closed: each initiation is answered by ICMP alone.
            try await right.namespace.ip("link set \(right.daemon.interface) down")
            #expect(try await !left.namespace.ping(right.inner4, within: 2))
            // No route at all: sending fails at once.
            try await left.namespace.ip("link set cable down")
            #expect(try await !left.namespace.ping(right.inner4, within: 2))
            try await left.namespace.ip("link set cable up")
            try await right.namespace.ip("link set \(right.daemon.interface) up")
            #expect(try await left.namespace.ping(right.inner4))
        }
    }

    @Test("peers come and go by hundreds while another's traffic flows without loss")
    func peersComeAndGo() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab)
            let (left, right) = (pair.left, pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            async let answers = left.namespace.answers(to: 150, from: right.inner4)
            let daemon = right.daemon
            // One shell, so that the rounds follow each other closely.
            try await right.namespace.bash(
                """
                for round in $(seq 60); do
                    key=$(wg genkey | wg pubkey)
                    wg set \(daemon.interface) peer $key allowed-ips 10.$round.0.0/16 endpoint 192.0.2.77:9 \
                        persistent-keepalive 1
                    wg show \(daemon.interface) > /dev/null
                    wg set \(daemon.interface) peer $key remove
                done
                """)
            #expect(try await answers == 150)
            #expect(try await daemon.wg("show \(daemon.interface) peers").lines == [left.publicKey])
        }
    }

    @Test("a hub passes packets between peers that do not know each other")
    func hub() async throws {
        try await Lab.with { lab in
            let hub = try await lab.namespace()
            let hubKey = try await lab.keyPair()
            let hubDaemon = try await Daemon(.tested, in: hub, lab)
            try await hub.check("sysctl", "-qw", "net.ipv4.ip_forward=1")
            try await hubDaemon.wg(
                "set \(hubDaemon.interface) private-key \(hubKey.path) listen-port \(Pair.port)")
            try await hub.ip("address add 10.78.0.254/24 dev \(hubDaemon.interface)")
            try await hub.ip("link set \(hubDaemon.interface) up")
            var spokes: [Namespace] = []
            for number in 1...3 {
                let spoke = try await lab.namespace()
                try await lab.cable(spoke, "cable", hub, "cable\(number)")
                try await spoke.ip("address add 192.0.\(number).1/24 dev cable")
                try await hub.ip("address add 192.0.\(number).2/24 dev cable\(number)")
                let key = try await lab.keyPair()
                let daemon = try await Daemon(number == 3 ? .other : .tested, in: spoke, lab)
                try await daemon.wg(
                    "set \(daemon.interface) private-key \(key.path) peer \(hubKey.publicKey)"
                        + " endpoint 192.0.\(number).2:\(Pair.port) allowed-ips 10.78.0.0/24"
                        + " persistent-keepalive 5")
                try await spoke.ip("address add 10.78.0.\(number)/24 dev \(daemon.interface)")
                try await spoke.ip("link set \(daemon.interface) up")
                try await hubDaemon.wg(
                    "set \(hubDaemon.interface) peer \(key.publicKey) allowed-ips 10.78.0.\(number)/32")
                spokes.append(spoke)
            }
            for (index, spoke) in spokes.enumerated() {
                #expect(try await spoke.ping("10.78.0.254"))
                for other in 1...3 where other != index + 1 {
                    #expect(try await spoke.ping("10.78.0.\(other)"))
                }
            }
        }
    }

    @Test(
        "a host whose clock went back is still accepted, because it keeps its highest timestamp",
        .enabled(if: Implementation.isOurs))
    func clockBehind() async throws {
        try await Lab.with { lab in
            let pair = try await Pair(lab, right: .other)
            let (left, right) = (pair.left, pair.right)
            let interface = left.daemon.interface
            // As if the clock had been a day ahead until now.
            let tomorrow = try await Shell.check(["date", "-d", "tomorrow", "+%s"]).text
            let kept = try lab.file("\(interface).tai64n", tomorrow + "\n")

            /// Ends the left daemon, starts it anew and tries to reach the other end.
            func reachesPeer(_ environment: [String: String], within seconds: Int) async throws -> Bool {
                if try await left.daemon.interfaceExists() {
                    try await left.namespace.ip("link del \(interface)")
                }
                try await Shell.eventually("the daemon before is gone") {
                    if try await left.daemon.interfaceExists() { return false }
                    return try await !Shell.run(["test", "-e", left.daemon.socketPath]).succeeded
                }
                try await left.namespace.awaitFreePort(Pair.port)
                let daemon = try await Daemon(
                    .tested, in: left.namespace, interface: interface, environment: environment)
                try await daemon.wg(
                    "set \(interface) private-key \(left.keyPath) peer \(right.publicKey)"
                        + " endpoint \(right.outer4):\(Pair.port) allowed-ips \(right.inner4)/32")
                try await left.namespace.ip("address add \(left.inner4)/24 dev \(interface)")
                try await left.namespace.ip("link set \(interface) up")
                return try await left.namespace.ping(right.inner4, within: seconds)
            }

            let withState = ["NEXUSGUARD_STATE_DIRECTORY": lab.folder]
            #expect(try await reachesPeer(withState, within: 120))
            #expect(try await reachesPeer(withState, within: 120))
            // The other end knows a timestamp of tomorrow, so the true time of today is refused.
            #expect(try await !reachesPeer([:], within: 3))
            #expect(try await Shell.check(["stat", "-c", "%a", kept]).text == "600")
        }
    }

    @Test("a host without IPv6 has a tunnel over IPv4")
    func withoutIPv6() async throws {
        try await Lab.with { lab in
            let namespaces = (try await lab.namespace(), try await lab.namespace())
            for namespace in [namespaces.0, namespaces.1] {
                try await namespace.check(
                    "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                    "net.ipv6.conf.default.disable_ipv6=1")
            }
            try await lab.cable(namespaces.0, "cable", namespaces.1, "cable")
            var ends: [(daemon: Daemon, key: (path: String, publicKey: String))] = []
            for (number, namespace) in [namespaces.0, namespaces.1].enumerated() {
                try await namespace.ip("address add 192.0.2.\(number + 1)/24 dev cable")
                let daemon = try await Daemon(.tested, in: namespace, lab)
                ends.append((daemon, try await lab.keyPair()))
                try await namespace.ip("address add 10.77.0.\(number + 1)/24 dev \(daemon.interface)")
                try await namespace.ip("link set \(daemon.interface) up")
            }
            for index in 0...1 {
                let (own, peer) = (ends[index], ends[1 - index])
                try await own.daemon.wg(
                    "set \(own.daemon.interface) listen-port \(Pair.port) private-key \(own.key.path)"
                        + " peer \(peer.key.publicKey) allowed-ips 10.77.0.0/24"
                        + " endpoint 192.0.2.\(2 - index):\(Pair.port)")
            }
            #expect(try await namespaces.0.ping("10.77.0.2"))
            #expect(try await namespaces.1.answers(to: 10, from: "10.77.0.1") == 10)
        }
    }
}
