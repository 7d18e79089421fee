// SPDX-License-Identifier: MIT

import AgentCore
import AgentStore
import Glibc
import NexusGuard
import Testing

@Suite("the administrator's settings")
struct AdministratorSettingsTests {
    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func read(_ text: String, mode: mode_t = 0o644) throws -> AdministratorSettings {
        try folder.write("agent.conf", text, mode: mode)
        return try AdministratorSettings(contentsOf: folder.path("agent.conf"))
    }

    @Test("every key is read, with comments, blanks, quotes and Windows line ends")
    func everyKey() throws {
        let settings = try read(
            """
            # NexusGuard
            server_url = http://192.0.2.1:8080/base   # the lab
            \tinterface=\t"ng0"\t
            HWID = 00112233445566778899AABBCCDDEEFF\r
            ca_file = /etc/nexusguard/ca#1.pem

            token_file = /run/credentials/token
            host_key_file = /etc/nexusguard/host.key
            allow_plain_http = yes
            authenticate_heartbeats = off
            require_encrypted_heartbeats = 1
            auto_start = FALSE
            persist_log = true
            log_level = warn
            """)
        var expected = AdministratorSettings()
        expected.serverURL = "http://192.0.2.1:8080/base"
        expected.interfaceName = "ng0"
        expected.hwid = "00112233445566778899aabbccddeeff"
        expected.certificateAuthorityFile = "/etc/nexusguard/ca#1.pem"
        expected.tokenFile = "/run/credentials/token"
        expected.hostKeyFile = "/etc/nexusguard/host.key"
        expected.allowsPlainHTTP = true
        expected.authenticatesHeartbeats = false
        expected.requiresEncryptedHeartbeats = true
        expected.startsAutomatically = false
        expected.persistsLog = true
        expected.logLevel = .warn
        #expect(settings == expected)
    }

    @Test("no file and an empty file fix nothing")
    func nothing() throws {
        let absent = try AdministratorSettings(contentsOf: folder.path("absent"))
        #expect(absent == AdministratorSettings())
        #expect(try read("\n# nothing\n\n") == AdministratorSettings())
        #expect(absent.applied(to: AgentConfig()) == AgentConfig())
        #expect(absent.fixedSettings.isEmpty)
    }

    @Test("what is fixed replaces what the user chose, and nothing else")
    func applied() throws {
        let settings = try read("server_url = https://fixed.example\nauto_start = no\n")
        var user = AgentConfig()
        user.serverURL = "https://chosen.example"
        user.interfaceName = "chosen0"
        var expected = user
        expected.serverURL = "https://fixed.example"
        expected.startsAutomatically = false
        #expect(settings.applied(to: user) == expected)
        #expect(settings.fixedSettings == ["serverURL", "startsAutomatically"])
    }

    @Test(
        "an error names the line and the key and never the value",
        arguments: [
            ("\nserver_url = ftp://secret", "line 2: server_url"),
            ("server_url = http://secret.example", "line 1: server_url"),
            ("a = 1", "line 1: a"),
            ("# x\n\ninterface = sec/ret", "line 3: interface"),
            ("hwid = secret", "line 1: hwid"),
            ("ca_file = secret.pem", "line 1: ca_file"),
            ("persist_log = secret", "line 1: persist_log"),
            ("log_level = secret", "line 1: log_level"),
            ("token = secret", "line 1: token"),
            ("auto_start =", "line 1: auto_start"),
            ("auto_start = \"\"", "line 1: auto_start"),
            ("auto_start = yes\nauto_start = no", "line 2: auto_start"),
            ("interface = a\u{1B}[31msecret", "line 1: interface"),
            ("auto_start yes secret", "line 1"),
            ("= secret", "line 1"),
            ("two words = secret", "line 1"),
        ])
    func wrong(text: String, place: String) throws {
        let error = #expect(throws: AgentError.self) { try read(text) }
        guard case .configInvalid(let field, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(field == "\(folder.path("agent.conf")) \(place)")
        #expect(!reason.contains("secret"))
        #expect(!reason.isEmpty)
    }

    @Test("a file that others can write, one that is no text, and one that is too large are refused")
    func refusedFiles() throws {
        for mode in [0o666, 0o664] as [mode_t] {
            let error = #expect(throws: AgentError.self) { try read("auto_start = yes", mode: mode) }
            #expect(error?.code == "store-unusable")
        }
        try folder.write("agent.conf", [0x61, 0x3D, 0xFF, 0xFE], mode: 0o644)
        #expect(throws: AgentError.self) {
            try AdministratorSettings(contentsOf: folder.path("agent.conf"))
        }
        #expect(throws: AgentError.self) { try read(String(repeating: "# comment\n", count: 7000)) }
        #expect(throws: AgentError.self) { try AdministratorSettings(contentsOf: folder.path) }
    }

    @Test("a pipe in its place does not hang the start")
    func pipe() throws {
        try #require(mkfifo(folder.path("pipe"), 0o644) == 0)
        #expect(throws: AgentError.self) { try AdministratorSettings(contentsOf: folder.path("pipe")) }
    }
}
