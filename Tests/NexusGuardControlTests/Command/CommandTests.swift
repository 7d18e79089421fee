// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("Commands")
struct CommandTests {
    let directory: TemporaryDirectory
    let bench: CommandBench

    init() throws {
        directory = try TemporaryDirectory()
        bench = CommandBench(directory: directory.file("state"))
    }

    /// A device, enrolled as the server does it.
    private func enrol(name: String? = nil) async throws -> DeviceRecord {
        let token =
            if let name {
                try await bench.object("token", "new", "--name", name)
            } else {
                try await bench.object("token", "new")
            }
        let text = try #require(token["token"] as? String)
        let store = try SQLiteStore(directory: bench.directory, createsFile: false)
        let enrolment = Enrolment(
            tokenID: RegistrationToken.identifier(of: text), tokenDigest: RegistrationToken.digest(of: text),
            hwid: "hwid-1", provisioningKey: CryptoManager.deriveKey(token: text, hwid: "hwid-1"),
            deviceID: UUID().uuidString.lowercased(), keys: Samples.keys(), pools: [try Samples.pool()],
            at: Samples.now)
        return try #require(await store.enrol(enrolment).device)
    }

    @Test("a new token has 256 random bits, is printed once, and only its digest is kept")
    func tokenNew() async throws {
        let result = await bench.run("token", "new")
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        let token = String(result.output.dropLast())
        #expect(result.output.last == "\n")
        #expect(token.hasPrefix("ngt_"))
        // 43 characters of base64url are 32 bytes.
        let base64 = token.dropFirst(4).replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        #expect(Data(base64Encoded: base64 + "=")?.count == 32)
        let list = await bench.run("token", "list")
        #expect(list.output.contains(RegistrationToken.identifier(of: token)))
        #expect(!list.output.contains(token))
        for name in ["control.db", "control.db-wal"] {
            guard let bytes = try? directory.bytes(of: "state/\(name)") else { continue }
            #expect(Data(bytes).range(of: Data(token.utf8.dropFirst(4))) == nil)
        }
        let tokens = await (0..<50).asyncMap { _ in await bench.run("token", "new").output }
        #expect(Set(tokens).count == 50)
    }

    @Test("tokens are listed with what they are good for")
    func tokenList() async throws {
        let device = try await enrol(name: "attic")
        let short = try await bench.object("token", "new", "--expires", "1h", "--name", "soon")
        let gone = try await bench.object("token", "new")
        let id = try #require(gone["id"] as? String)
        #expect(await bench.run("token", "revoke", id).status == 0)
        bench.clock.advance(3600)
        let tokens = try #require(try await bench.object("token", "list")["tokens"] as? [[String: Any]])
        let byName = Dictionary(grouping: tokens) { $0["state"] as? String ?? "" }
        #expect(byName.mapValues(\.count) == ["used": 1, "expired": 1, "revoked": 1])
        #expect(byName["used"]?.first?["device"] as? String == device.id)
        #expect(byName["used"]?.first?["name"] as? String == "attic")
        #expect(byName["expired"]?.first?["id"] as? String == short["id"] as? String)
        #expect(byName["expired"]?.first?["expires"] as? String == short["expires"] as? String)
        #expect(byName["revoked"]?.first?["id"] as? String == id)
        let text = await bench.run("token", "list").output
        #expect(text.split(separator: "\n").count == 4)
        for word in ["used", "expired", "revoked", "attic", device.id] { #expect(text.contains(word)) }
    }

    @Test("devices are listed and shown, named by identifier, beginning or name, without any secret")
    func devices() async throws {
        let device = try await enrol(name: "attic")
        let other = try await enrol()
        for text in [device.id, String(device.id.prefix(8)), "attic"] {
            let shown = try await bench.object("device", "show", text)
            #expect(shown["id"] as? String == device.id)
        }
        let shown = try await bench.object("device", "show", "attic")
        #expect(shown["state"] as? String == "active")
        #expect(shown["hwid"] as? String == "hwid-1")
        #expect(shown["addresses"] as? [String] == ["10.172.21.2"])
        #expect(shown["tunnel_up"] is NSNull)
        #expect(shown["forward_count"] as? Int == 0)
        let keys = try #require(shown["keys"] as? [[String: Any]])
        let publicKey = device.keys.first?.wireGuardPrivateKey?.publicKey.base64
        #expect(keys.first?["public_key"] as? String == publicKey)
        #expect(keys.first?["state"] as? String == "current")
        let list = try #require(try await bench.object("device", "list")["devices"] as? [[String: Any]])
        #expect(Set(list.compactMap { $0["id"] as? String }) == [device.id, other.id])
        let texts = [
            await bench.run("device", "list").output, await bench.run("device", "show", "attic").output,
            await bench.run("--json", "device", "list").output,
            await bench.run("--json", "device", "show", "attic").output,
        ]
        var secrets: [String] = []
        let raw = [device.keys.first?.privateKey, device.keys.first?.presharedKey].compactMap { key in
            key?.withBytes { $0.withUnsafeBytes { Data($0) } }
        }
        for key in raw + [device.provisioningKey.withBytes { $0.withUnsafeBytes { Data($0) } }] {
            secrets += [key.base64EncodedString(), key.map { String(format: "%02x", $0) }.joined()]
        }
        // The private key as the engine writes it, clamped.
        secrets.append(device.keys.first?.wireGuardPrivateKey?.base64 ?? "")
        for text in texts {
            #expect(text.contains(device.id))
            for secret in secrets { #expect(!text.contains(secret)) }
        }
    }

    @Test("a revoked device is gone from the list, and shown with how it went")
    func revoke() async throws {
        let device = try await enrol()
        #expect(await bench.run("device", "revoke", device.id).status == 0)
        let list = try await bench.object("device", "list")
        #expect((list["devices"] as? [[String: Any]])?.isEmpty == true)
        let all = try await bench.object("device", "list", "--all")
        #expect((all["devices"] as? [[String: Any]])?.first?["state"] as? String == "revoked")
        let again = await bench.run("device", "revoke", device.id)
        #expect(again.status == 4)
        #expect(again.errors.contains("no identity"))
        #expect(await bench.run("rotate-keys", device.id).status == 4)
        #expect(await bench.run("forward", "add", device.id, "tcp", "80", "80").status == 4)
    }

    @Test("a rotation waits for the next heartbeat, and another replaces it")
    func rotate() async throws {
        let device = try await enrol()
        let first = try await bench.object("rotate-keys", device.id)
        #expect(first["generation"] as? Int == 2)
        let second = try await bench.object("rotate-keys", device.id)
        #expect(second["generation"] as? Int == 3)
        let shown = try await bench.object("device", "show", device.id)
        let keys = try #require(shown["keys"] as? [[String: Any]])
        #expect(keys.map { $0["generation"] as? Int } == [1, 3])
        #expect(keys.map { $0["state"] as? String } == ["current", "waiting for the next heartbeat"])
        let text = await bench.run("rotate-keys", device.id)
        #expect(text.status == 0)
        #expect(text.output.contains("generation 4"))
    }

    @Test("forwards are added, listed and removed; a port goes to one place")
    func forwards() async throws {
        let device = try await enrol()
        let other = try await enrol()
        #expect(await bench.run("forward", "add", device.id, "tcp", "8080", "80").status == 0)
        #expect(await bench.run("forward", "add", device.id, "UDP", "53", "[fd00::7]:5353").status == 0)
        #expect(await bench.run("forward", "add", other.id, "tcp", "22", "10.9.9.9:2222").status == 0)
        let taken = await bench.run("forward", "add", other.id, "tcp", "8080", "80")
        #expect(taken.status == 4)
        #expect(taken.errors.contains(device.id))
        let list = try await bench.object("forward", "list", device.id)
        let entries = try #require(list["forwards"] as? [[String: Any]])
        #expect(entries.map { $0["target_ip"] as? String } == ["10.172.21.2", "fd00::7"])
        #expect(entries.map { $0["target_port"] as? Int } == [80, 5353])
        let text = await bench.run("forward", "list").output
        for word in ["10.172.21.2:80", "[fd00::7]:5353", "10.9.9.9:2222"] { #expect(text.contains(word)) }
        #expect(await bench.run("forward", "rm", "tcp", "8080").status == 0)
        #expect(await bench.run("forward", "rm", "tcp", "8080").status == 3)
        let rest = try await bench.object("forward", "list")
        #expect((rest["forwards"] as? [[String: Any]])?.count == 2)
    }

    @Test("what is not there ends with status 3, what is ambiguous with 4")
    func notFound() async throws {
        _ = try await enrol(name: "twin")
        _ = try await enrol(name: "twin")
        for arguments in [
            ["device", "show", "nobody"], ["device", "revoke", "nobody"], ["rotate-keys", "nobody"],
            ["forward", "add", "nobody", "tcp", "80", "80"], ["forward", "rm", "tcp", "80"],
            ["forward", "list", "nobody"], ["token", "revoke", "00000000"],
        ] {
            let result = await bench.run(arguments)
            #expect(result.status == 3, "\(arguments)")
            #expect(result.output.isEmpty)
            #expect(!result.errors.isEmpty)
        }
        let twins = await bench.run("device", "show", "twin")
        #expect(twins.status == 4)
        #expect(twins.errors.contains("names 2 devices"))
        // Three characters could mean anything.
        let store = try SQLiteStore(directory: bench.directory, createsFile: false)
        let id = try #require(await store.devices().first).id
        #expect(await bench.run("device", "show", String(id.prefix(3))).status == 3)
    }

    @Test("errors come as JSON too where that is asked")
    func jsonErrors() async throws {
        _ = try await enrol()
        let result = await bench.run("--json", "device", "show", "nobody")
        #expect(result.status == 3)
        let error = try #require(try result.object["error"] as? [String: Any])
        #expect(error["status"] as? Int == 3)
        #expect((error["message"] as? String)?.contains("nobody") == true)
    }

    @Test("without a state all but a new token fail with the file named, and make nothing")
    func noState() async throws {
        for arguments in [
            ["token", "list"], ["device", "list"], ["forward", "list"], ["rotate-keys", "x"],
        ] {
            let result = await bench.run(arguments)
            #expect(result.status == 1)
            #expect(result.errors.contains("control.db cannot be used: No such file or directory"))
        }
        #expect(!FileManager.default.fileExists(atPath: bench.directory))
    }

    @Test("a damaged state is an error that says what to do")
    func damaged() async throws {
        try FileManager.default.createDirectory(atPath: bench.directory, withIntermediateDirectories: false)
        try directory.write(Array(repeating: 7, count: 5000), to: "state/control.db")
        let result = await bench.run("token", "new")
        #expect(result.status == 1)
        #expect(result.errors.contains("is damaged or no database: restore it from a backup"))
        #expect(result.output.isEmpty)
    }

    @Test("help and version need no state; a wrong command line ends with status 2")
    func help() async throws {
        let help = await bench.run("--help")
        #expect(help.status == 0)
        for word in ["serve", "token", "device", "rotate-keys", "forward", "Exit status"] {
            #expect(help.output.contains(word))
        }
        for command in ["serve", "token", "device", "forward", "rotate-keys"] {
            let text = await bench.run(command, "--help").output
            #expect(text.contains("nexusguard-control \(command)"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 118 })
        }
        #expect(await bench.run("--version").output == "nexusguard-control 0.1.0\n")
        let wrong = await bench.run("fly")
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("--help"))
        #expect(!FileManager.default.fileExists(atPath: bench.directory))
    }
}

extension Range<Int> {
    /// Maps one after the other.
    fileprivate func asyncMap<Value>(_ body: (Int) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for number in self { values.append(try await body(number)) }
        return values
    }
}
