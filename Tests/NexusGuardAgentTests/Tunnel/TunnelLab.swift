// SPDX-License-Identifier: MIT

import AgentCore
import AgentHost
import CLinux
import Glibc
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
    struct ToolFailure: Error {
        let line: String
        let output: String
    }

    /// Why the tests can not run here, or `nil`.
    static let obstacle: String? = {
        if geteuid() != 0 { return "not root" }
        if access("/dev/net/tun", R_OK | W_OK) != 0 { return "no /dev/net/tun" }
        return nil
    }()

    /// Whether the tests can run; prints the reason once when they can not.
    static let isAvailable: Bool = {
        guard let obstacle else { return true }
        print("The tests of the tunnel are skipped: \(obstacle)")
        return getenv("NEXUSGUARD_SKIP_NOTHING").map { String(cString: $0) } == "1"
    }()

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
                guard linux_unshare(linux_clone_newnet) == 0 else {
                    throw ToolFailure(line: "unshare", output: "errno \(errno)")
                }
                try Self.tool("ip link set lo up")
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
        try await Self.on(device) {
            try Self.eventually("link-local addresses are ready") {
                try !Self.tool("ip addr").contains("tentative")
            }
        }
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

    /// Whether an echo from the device is answered within a time that a busy machine keeps.
    func pings(_ address: String, seconds: Int = 300) async throws -> Bool {
        try await Self.on(device) {
            try Self.spawn("ping -n -q -c 1 -i 0.2 -w \(seconds) \(address)").status == 0
        }
    }

    /// Runs a command in the namespace of the calling thread and returns what it prints.
    @discardableResult
    static func tool(_ line: String) throws -> String {
        let result = try spawn(line)
        guard result.status == 0 else { throw ToolFailure(line: line, output: result.output) }
        return result.output
    }

    /// Runs a command to its end and returns its exit status and all that it printed.
    static func spawn(_ line: String) throws -> (status: Int32, output: String) {
        let words = line.split(separator: " ").map(String.init)
        var template = Array("/tmp/tunnel-lab.XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw ToolFailure(line: "mkstemp", output: "errno \(errno)") }
        unlink(template)
        defer { Glibc.close(file) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, file, 1)
        posix_spawn_file_actions_adddup2(&actions, file, 2)
        // The threads of the agent block all signals, and a child would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var pointers = words.map { strdup($0) } + [nil]
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for pointer in pointers + variables { free(pointer) } }
        var child = pid_t()
        let refusal = posix_spawnp(&child, words[0], &actions, &attributes, &pointers, &variables)
        guard refusal == 0 else { throw ToolFailure(line: line, output: "errno \(refusal)") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(file, &block, block.count, off_t(bytes.count))
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
        return (code, String(decoding: bytes, as: UTF8.self))
    }

    /// All of the device's network that an agent could change, as the tools print it.
    func picture() async throws -> String {
        try await Self.on(device) {
            try [
                "ip -4 route show table all", "ip -6 route show table all", "ip -4 rule", "ip -6 rule",
                "ip addr", "nft list ruleset",
                "sysctl net.ipv4.conf.all.src_valid_mark net.ipv4.conf.all.rp_filter",
            ].map { try "# \($0)\n\(Self.spawn($0).output)" }.joined()
        }
    }

    /// Waits on the calling thread until a condition holds.
    static func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<12_000 {
            if try condition() { return }
            usleep(50_000)
        }
        throw ToolFailure(line: what, output: "never so")
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
