// SPDX-License-Identifier: MIT

import AgentCore
import AgentHost
import Glibc
import Harness
import NexusGuard
import NexusGuardAgent
import Synchronization
import Testing

/// Two hosts in network namespaces of their own, with a cable between them: `up0` at the device, `up1` at the server.
///
/// The server is an engine in this process: 10.172.21.1 and fd00:21::1 inside the tunnel, 192.0.2.1 and
/// 2001:db8::1 outside.
final class TunnelLab: Sendable {
    /// A tool that a test needs ended with a failure.
    typealias ToolFailure = Host.ToolFailure

    /// Whether the tests can run; prints the reason once when they can not.
    static let isAvailable = Machine.canChangeNetworks("The tests of the tunnel")

    /// The thread that is in the device's namespace.
    let device: HostThread
    /// The thread that is in the server's namespace.
    let server: HostThread
    /// The device's key.
    let deviceKey = PrivateKey()
    /// The server's key.
    let serverKey = PrivateKey()
    /// The server's engine.
    let serverTunnel: Tunnel
    /// What the device logs.
    let log = TestLog()

    /// Sets both hosts up and starts the server.
    init() async throws {
        device = try HostThread(name: "lab-device")
        server = try HostThread(name: "lab-server")
        serverTunnel = Tunnel(
            name: "srv0",
            configuration: TunnelConfiguration(
                privateKey: serverKey, listenPort: 51_820, peers: [Self.peer(of: deviceKey.publicKey)]))
        for thread in [device, server] {
            try await Self.on(thread) {
                try Host.enterNewNamespace()
            }
        }
        let far = try await Self.on(server) { open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC) }
        defer { _ = Glibc.close(far) }
        try await Self.on(device) {
            try Self.tool("ip link add up0 type veth peer name up1 netns /proc/\(getpid())/fd/\(far)")
            try Self.tool("ip link set up0 up")
            try Self.tool("ip addr add 192.0.2.2/24 dev up0")
            try Self.tool("ip addr add 2001:db8::2/64 dev up0 nodad")
            try Self.tool("ip route add default via 192.0.2.1")
            try Self.tool("ip -6 route add default via 2001:db8::1")
        }
        let tunnel = serverTunnel
        try await Self.on(server) {
            try Self.tool("ip link set up1 up")
            try Self.tool("ip addr add 192.0.2.1/24 dev up1")
            try Self.tool("ip addr add 2001:db8::1/64 dev up1 nodad")
            try tunnel.start()
            try Self.tool("ip addr add 10.172.21.1/24 dev srv0")
            try Self.tool("ip addr add fd00:21::1/64 dev srv0")
            // What a full tunnel is for: an address beyond the server.
            try Self.tool("ip addr add 203.0.113.5/32 dev lo")
        }
        try await Self.on(server) { try Host.awaitLink("up1") }
        try await Self.on(device) { try Host.awaitLink("up0") }
    }

    /// Ends the server's engine; the namespaces end with their threads.
    func close() async {
        let tunnel = serverTunnel
        await server.perform { tunnel.stop() }
    }

    /// A peer of the server.
    static func peer(of key: PublicKey) -> PeerConfiguration {
        PeerConfiguration(
            publicKey: key,
            allowedIPs: ["10.172.21.2/31", "fd00:21::2/127"].compactMap { try? IPPrefix($0) })
    }

    /// The device's configuration.
    func config(
        addresses: [String] = ["10.172.21.2/32"], allowedIPs: [String] = ["0.0.0.0/0"],
        endpoint: String = "192.0.2.1:51820", keepalive: UInt16 = 25, key: PrivateKey? = nil
    ) throws -> WireGuardConfig {
        WireGuardConfig(
            deviceID: "device-1", privateKey: key ?? deviceKey,
            addresses: try addresses.map { try InterfaceAddress($0) }, serverPublicKey: serverKey.publicKey,
            endpoint: try Endpoint(endpoint), allowedIPs: try allowedIPs.map { try IPPrefix($0) },
            serverAddress: try IPAddress("10.172.21.1"), keepalive: keepalive)
    }

    /// A manager in the device's namespace, and the journal behind it.
    func makeManager(
        resolver: HostResolver = HostResolver(), endpointFile: String? = nil
    ) async throws -> (TunnelManager, TestJournal) {
        let journal = TestJournal()
        let log = log
        var options = TunnelManager.Options(interfaceName: "nexusguard0")
        options.endpointFile = endpointFile
        let chosen = options
        let manager = try await Self.on(device) {
            try TunnelManager(
                options: chosen, host: HostNetwork(storage: journal, log: log), resolver: resolver, log: log)
        }
        return (manager, journal)
    }

    // MARK: - Tools

    /// Runs `body` on a thread and throws what it throws.
    @discardableResult
    static func on<Value: Sendable>(
        _ thread: HostThread, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await thread.perform { Result { try body() } }.get()
    }

    /// Runs a command at the device and returns what it prints.
    @discardableResult
    func atDevice(_ line: String) async throws -> String { try await Self.on(device) { try Self.tool(line) } }

    /// Runs a command at the server and returns what it prints.
    @discardableResult
    func atServer(_ line: String) async throws -> String { try await Self.on(server) { try Self.tool(line) } }

    /// Whether a session goes on, by the times of two looks at its last handshake.
    ///
    /// Keys are renewed after 120 s (section 6.2 of the paper), which a busy machine may reach within a test.
    func isRenewedOnlyForAge(_ former: Duration, _ later: Duration) -> Bool {
        later == former || later - former >= .seconds(118)
    }

    /// Whether an echo from the device is answered within a time that a busy machine keeps.
    func pings(_ address: String, seconds: Int = 300) async throws -> Bool {
        try await Self.on(device) {
            let words = ["ping", "-n", "-q", "-c", "1", "-i", "0.2", "-w", "\(seconds)", address]
            return try Host.spawn(words).status == 0
        }
    }

    /// Runs a command in the namespace of the calling thread and returns what it prints.
    @discardableResult
    static func tool(_ line: String) throws -> String { try Host.tool(line) }

    /// All of the device's network that an agent could change, once the kernel has settled.
    func picture() async throws -> String { try await Self.on(device) { try Host.picture() } }

    /// Expects the device's network to be as it was.
    ///
    /// A process that another test starts when the tunnel ends holds a copy of its descriptor, and so keeps the
    /// interface, until it runs its program.
    func expect(_ before: String) async throws {
        try await eventually("the network is as it was") { try await picture() == before }
    }

    /// Waits until the tunnel's interface is gone; see `expect`.
    func expectNoInterface() async throws {
        try await eventually("the interface is gone") {
            try await Self.on(device) { if_nametoindex("nexusguard0") == 0 }
        }
    }

    /// Waits until a condition holds, which a busy machine may take long for.
    func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        for _ in 0..<12_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw ToolFailure(line: what, output: "never so; log:\n\(log.lines.joined(separator: "\n"))")
    }
}

/// Keeps a journal in memory.
final class TestJournal: JournalStorage {
    private let state = Mutex<[UInt8]?>(nil)

    /// What is kept.
    var bytes: [UInt8]? { state.withLock { $0 } }

    func save(_ bytes: [UInt8]) throws(HostError) { state.withLock { $0 = bytes.isEmpty ? nil : bytes } }

    func load() throws(HostError) -> [UInt8]? { bytes }

    func setAside() {}
}

/// Collects a log.
final class TestLog: LogSink {
    private let state = Mutex<[String]>([])

    /// The lines so far.
    var lines: [String] { state.withLock { $0 } }

    func add(level: LogLevel, tag: String, message: String) {
        state.withLock { $0.append("\(level.rawValue) \(tag) \(message)") }
    }
}
