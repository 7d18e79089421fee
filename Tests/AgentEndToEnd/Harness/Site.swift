// SPDX-License-Identifier: MIT

internal import Harness

/// A control server and the agents that it serves, each in a namespace, joined by cables.
///
/// The server is 192.0.2.1 and 2001:db8::1, agent N is 192.0.2.N+1 and 2001:db8::N+1. Behind the server,
/// 198.51.100.1 and 2001:db8:1::1 stand for the Internet. Within the tunnel the server is 10.172.21.1,
/// which it is nowhere else.
struct Site: Sendable {
    /// The server's address within the tunnel.
    static let inner = "10.172.21.1"
    /// Addresses that only routers know.
    static let far4 = "198.51.100.1"
    static let far6 = "2001:db8:1::1"

    let lab: Lab
    /// Where the server is, and the Internet behind it.
    let namespace: Namespace
    let control: ControlServer

    /// Builds the place of the server, and starts it.
    init(_ lab: Lab, endpoint: String = "192.0.2.1:51820", _ options: [String] = []) async throws {
        self.lab = lab
        namespace = try await lab.namespace()
        control = ControlServer(lab, in: namespace)
        try await namespace.bash(
            """
            ip address add 192.0.2.1/32 dev lo
            ip address add \(Self.far4)/32 dev lo
            ip address add \(Self.far6)/128 dev lo
            sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
            nft add table inet site
            nft 'add chain inet site input { type filter hook input priority 0; }'
            nft 'add rule inet site input iifname "port*" ip daddr 10.172.21.0/24 drop'
            """)
        try await control.start(endpoint: endpoint, options)
    }

    /// From now on what comes to the control server is dropped, as far as the match of nftables says.
    ///
    /// Ends with the table `block`.
    func blockControl(_ match: String = "") async throws {
        try await namespace.bash(
            """
            nft add table inet block
            nft 'add chain inet block in { type filter hook input priority 0; }'
            nft 'add rule inet block in \(match) tcp dport \(ControlServer.port) drop'
            """)
    }

    /// An agent with a cable to the server that has no identity yet and does not run.
    ///
    /// - Parameter settings: Further lines of the administrator's file.
    func agent(_ number: Int = 1, settings: [String] = []) async throws -> Agent {
        let place = try await place(number)
        return try agent(number, in: place, settings: settings)
    }

    /// The identifier of the host of an agent; the real machine-id is that of all namespaces.
    func hwid(_ number: Int) -> String {
        String(repeating: "0", count: 32 - "\(number)".count) + "\(number)"
    }

    /// Another agent in a place that is there; only one of them may run at a time.
    func agent(
        _ number: Int, in place: Namespace, settings: [String] = [],
        program: [String] = [Program.agent, "--log-level", "debug"]
    ) throws -> Agent {
        try Agent(
            lab, in: place, name: "device\(number)",
            settings: ["server_url = https://192.0.2.1:\(ControlServer.port)"]
                + ["ca_file = \(control.authorityFile)", "hwid = \(hwid(number))"] + settings,
            program: program)
    }

    /// A namespace with a cable to the server.
    func place(_ number: Int) async throws -> Namespace {
        let place = try await lab.namespace()
        try await Shell.check(
            ["ip", "link", "add", "port\(number)", "netns", namespace.name, "type", "veth"]
                + ["peer", "name", "uplink", "netns", place.name])
        try await namespace.bash(
            """
            ip address add 192.0.2.1 peer 192.0.2.\(number + 1)/32 dev port\(number)
            ip address add 2001:db8::1/128 dev port\(number) nodad
            ip link set port\(number) up
            ip -6 route add 2001:db8::\(number + 1)/128 dev port\(number)
            """)
        try await place.bash(
            """
            ip address add 192.0.2.\(number + 1)/24 dev uplink
            ip address add 2001:db8::\(number + 1)/64 dev uplink nodad
            ip link set uplink up
            ip route add default via 192.0.2.1
            ip -6 route add default via 2001:db8::1
            """)
        // The kernel makes addresses and routes of its own once the cable is at work, which tests compare.
        try await place.awaitLink("uplink")
        for end in [namespace, place] { try await end.awaitAddresses() }
        return place
    }

    /// An agent that runs, with an identity and a tunnel that is up.
    func connectedAgent(_ number: Int = 1, settings: [String] = []) async throws -> Agent {
        try await connect(agent(number, settings: settings))
    }

    /// Starts an agent, gives it an identity, and returns when its tunnel is up.
    func connect(_ agent: Agent) async throws -> Agent {
        try await agent.start()
        let token = try await control.token(name: agent.name)
        try await agent.command("provision", "--token-file", token.path)
        try await agent.command("up", "--timeout", "250")
        return agent
    }
}
