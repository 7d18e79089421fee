// SPDX-License-Identifier: MIT

import AgentCore
import NexusGuard
import Testing

@testable internal import AgentStore

@Suite("settings of the page")
struct PageSettingsTests {
    private func read(_ text: String) throws(AgentError) -> PageSettings {
        try AdministratorSettings(parsing: Array(text.utf8), path: "/etc/x.conf").page
    }

    @Test("addresses are read with a port or without, and nothing else is")
    func addresses() throws {
        for (text, host, port, isLoopback) in [
            ("127.0.0.1", "127.0.0.1", nil, true), ("127.0.0.1:8451", "127.0.0.1", 8451, true),
            ("localhost:80", "127.0.0.1", 80, true), ("127.255.0.9:0", "127.255.0.9", 0, true),
            ("::1", "[::1]", nil, true), ("[::1]:65535", "[::1]", 65_535, true),
            ("[2001:db8::1]", "[2001:db8::1]", nil, false), ("0.0.0.0:1", "0.0.0.0", 1, false),
            ("192.0.2.1:443", "192.0.2.1", 443, false),
            ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]", nil, false),
        ] as [(String, String, UInt16?, Bool)] {
            let address = try #require(PageAddress(text), "\(text)")
            #expect(address.host == host)
            #expect(address.port == port)
            #expect(address.isLoopback == isLoopback, "\(text)")
            #expect(PageAddress(address.description) == address)
        }
        for text in [
            "", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:8 0",
            "[127.0.0.1]:80", "[::1", "::1]", "[::1]80", "[::1]:", "example.net:80", "127.1:80",
            "127.0.0.1/8",
            "http://127.0.0.1:80", "fe80::1%eth0", "127.0.0.1:80:80", " 127.0.0.1",
        ] {
            #expect(PageAddress(text) == nil, "\(text)")
        }
    }

    @Test("each key is read, with hyphens as well, and the command line comes first")
    func keys() throws {
        let page = try read(
            """
            ui_listen = 192.0.2.1:8451
            ui-certificate = /etc/ssl/box.pem
            ui_key = /etc/ssl/box.key
            ui-password-file = /etc/nexusguard/password
            ui_hosts = box.example.net, Box.example.net:443 [2001:db8::1]:8451,192.0.2.1
            ui_read_only = yes
            """)
        #expect(page.listen?.description == "192.0.2.1:8451")
        #expect(page.certificateFile == "/etc/ssl/box.pem")
        #expect(page.keyFile == "/etc/ssl/box.key")
        #expect(page.passwordFile == "/etc/nexusguard/password")
        #expect(
            page.hosts == ["box.example.net", "box.example.net:443", "[2001:db8::1]:8451", "192.0.2.1"])
        #expect(page.isReadOnly == true)
        #expect(throws: Never.self) { try page.check() }
        var others = PageSettings()
        others.listen = PageAddress("127.0.0.1")
        others.isReadOnly = false
        let both = page.replaced(by: others)
        #expect(both.listen?.description == "127.0.0.1")
        #expect(both.isReadOnly == false)
        #expect(both.hosts == page.hosts)
        #expect(try read("") == PageSettings())
    }

    @Test("a mistake is named by line and key, and a password by neither")
    func mistakes() throws {
        for (line, key) in [
            ("ui_listen = box.example.net:80", "ui_listen"), ("ui_certificate = box.pem", "ui_certificate"),
            ("ui_key = key", "ui_key"), ("ui_password_file = p", "ui_password_file"),
            ("ui_hosts = a b/c", "ui_hosts"), ("ui_hosts = ::1", "ui_hosts"), ("ui_hosts = a:0", "ui_hosts"),
            ("ui_hosts = ,", "ui_hosts"), ("ui_read_only = perhaps", "ui_read_only"),
            ("ui_nothing = 1", "ui_nothing"), ("ui_password = sEcReT word", "ui_password"),
        ] {
            do throws(AgentError) {
                _ = try read("# first\n\(line)\n")
                Issue.record("\(line) is accepted")
            } catch {
                guard case .configInvalid(let field, let reason) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(field == "/etc/x.conf line 2: \(key)")
                #expect(!reason.contains("sEcReT"))
            }
        }
        #expect(throws: AgentError.self) { try read("ui_listen = 127.0.0.1\nui-listen = 127.0.0.1\n") }
    }

    @Test("a certificate needs its key, and a key its certificate")
    func halves() {
        var settings = PageSettings()
        settings.certificateFile = "/a"
        #expect(
            throws: AgentError.configInvalid(field: "ui_certificate", reason: "needs ui_key as well")
        ) { try settings.check() }
        settings.certificateFile = nil
        settings.keyFile = "/b"
        #expect(
            throws: AgentError.configInvalid(field: "ui_key", reason: "needs ui_certificate as well")
        ) { try settings.check() }
    }
}
