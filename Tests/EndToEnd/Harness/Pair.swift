// SPDX-License-Identifier: MIT

internal import Harness

/// Two namespaces joined by a cable, a daemon in each, and a tunnel between them.
///
/// Outside, the ends are 192.0.2.1 and .2, 2001:db8::1 and ::2; inside, 10.77.0.1 and .2, fd77::1 and ::2.
struct Pair: Sendable {
    /// One end of the tunnel.
    struct End: Sendable {
        /// 1 or 2: the last number of each address.
        let number: Int
        /// The daemon.
        let daemon: Daemon
        /// The file of the private key.
        let keyPath: String
        /// The public key in base64.
        let publicKey: String

        /// The namespace.
        var namespace: Namespace { daemon.namespace }
        /// The IPv4 address within the tunnel.
        var inner4: String { "10.77.0.\(number)" }
        /// The IPv6 address within the tunnel.
        var inner6: String { "fd77::\(number)" }
        /// The IPv4 address on the cable.
        var outer4: String { "192.0.2.\(number)" }
        /// The IPv6 address on the cable.
        var outer6: String { "2001:db8::\(number)" }
    }

    /// The family of the outer addresses.
    enum Family: String, CaseIterable, Sendable {
        /// IPv4.
        case v4
        /// IPv6.
        case v6
    }

    /// The UDP port of both ends.
    static let port = 51820
    /// The end that knows the endpoint of the other, and so is the initiator of the first handshake.
    let left: End
    /// The end that waits.
    let right: End

    /// Builds all of it; no packet has passed yet.
    ///
    /// - Parameters:
    ///   - family: The family of the endpoint that the left end is given.
    ///   - mtu: The MTU of both tunnel interfaces.
    ///   - outerMTU: The MTU of the cable.
    ///   - presharedKey: Whether the peers share a further key.
    init(
        _ lab: Lab, left: Implementation = .tested, right: Implementation = .tested,
        over family: Family = .v4,
        mtu: Int = 1420, outerMTU: Int = 1500, presharedKey: Bool = false
    ) async throws {
        let namespaces = (try await lab.namespace(), try await lab.namespace())
        try await lab.cable(namespaces.0, "cable", namespaces.1, "cable")
        try await self.init(
            lab, (left, namespaces.0), (right, namespaces.1), mtu: mtu, presharedKey: presharedKey)
        for end in [self.left, self.right] {
            try await end.namespace.ip("link set cable mtu \(outerMTU)")
            try await end.namespace.ip("address add \(end.outer4)/24 dev cable")
            try await end.namespace.ip("address add \(end.outer6)/64 dev cable nodad")
        }
        for end in [self.left, self.right] { try await end.namespace.awaitAddresses() }
        let endpoint = family == .v4 ? self.right.outer4 : "[\(self.right.outer6)]"
        try await self.left.daemon.wg(
            "set \(self.left.daemon.interface) peer \(self.right.publicKey) endpoint \(endpoint):\(Self.port)"
        )
    }

    /// Starts a daemon in each of two namespaces, which are connected in whatever way, and makes them peers
    /// without an endpoint.
    init(
        _ lab: Lab, _ left: (Implementation, Namespace), _ right: (Implementation, Namespace),
        mtu: Int = 1420,
        presharedKey: Bool = false
    ) async throws {
        var ends: [End] = []
        for (number, side) in [left, right].enumerated() {
            let (keyPath, publicKey) = try await lab.keyPair()
            let daemon = try await Daemon(side.0, in: side.1, lab)
            ends.append(End(number: number + 1, daemon: daemon, keyPath: keyPath, publicKey: publicKey))
        }
        self.left = ends[0]
        self.right = ends[1]
        var secret = ""
        if presharedKey {
            let key = try await Shell.check(["wg", "genpsk"]).standardOutput
            secret = try " preshared-key " + lab.file(Lab.uniqueName() + ".psk", key)
        }
        for (end, peer) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            try await end.daemon.wg(
                "set \(end.daemon.interface) listen-port \(Self.port) private-key \(end.keyPath)"
                    + " peer \(peer.publicKey)\(secret) allowed-ips \(peer.inner4)/32,\(peer.inner6)/128")
            try await end.namespace.ip("address add \(end.inner4)/24 dev \(end.daemon.interface)")
            try await end.namespace.ip("address add \(end.inner6)/64 dev \(end.daemon.interface) nodad")
            try await end.namespace.ip("link set \(end.daemon.interface) mtu \(mtu) up")
        }
        for end in ends { try await end.namespace.awaitAddresses() }
    }

    /// The two ends in both orders, as sender and receiver.
    var directions: [(from: End, to: End)] { [(left, right), (right, left)] }
}
