// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("The daemon's life", .enabled(if: Machine.isReady, Machine.skipReason))
struct LifeTests {
    @Test("wg works at once after the start in the background returns")
    func ready() async throws {
        try await Lab.with { lab in
            let namespace = try await lab.namespace()
            for _ in 1...8 {
                let daemon = try await Daemon(.tested, in: namespace, lab)
                #expect(try await daemon.tryWg("show \(daemon.interface)").succeeded)
                #expect(try await daemon.interfaceExists())
                try await namespace.ip("link del \(daemon.interface)")
            }
        }
    }

    @Test(
        "in the background it has a session of its own and no terminal", .enabled(if: Implementation.isOurs))
    func background() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            #expect(getsid(daemon.pid) != getsid(0))
            for descriptor in 0...2 {
                let target = try await Shell.check(["readlink", "/proc/\(daemon.pid)/fd/\(descriptor)"]).text
                #expect(target == "/dev/null", "descriptor \(descriptor)")
            }
        }
    }

    @Test("deleting the interface ends it")
    func interfaceDeleted() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            try await daemon.namespace.ip("link del \(daemon.interface)")
            try await Shell.eventually("process, interface and socket are gone") { try await daemon.isGone() }
        }
    }

    @Test("deleting the control socket ends it")
    func socketDeleted() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            #expect(unlink(daemon.socketPath) == 0)
            try await Shell.eventually("process, interface and socket are gone") { try await daemon.isGone() }
        }
    }

    @Test("a signal to end removes the interface and the socket", arguments: [SIGTERM, SIGINT])
    func signals(number: Int32) async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            #expect(kill(daemon.pid, number) == 0)
            try await Shell.eventually("process, interface and socket are gone") { try await daemon.isGone() }
        }
    }

    @Test("in the foreground it stays, and ends with status 0 at SIGTERM", arguments: [false, true])
    func foreground(byEnvironment: Bool) async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            let child =
                byEnvironment
                ? try lab.spawn(
                    in: namespace, Implementation.tested.path, interface,
                    environment: ["WG_PROCESS_FOREGROUND": "1"])
                : try lab.spawn(in: namespace, Implementation.tested.path, "-f", interface)
            try await Shell.eventually("wg answers") {
                try await namespace.run("wg", "show", interface).succeeded
            }
            #expect(child.poll() == nil)
            #expect(try await child.stop().status == 0)
            #expect(access(Daemon.socketPath(of: interface), F_OK) != 0)
            #expect(try await !namespace.run("ip", "link", "show", interface).succeeded)
        }
    }

    @Test("a socket that a dead daemon left is replaced")
    func staleSocket() async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            let first = try await Daemon(.tested, in: namespace, interface: interface)
            #expect(kill(first.pid, SIGKILL) == 0)
            try await Shell.eventually("the first is dead and its interface gone") {
                if first.isRunning { return false }
                return try await !first.interfaceExists()
            }
            #expect(access(first.socketPath, F_OK) == 0)
            let second = try await Daemon(.tested, in: namespace, interface: interface)
            #expect(try await second.tryWg("show \(interface)").succeeded)
        }
    }

    @Test("the socket is for its owner alone, whatever the umask", .enabled(if: Implementation.isOurs))
    func permissions() async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            // A /run of its own, where the folder is still to be made.
            let modes = try await namespace.bash(
                "mount -t tmpfs tmpfs /run; umask 0; \(Implementation.tested.path) \(interface);"
                    + " stat -c %a /run/wireguard /run/wireguard/\(interface).sock")
            #expect(modes.lines == ["700", "600"])
        }
    }

    @Test("another user may not use the control socket")
    func otherUser() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            let user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            let output = try await Shell.run(
                user + ["socat", "-", "UNIX-CONNECT:\(daemon.socketPath)"], input: "get=1\n\n")
            #expect(!output.succeeded && output.standardOutput.isEmpty)
        }
    }

    @Test("the most verbose log holds no secret")
    func logWithoutSecrets() async throws {
        try await Lab.with { lab in
            let (namespace, interface) = (try await lab.namespace(), lab.interfaceName())
            let child = try lab.spawn(
                in: namespace, Implementation.tested.path, "-f", interface,
                environment: ["LOG_LEVEL": "verbose"])
            try await Shell.eventually("wg answers") {
                try await namespace.run("wg", "show", interface).succeeded
            }
            let own = try await lab.keyPair()
            let peer = try await lab.keyPair().publicKey
            let shared = try await Shell.check(["wg", "genpsk"]).text
            let sharedPath = try lab.file("psk", shared + "\n")
            try await namespace.ip("address add 10.77.0.1/24 dev \(interface)")
            try await namespace.ip("link set \(interface) up")
            try await namespace.bash(
                "wg set \(interface) private-key \(own.path) listen-port \(Pair.port) peer \(peer)"
                    + " preshared-key \(sharedPath) endpoint 127.0.0.1:9 allowed-ips 10.77.0.0/24")
            #expect(try await !namespace.ping("10.77.0.2", within: 1))
            try await child.stop()
            let log = child.standardOutput + child.standardError
            #expect(!log.isEmpty)
            for secret in [try await Shell.check(["cat", own.path]).text, shared] {
                let bytes = [UInt8](Data(base64Encoded: secret) ?? Data())
                let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                #expect(bytes.count == 32)
                #expect(!log.contains(secret) && !log.lowercased().contains(hex))
            }
        }
    }

    @Test("many requests leave no descriptor open")
    func descriptors() async throws {
        try await Lab.with { lab in
            let daemon = try await Daemon(.tested, in: try await lab.namespace(), lab)
            func count() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/fd").count
            }
            for _ in 1...5 { try await daemon.wg("show \(daemon.interface)") }
            let before = try count()
            for _ in 1...40 { try await daemon.wg("show \(daemon.interface)") }
            // Requests cut off in the middle.
            for _ in 1...5 {
                _ = try await Shell.run(
                    ["socat", "-u", "-", "UNIX-CONNECT:\(daemon.socketPath)"], input: "set=1\nlisten_port")
            }
            try await Shell.eventually("no more descriptors than before") { try count() <= before }
        }
    }
}
