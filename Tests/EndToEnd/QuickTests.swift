// SPDX-License-Identifier: MIT

internal import Harness
internal import Testing

@Suite("wg-quick", .enabled(if: Machine.isReady, Machine.skipReason))
struct QuickTests {
    /// Runs wg-quick so that it finds no WireGuard in the kernel, whatever the machine has.
    private func quick(_ verb: String, _ path: String, in namespace: Namespace, _ lab: Lab) async throws
        -> Output
    {
        let real = lab.path(of: "ip.real")
        let wrapper = lab.path(of: "ip.wrapper")
        let line = """
            ip=$(readlink -f "$(command -v ip)")
            [ -e \(real) ] || cp "$ip" \(real)
            printf '%s\\n' '#!/bin/sh' 'case "$*" in *"type wireguard"*) exit 2 ;; esac' 'exec \(real) "$@"' > \(wrapper)
            chmod 755 \(wrapper)
            mount --bind \(wrapper) "$ip"
            mount -t tmpfs tmpfs /sys/module
            wg-quick \(verb) \(path)
            """
        return try await namespace.bash(
            line, environment: ["WG_QUICK_USERSPACE_IMPLEMENTATION": Implementation.tested.path])
    }

    /// A pair whose left end is not configured yet: its namespace and the text of its file.
    private func halfPair(
        _ lab: Lab, allowedIPs: String
    ) async throws -> (left: Namespace, right: Pair.End, interface: String, path: String) {
        let pair = try await Pair(lab, left: .other)
        // The tools of the pair made keys and addresses; the left daemon gives way to wg-quick's.
        let interface = lab.interfaceName()
        let key = try await Shell.check(["cat", pair.left.keyPath]).text
        try await pair.left.namespace.ip("link del \(pair.left.daemon.interface)")
        try await pair.left.namespace.awaitFreePort(Pair.port)
        let path = try lab.file(
            "\(interface).conf",
            """
            [Interface]
            PrivateKey = \(key)
            Address = \(pair.left.inner4)/24
            Address = \(pair.left.inner6)/64
            ListenPort = \(Pair.port)
            MTU = 1400

            [Peer]
            PublicKey = \(pair.right.publicKey)
            AllowedIPs = \(allowedIPs)
            Endpoint = \(pair.right.outer4):\(Pair.port)
            """)
        return (pair.left.namespace, pair.right, interface, path)
    }

    @Test("up makes a working tunnel, down leaves nothing behind")
    func upAndDown() async throws {
        try await Lab.with { lab in
            let (left, right, interface, path) = try await halfPair(
                lab, allowedIPs: "\(Self.inside4), \(Self.inside6)")
            let before = try await left.check("ip", "rule", "show").text
            for _ in 1...2 {
                _ = try await quick("up", path, in: left, lab)
                #expect(try await left.ping(right.inner4))
                #expect(try await left.ping(right.inner6))
                let link = try await left.ip("-o link show dev \(interface)").text
                #expect(link.contains("mtu 1400"))
                _ = try await quick("down", path, in: left, lab)
                #expect(try await !left.run("ip", "link", "show", interface).succeeded)
                try await Shell.eventually("the socket is gone") {
                    try await !Shell.run(["test", "-e", Daemon.socketPath(of: interface)]).succeeded
                }
                try await left.awaitFreePort(Pair.port)
            }
            #expect(try await left.check("ip", "rule", "show").text == before)
        }
    }

    @Test("a full tunnel carries everything but its own packets")
    func fullTunnel() async throws {
        try await Lab.with { lab in
            let (left, right, interface, path) = try await halfPair(lab, allowedIPs: "0.0.0.0/0, ::/0")
            // Addresses that only the tunnel leads to.
            try await right.namespace.ip("address add 198.51.100.1/32 dev lo")
            try await right.namespace.ip("address add 2001:db8:ffff::1/128 dev lo")
            let rules = try await left.check("ip", "rule", "show").text
            _ = try await quick("up", path, in: left, lab)
            #expect(try await left.ping("198.51.100.1"))
            #expect(try await left.ping("2001:db8:ffff::1"))
            #expect(try await left.answers(to: 20, from: "198.51.100.1") == 20)
            let mark = try await left.check("wg", "show", interface, "fwmark").text
            #expect(mark != "off")
            #expect(try await left.check("ip", "rule", "show").text.contains("not from all fwmark \(mark)"))
            _ = try await quick("down", path, in: left, lab)
            #expect(try await left.check("ip", "rule", "show").text == rules)
            #expect(try await !left.run("ip", "link", "show", interface).succeeded)
        }
    }

    private static let inside4 = "10.77.0.0/24"
    private static let inside6 = "fd77::/64"
}
