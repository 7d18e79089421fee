// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Harness
internal import Testing

@Suite("Secrets and permissions", .enabled(if: Machine.isReady, Machine.skipReason))
struct SecretTests {
    @Test("no key, token or whole identifier is in a log, a status, a report or an argument")
    func secrets() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.agent(settings: ["persist_log = yes"])
            try await agent.start()
            let token = try await site.control.token(name: agent.name)
            // A failure on the way, so that the log has something to say of it.
            try site.control.setFaults("wrong-tag@provision*1")
            _ = try await agent.run("provision", "--token-file", token.path)
            var secrets = try secrets(agent)
            try await agent.command("provision", "--token-file", token.path)
            try await agent.command("up", "--timeout", "250")
            try await agent.waitForHeartbeat()
            secrets.merge(try self.secrets(agent)) { $1 }
            try await site.control.command("rotate-keys", agent.name)
            try await agent.waitFor("the keys are new") { $0.counters.rebuilds == 1 }
            try site.control.setFaults("bad-field=private_key@heartbeat")
            try await agent.waitFor("a bad answer shows") { $0.codes.contains("config-invalid") }
            secrets.merge(try self.secrets(agent)) { $1 }
            let device = try await site.control.device(agent.name)
            secrets["the token"] = token.text
            secrets["the device's identifier"] = device.id
            // Private and preshared key of two generations, the provisioning key, each in two forms.
            #expect(secrets.count >= 12, "\(secrets.keys.sorted())")

            var places = [
                "the agent's standard error": agent.log,
                "the server's log": site.control.child?.standardError ?? "",
            ]
            for words in [
                ["status"], ["--json", "status"], ["logs"], ["--json", "logs"], ["forwards"], ["settings"],
                ["config", "show"], ["config", "export"], ["netcheck"], ["bugreport", "-o", "-"],
            ] {
                let output = try await Shell.run(agent.words(words))
                places["nexusguard \(words.joined(separator: " "))"] =
                    output.standardOutput + output.standardError
            }
            for (name, child) in [("agent", agent.child), ("server", site.control.child)] {
                guard let child else { throw ShellError.neverTrue("the \(name) runs") }
                for file in ["cmdline", "environ"] {
                    let bytes = FileManager.default.contents(atPath: "/proc/\(child.pid)/\(file)") ?? Data()
                    places["/proc of the \(name), \(file)"] = String(decoding: bytes, as: UTF8.self)
                }
                let limits = try String(contentsOfFile: "/proc/\(child.pid)/limits", encoding: .utf8)
                let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
                #expect(
                    core?.split(separator: " ").dropFirst(4).first == "0", "the \(name) may leave a core file"
                )
            }
            for (place, text) in places {
                #expect(!text.isEmpty, "\(place) is empty")
                // What is redacted is the identity of the device, not its name for people.
                for (secret, value) in secrets {
                    let isThere = text.lowercased().contains(value.lowercased())
                    #expect(!isThere, "\(secret) is in \(place)")
                }
            }
            try persistedLog(agent, secrets)
        }
    }

    /// The log that outlives restarts is a file; it holds no secret either.
    private func persistedLog(_ agent: Agent, _ secrets: [String: String]) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: agent.stateDirectory)
        for name in names where !["tunnel", "key", "token"].contains(where: { name.hasPrefix($0) }) {
            let bytes = FileManager.default.contents(atPath: "\(agent.stateDirectory)/\(name)") ?? Data()
            for (secret, value) in secrets {
                #expect(bytes.range(of: Data(value.utf8)) == nil, "\(secret) is in \(name)")
            }
        }
    }

    /// The keys that an agent has stored, as base64 and as hexadecimal digits.
    private func secrets(_ agent: Agent) throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: agent.stateDirectory)
        where ["tunnel", "key", "token"].contains(where: { name.hasPrefix($0) }) {
            let bytes = FileManager.default.contents(atPath: "\(agent.stateDirectory)/\(name)") ?? Data()
            let text = String(decoding: bytes, as: UTF8.self)
            for match in text.matches(of: /"([a-z_]*key|key)" ?: ?"([^"]+)"/) {
                guard let key = Self.key(String(match.2)) else { continue }
                let base64 = key.base64EncodedString()
                found["\(match.1) \(base64.prefix(4)) in base64"] = base64
                found["\(match.1) \(base64.prefix(4)) in hexadecimal"] = key.map {
                    let digits = String($0, radix: 16)
                    return digits.count == 1 ? "0" + digits : digits
                }.joined()
            }
        }
        return found
    }

    /// The 32 bytes of a key in either form.
    private static func key(_ text: String) -> Data? {
        if text.count == 64 {
            let digits = Array(text)
            let bytes = stride(from: 0, to: 64, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            }
            return bytes.count == 32 ? Data(bytes) : nil
        }
        let bytes = Data(base64Encoded: text)
        return bytes?.count == 32 ? bytes : nil
    }

    @Test("another user sees a status without who and where, changes nothing and reads no file")
    func permissions() async throws {
        try await Lab.with { lab in
            let site = try await Site(lab)
            let agent = try await site.connectedAgent()
            let before = try await agent.waitForHeartbeat()
            let device = try await site.control.device(agent.name)
            let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            func run(_ words: String..., input: String = "") async throws -> Output {
                let command = agent.namespace.prefix + other + [Program.command, "--socket", agent.socket]
                return try await Shell.run(command + words, input: input)
            }

            let status = try await run("--json", "status")
            #expect(status.succeeded)
            #expect(status.standardOutput.contains(#""state":"connected""#))
            for secret in [device.id, String(device.id.prefix(4)) + "…", "192.0.2.1", Site.inner]
                + device.addresses + [device.hwid]
            {
                #expect(!status.standardOutput.contains(secret), "\(secret) is shown to another user")
            }
            #expect(try await run("status", "--check", "live").succeeded)
            #expect(try await run("status", "--check", "ready").succeeded)
            let refused: [[String]] = [
                ["up"], ["down"], ["restart"], ["refresh"], ["logs"], ["logs", "--clear"], ["forwards"],
                ["provision", "--token-stdin"], ["provision", "--stored"], ["deprovision", "--yes"], ["hwid"],
                ["reset", "--yes"], ["settings"], ["settings", "set", "startsAutomatically=no"],
                ["config", "show"], ["config", "export"], ["netcheck"], ["bugreport", "-o", "-"],
            ]
            for words in refused {
                let output = try await Shell.run(
                    agent.namespace.prefix + other + [Program.command, "--socket", agent.socket] + words,
                    input: "token\n")
                #expect(output.status == 5, "\(words): \(output)")
            }
            let cleanup = try await run("cleanup", "--state-dir", agent.stateDirectory)
            #expect(!cleanup.succeeded)
            let after = try await agent.status()
            #expect(after.state == "connected" && after.wantsUp && after.provisioned)
            #expect(after.counters.tunnelStarts == before.counters.tunnelStarts)
            #expect(try await agent.namespace.ping(Site.inner))

            // The store belongs to the agent's user alone.
            #expect(Self.permissions(agent.stateDirectory) == 0o700)
            for name in try FileManager.default.contentsOfDirectory(atPath: agent.stateDirectory) {
                let mode = Self.permissions("\(agent.stateDirectory)/\(name)")
                #expect(mode & 0o077 == 0, "\(name) has mode \(String(mode, radix: 8))")
            }
            #expect(Self.permissions(agent.socket) == 0o666)
            let listing = try await Shell.run(other + ["ls", agent.stateDirectory])
            #expect(!listing.succeeded)
        }
    }

    private static func permissions(_ path: String) -> UInt32 {
        var status = stat()
        guard stat(path, &status) == 0 else { return .max }
        return status.st_mode & 0o777
    }
}
