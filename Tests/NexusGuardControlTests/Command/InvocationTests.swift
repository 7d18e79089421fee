// SPDX-License-Identifier: MIT

import AgentCommandLine
import AgentCore
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Command line")
struct InvocationTests {
    private let key = "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw="

    private func serve(_ arguments: String...) throws -> ServeOptions {
        let base = ["serve", "--endpoint", "vpn.example.net:51820", "--public-key", key]
        let invocation = try ControlInvocation(base + arguments)
        guard case .serve(let options) = invocation.command else {
            throw UnexpectedCommand()
        }
        return options
    }

    private struct UnexpectedCommand: Error {}

    @Test("the state directory is the option's, else the service manager's, else the usual one")
    func stateDirectory() throws {
        #expect(try ControlInvocation(["token", "list"]).stateDirectory == "/var/lib/nexusguard-control")
        let environment = ["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"]
        #expect(
            try ControlInvocation(["token", "list"], environment: { environment[$0] }).stateDirectory
                == "/var/lib/a")
        let given = try ControlInvocation(
            ["token", "--state-dir=/srv/x", "list", "--json"], environment: { environment[$0] })
        #expect(given.stateDirectory == "/srv/x")
        #expect(given.isJSON)
    }

    @Test(
        "a server without further options is safe: loopback, TLS, proofs, envelopes, preshared keys, five a minute"
    )
    func defaults() throws {
        let options = try serve()
        #expect(options.listeners.map(\.address) == ["127.0.0.1"])
        #expect(options.listeners.map(\.port) == [8443])
        #expect(options.transport == .development(hostNames: []))
        #expect(options.requiresAuthentication)
        #expect(options.requiresEnvelope)
        #expect(options.usesPresharedKeys)
        #expect(options.provisionLimit == 5)
        #expect(options.pools.map(\.network.description) == ["10.172.21.0/24"])
        #expect(options.allowedIPs == nil)
        #expect(options.faults.isEmpty)
        #expect(options.publicKey?.base64 == key)
        #expect(options.logLevel == .info)
    }

    @Test("every option is taken")
    func everything() throws {
        let options = try serve(
            "--listen", "[::1]:0", "--listen=192.0.2.1:443", "--tls-cert", "c.pem", "--tls-key", "k.pem",
            "--provisions-per-minute", "7", "--allow-unauthenticated", "--allow-plain-answers", "--pool",
            "fd00::/64", "--pool", "10.9.0.0/16", "--server-address", "10.9.255.1", "--allowed-ips",
            "0.0.0.0/0, ::/0", "--dns", "1.1.1.1,9.9.9.9", "--mtu", "1380", "--keepalive", "0",
            "--heartbeat-interval", "1m", "--admin-url", "https://a.example/", "--no-preshared-keys",
            "--forwards-in-heartbeats", "--fault", "drop*2", "--fault", "delay=1s", "--fault-file", "f",
            "--log-level", "debug")
        #expect(options.listeners.map(\.address) == ["::1", "192.0.2.1"])
        #expect(options.listeners.map(\.port) == [0, 443])
        #expect(options.transport == .certificate(path: "c.pem", keyPath: "k.pem"))
        #expect(options.provisionLimit == 7)
        #expect(!options.requiresAuthentication)
        #expect(!options.requiresEnvelope)
        #expect(options.pools.map(\.network.description) == ["10.9.0.0/16", "fd00::/64"])
        #expect(options.pools.map(\.serverAddress.description) == ["10.9.255.1", "fd00::1"])
        #expect(options.allowedIPs?.map(\.description) == ["0.0.0.0/0", "::/0"])
        #expect(options.nameServers.map(\.description) == ["1.1.1.1", "9.9.9.9"])
        #expect(options.mtu == 1380)
        #expect(options.keepalive == 0)
        #expect(options.heartbeatInterval == .seconds(60))
        #expect(options.adminURL == "https://a.example/")
        #expect(!options.usesPresharedKeys)
        #expect(options.sendsForwards)
        #expect(options.faults == [Fault(.drop, count: 2), Fault(.delay(.seconds(1)))])
        #expect(options.faultFile == "f")
        #expect(options.logLevel == .debug)
    }

    @Test("the server peer takes its port from the endpoint, or its own option")
    func tunnel() throws {
        let base = ["serve", "--with-tunnel", "--endpoint", "192.0.2.1:4500"]
        guard case .serve(let options) = try ControlInvocation(base).command,
            case .serve(let other) = try ControlInvocation(
                base + ["--listen-port", "51821", "--interface", "wgx"]
            ).command
        else {
            throw UnexpectedCommand()
        }
        #expect(options.publicKey == nil)
        #expect(options.interfaceName == "ngcontrol0")
        #expect(options.listenPort == 4500)
        #expect(other.listenPort == 51821)
        #expect(other.interfaceName == "wgx")
    }

    @Test("plain HTTP stays on loopback unless it is allowed elsewhere")
    func plain() throws {
        #expect(try serve("--http").transport == .plain)
        #expect(try serve("--http", "--listen", "127.9.9.9:80", "--listen", "[::1]:80").transport == .plain)
        for address in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "[2001:db8::1]:80"] {
            #expect(throws: UsageError.self) { try serve("--http", "--listen", address) }
            #expect(try serve("--http", "--listen", address, "--allow-plain-http").transport == .plain)
        }
    }

    @Test(
        "what makes no sense is refused with the culprit named",
        arguments: [
            ([], "command is missing"), (["fly"], "'fly'"), (["token"], "new, list, revoke"),
            (["token", "new", "x"], "token new"), (["token", "new", "--expires", "soon"], "--expires"),
            (["token", "new", "--expires", "0s"], "--expires"), (["token", "new", "--name", ""], "--name"),
            (["token", "new", "--name", "a\u{202e}b"], "--name"), (["token", "revoke"], "token revoke: ID"),
            (["token", "list", "--all"], "--all"), (["device"], "list, show, revoke"),
            (["device", "show"], "device show: DEVICE"), (["device", "list", "x"], "device list"),
            (["rotate-keys"], "rotate-keys: DEVICE"), (["rotate-keys", "a", "b"], "'b'"),
            (["forward"], "add, rm, list"), (["forward", "add", "d", "tcp", "80"], "forward add"),
            (["forward", "add", "d", "sctp", "80", "80"], "PROTOCOL"),
            (["forward", "add", "d", "tcp", "0", "80"], "PUBLIC_PORT"),
            (["forward", "add", "d", "tcp", "65536", "80"], "PUBLIC_PORT"),
            (["forward", "add", "d", "tcp", "80", "host:80"], "TARGET"),
            (["forward", "add", "d", "tcp", "80", "+80"], "TARGET"),
            (["forward", "add", "d", "tcp", "80", "10.0.0.1:0"], "TARGET"),
            (["forward", "rm", "tcp"], "forward rm"), (["forward", "list", "a", "b"], "forward list"),
            (["token", "list", "--frob"], "'--frob'"), (["token", "list", "-x"], "'-x'"),
            (["token", "list", "--json=1"], "--json"), (["token", "list", "--state-dir"], "--state-dir"),
            (["token", "list", "--state-dir", "a", "--state-dir", "b"], "--state-dir"),
            (["serve"], "--endpoint"),
        ])
    func refusals(arguments: [String], culprit: String) {
        let error = #expect(throws: UsageError.self) { try ControlInvocation(arguments) }
        #expect(error?.description.contains(culprit) == true, "\(error?.description ?? "")")
    }

    @Test(
        "options of the server that make no sense are refused with the option named",
        arguments: [
            (["--listen", "here"], "--listen"), (["--listen", "localhost:80"], "--listen"),
            (["--listen", "127.0.0.1"], "--listen"), (["--tls-cert", "c"], "--tls-cert"),
            (["--tls-key", "k"], "--tls-cert"), (["--http", "--tls-cert", "c", "--tls-key", "k"], "--http"),
            (["--http", "--host-name", "x"], "--http"), (["--allow-plain-http"], "--allow-plain-http"),
            (["--tls-cert", "c", "--tls-key", "k", "--export-ca", "x"], "--export-ca"),
            (["--pool", "10.0.0.0"], "--pool"), (["--pool", "10.0.0.0/31"], "--pool"),
            (["--pool", "10.0.0.0/24,10.0.1.0/24"], "--pool"), (["--server-address", "fd00::1"], "--server"),
            (["--server-address", "10.0.0.1"], "--pool"), (["--dns", "one"], "--dns"),
            (["--dns", "1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4,1.1.1.5"], "--dns"), (["--mtu", "575"], "--mtu"),
            (["--mtu", "1279", "--pool", "fd00::/64"], "--mtu"), (["--keepalive", "65536"], "--keepalive"),
            (["--heartbeat-interval", "500ms"], "--heartbeat-interval"),
            (["--admin-url", "ftp://x"], "--admin-url"),
            (["--allowed-ips", "all"], "--allowed-ips"), (["--fault", "explode"], "explode"),
            (["--provisions-per-minute", "0"], "--provisions"), (["--log-level", "loud"], "--log-level"),
            (["--with-tunnel"], "--with-tunnel"), (["--interface", "x"], "--with-tunnel"),
            (["--listen-port", "1"], "--with-tunnel"), (["extra"], "serve"), (["--name", "x"], "--name"),
        ])
    func serveRefusals(arguments: [String], culprit: String) {
        let base = ["serve", "--endpoint", "vpn.example.net:51820", "--public-key", key]
        let error = #expect(throws: UsageError.self) { try ControlInvocation(base + arguments) }
        #expect(error?.description.contains(culprit) == true, "\(error?.description ?? "")")
    }

    @Test("a server peer must be named, here or elsewhere")
    func noPeer() {
        let error = #expect(throws: UsageError.self) {
            try ControlInvocation(["serve", "--endpoint", "a.example:1"])
        }
        #expect(error?.description.contains("--with-tunnel") == true)
    }

    @Test("a token in the place of its ID is refused and not repeated")
    func tokenInArguments() {
        let token = RegistrationToken.make()
        let error = #expect(throws: UsageError.self) { try ControlInvocation(["token", "revoke", token]) }
        #expect(error?.description.contains(token.dropFirst(4).prefix(12)) == false)
    }

    @Test("a token anywhere among the words of token is not repeated")
    func misplacedToken() {
        let token = RegistrationToken.make()
        for words in [["token", token], ["token", "new", token], ["token", "list", token]] {
            let error = #expect(throws: UsageError.self) { try ControlInvocation(words) }
            #expect(error?.description.contains(token.prefix(12)) == false)
        }
    }

    @Test("every command has help that names its options, and a script for each shell completes them")
    func help() throws {
        let root = ControlCommandTree.root
        func visit(_ command: CommandSpecification, path: [String]) throws {
            let below = path + [command.name]
            for words in [below + ["--help"], ["help"] + below, below + ["-h", "--nonsense"]] {
                guard case .help(below) = try ControlInvocation(words).command else {
                    throw UnexpectedCommand()
                }
            }
            let text = HelpText(of: root).text(for: below)
            #expect(text.hasPrefix("Usage: nexusguard-control \(below.joined(separator: " "))"))
            for line in text.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
            for option in command.options {
                #expect(text.contains("--\(option.name)"))
                #expect(CompletionShell.bash.script(for: root).contains("--\(option.name)"))
                #expect(CompletionShell.zsh.script(for: root).contains("--\(option.name)"))
                #expect(CompletionShell.fish.script(for: root).contains("-l \(option.name)"))
            }
            for command in command.subcommands { try visit(command, path: below) }
        }
        for command in root.subcommands { try visit(command, path: []) }
        let overview = HelpText(of: root).text(for: [])
        for command in root.subcommands { #expect(overview.contains("  \(command.name) ")) }
    }
}
