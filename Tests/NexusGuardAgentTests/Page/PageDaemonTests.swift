// SPDX-License-Identifier: MIT

import AgentCommandLine
import Glibc
import NexusGuardAgent
import Testing

@testable internal import nexusguard_agent

@Suite("nexusguard-agent and the page", .enabled(if: geteuid() == 0, "a network namespace needs root"))
struct PageDaemonTests {
    @Test(
        "it does not start with a page that others reach without TLS and a password, and says what is missing"
    )
    func refusal() async throws {
        let everywhere = try DaemonProcess(configuration: "ui_listen = 0.0.0.0:8451\n")
        #expect(await everywhere.exitStatus() == 1)
        #expect(
            everywhere.output.contains(
                "ui_listen: 0.0.0.0 is not loopback, which needs TLS and a password: "
                    + "ui_certificate, ui_key, ui_password_file and ui_hosts are missing"),
            "\(everywhere.output)")
        let half = try DaemonProcess(
            configuration: "ui-listen = 192.0.2.1:8451\nui-certificate = /c.pem\nui-key = /k.pem\n")
        #expect(await half.exitStatus() == 1)
        #expect(half.output.contains(": ui_password_file is missing"), "\(half.output)")
        let options = try DaemonProcess(arguments: ["--ui-listen", "[2001:db8::1]:8451"])
        #expect(await options.exitStatus() == 1)
        #expect(options.output.contains("ui_listen: [2001:db8::1] is not loopback"), "\(options.output)")
    }

    @Test("a password or a certificate that cannot be used costs the page and not the tunnel")
    func files() async throws {
        let daemon = try DaemonProcess(configuration: "ui_password_file = /nonexistent/password\n")
        #expect(await daemon.notify.wait(for: "READY=1") != nil, "\(daemon.output)")
        let logs = try await daemon.run(["logs", "--level", "error"])
        #expect(logs.text.contains("ui_password_file: /nonexistent/password cannot be read"), "\(logs.text)")
        kill(daemon.process, SIGTERM)
        #expect(await daemon.exitStatus() == 0, "\(daemon.output)")
    }

    @Test("settings that are read again and contradict each other change nothing")
    func reload() async throws {
        let daemon = try DaemonProcess(configuration: "server_url = https://a.example\n")
        #expect(await daemon.notify.wait(for: "READY=1") != nil, "\(daemon.output)")
        try daemon.folder.write("agent.conf", "server_url = https://b.example\nui_listen = 192.0.2.1\n")
        kill(daemon.process, SIGHUP)
        #expect(await daemon.notify.wait(for: "RELOADING=1") != nil)
        #expect(await daemon.notify.wait(for: "READY=1") != nil)
        #expect(try await daemon.run(["settings", "get", "serverURL"]).text == "https://a.example\n")
        let logs = try await daemon.run(["logs", "--level", "error"])
        #expect(logs.text.contains("not read again: ui_listen: 192.0.2.1 is not loopback"), "\(logs.text)")
        kill(daemon.process, SIGTERM)
        #expect(await daemon.exitStatus() == 0, "\(daemon.output)")
    }
}

@Suite("options of the page")
struct PageOptionTests {
    private func page(_ words: String...) throws(UsageError) -> PageSettings {
        try DaemonOptions(arguments: words, environment: { _ in nil }).page
    }

    @Test("each is read, in both forms")
    func all() throws {
        let page = try page(
            "--ui-listen=[::1]:1", "--ui-certificate", "/c", "--ui-key=/k", "--ui-password-file", "/p",
            "--ui-hosts", "a.example,b.example:443", "--ui-read-only")
        #expect(page.listen == PageAddress("[::1]:1"))
        #expect(page.certificateFile == "/c")
        #expect(page.keyFile == "/k")
        #expect(page.passwordFile == "/p")
        #expect(page.hosts == ["a.example", "b.example:443"])
        #expect(page.isReadOnly == true)
        #expect(try self.page() == PageSettings())
        for name in ["listen", "certificate", "key", "password-file", "hosts", "read-only"] {
            #expect(DaemonCommand.help.contains("--ui-\(name)"))
        }
    }

    @Test("what makes no sense is refused by its name")
    func refusals() {
        #expect(throws: UsageError.surplusValue(option: "--ui-read-only", path: [])) {
            try page("--ui-read-only=yes")
        }
        #expect(throws: UsageError.missingValue(option: "--ui-key", path: [])) { try page("--ui-key") }
        for words in [["--ui-listen", "box:1"], ["--ui-hosts", "a b/"], ["--ui-key", "k"]] {
            #expect(throws: UsageError.self) {
                try DaemonOptions(arguments: words, environment: { _ in nil })
            }
        }
        #expect(throws: UsageError.unknownOption("--ui-password", path: [])) {
            try page("--ui-password=sEcReT")
        }
    }
}
