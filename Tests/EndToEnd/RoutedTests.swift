// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

/// Two ends with a router between them, so that addresses can be translated and paths can be cut.
struct RoutedPair: Sendable {
    /// The namespace between the ends: "inside" faces the left end, "outside" the right.
    let router: Namespace
    /// The ends; 192.168.1.100 behind the router and 10.0.0.100 beyond.
    let pair: Pair

    /// Builds it; with `hidesLeft` the router puts its own address 10.0.0.1 in place of the left end's.
    init(_ lab: Lab, left: Implementation = .tested, right: Implementation = .tested, hidesLeft: Bool)
        async throws
    {
        let ends = (try await lab.namespace(), try await lab.namespace())
        router = try await lab.namespace()
        try await lab.cable(ends.0, "cable", router, "inside")
        try await lab.cable(ends.1, "cable", router, "outside")
        try await router.ip("address add 192.168.1.1/24 dev inside")
        try await router.ip("address add 10.0.0.1/24 dev outside")
        try await router.check("sysctl", "-qw", "net.ipv4.ip_forward=1")
        try await ends.0.ip("address add 192.168.1.100/24 dev cable")
        try await ends.0.ip("route add default via 192.168.1.1")
        try await ends.1.ip("address add 10.0.0.100/24 dev cable")
        if !hidesLeft { try await ends.1.ip("route add 192.168.1.0/24 via 10.0.0.1") }
        if hidesLeft {
            try await router.check("nft", "add table ip hide")
            try await router.check(
                "nft", "add chain ip hide post { type nat hook postrouting priority 100; }")
            try await router.check("nft", "add rule ip hide post oifname outside masquerade")
        }
        pair = try await Pair(lab, (left, ends.0), (right, ends.1))
        try await pair.left.daemon.wg(
            "set \(pair.left.daemon.interface) peer \(pair.right.publicKey) endpoint 10.0.0.100:\(Pair.port)")
    }
}

@Suite("Paths through a router", .enabled(if: Machine.isReady, Machine.skipReason))
struct RoutedTests {
    @Test("the tunnel works across a router, in both directions")
    func routed() async throws {
        try await Lab.with { lab in
            let routed = try await RoutedPair(lab, hidesLeft: false)
            let pair = routed.pair
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            try await Transfer.check(
                lab, from: pair.right, to: pair.left, address: pair.left.inner4, megabytes: 2)
            #expect(try await pair.right.daemon.show("endpoints").last == "192.168.1.100:\(Pair.port)")
        }
    }

    @Test(
        "persistent keepalives hold an address translation open that forgets after 2 s",
        arguments: [Implementation.tested, .other])
    func keepalive(server: Implementation) async throws {
        try await Lab.with(slot: false) { lab in
            let routed = try await RoutedPair(lab, right: server, hidesLeft: true)
            let (left, right) = (routed.pair.left, routed.pair.right)
            for name in ["nf_conntrack_udp_timeout", "nf_conntrack_udp_timeout_stream"] {
                try await routed.router.check("sysctl", "-qw", "net.netfilter.\(name)=2")
            }
            let peer = "set \(left.daemon.interface) peer \(right.publicKey) persistent-keepalive"
            try await left.daemon.wg("\(peer) 1")
            // The first keepalive makes the handshake without any other traffic.
            try await Shell.eventually("a handshake by the keepalive alone") {
                try await right.daemon.latestHandshake() > 0
            }
            try await Task.sleep(for: .seconds(5))
            #expect(try await right.namespace.ping(left.inner4))
            #expect(try await right.daemon.show("endpoints").last?.hasPrefix("10.0.0.1:") == true)
            try await left.daemon.wg("\(peer) off")
            // 15 s after its last answer the left end would begin a handshake: the translation is forgotten before.
            try await Task.sleep(for: .seconds(3))
            #expect(try await !right.namespace.ping(left.inner4, within: 2))
            // Only what comes from inside opens the way again.
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await right.namespace.ping(left.inner4))
        }
    }

    @Test("a translation that moves to another port is followed")
    func rebinding() async throws {
        try await Lab.with { lab in
            let routed = try await RoutedPair(lab, hidesLeft: true)
            let (left, right) = (routed.pair.left, routed.pair.right)
            #expect(try await left.namespace.ping(right.inner4))
            let before = try await right.daemon.show("endpoints").last
            try await routed.router.check("nft", "flush chain ip hide post")
            try await routed.router.check(
                "nft", "add rule ip hide post oifname outside udp sport \(Pair.port) masquerade to :40000")
            // A translation lives on for packets that match it: change the port that it was made for.
            try await left.daemon.wg("set \(left.daemon.interface) listen-port 51821")
            try await routed.router.check(
                "nft", "add rule ip hide post oifname outside udp sport 51821 masquerade to :40000")
            #expect(try await left.namespace.ping(right.inner4))
            #expect(try await right.daemon.show("endpoints").last == "10.0.0.1:40000")
            #expect(before != "10.0.0.1:40000")
            #expect(try await right.namespace.answers(to: 5, from: left.inner4) == 5)
        }
    }

    @Test("a link that goes down and comes back is used again")
    func linkFlap() async throws {
        try await Lab.with { lab in
            let routed = try await RoutedPair(lab, hidesLeft: false)
            let pair = routed.pair
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
            try await pair.left.namespace.ip("link set cable down")
            #expect(try await !pair.left.namespace.ping(pair.right.inner4, within: 2))
            try await pair.left.namespace.ip("link set cable up")
            try await pair.left.namespace.ip("route replace default via 192.168.1.1")
            #expect(try await pair.left.namespace.ping(pair.right.inner4))
        }
    }
}
