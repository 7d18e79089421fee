// SPDX-License-Identifier: MIT

import Glibc
import Testing

@Suite("nexusguard ui")
struct PageCommandTests {
    private static let link = FakePageDaemon.link
    private static let everything = #"POST /api/v1/ui/session {"read_only":false}"#

    /// A desktop's folders, with an opener that notes what it gets.
    private struct Desktop {
        let folder: TemporaryFolder
        /// Becomes an ordinary user where the tests run as root: root opens no browser.
        let prefix: [String]

        init(openerStatus: Int = 0) throws {
            folder = try TemporaryFolder()
            let user = geteuid() == 0 ? uid_t(65_534) : geteuid()
            prefix =
                geteuid() == 0
                ? ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"] : []
            let opener = """
                #!/bin/sh
                printf '%s\\n' "$@" >'\(folder.path)/run/arguments'
                cp "$1" '\(folder.path)/run/content'
                stat -c %a "$1" "$(dirname "$1")" >'\(folder.path)/run/modes'
                exit \(openerStatus)
                """
            chmod(folder.path, 0o755)
            mkdir(folder.path + "/run", 0o700)
            mkdir(folder.path + "/bin", 0o755)
            try folder.write("bin/xdg-open", opener + "\n")
            chmod(folder.path + "/bin", 0o755)
            chmod(folder.path + "/bin/xdg-open", 0o755)
            chown(folder.path + "/run", user, user)
        }

        var environment: [String: String] {
            [
                "DISPLAY": ":99", "XDG_RUNTIME_DIR": folder.path + "/run",
                "PATH": folder.path + "/bin:/usr/bin:/bin",
            ]
        }
    }

    @Test("--print writes the link alone, and what to know about it on the other output")
    func prints() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        for option in ["--print", "-p"] {
            let output = try await daemon.run([option])
            #expect(output.status == 0, "\(output.errors)")
            #expect(output.text == Self.link + "\n")
            #expect(output.errors.contains("It works once, within 2 min."))
            #expect(!output.errors.contains("sEcReT"))
        }
        #expect(daemon.asked == [Self.everything, Self.everything])
    }

    @Test("what may be done and where the page listens are passed on")
    func options() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        #expect(try await daemon.run(["--print", "--read-only"]).status == 0)
        #expect(try await daemon.run(["--print", "--listen", "[::1]:9000", "--read-only"]).status == 0)
        #expect(
            daemon.asked == [
                #"POST /api/v1/ui/session {"read_only":true}"#,
                #"POST /api/v1/ui/session {"read_only":true,"listen":"[::1]:9000"}"#,
            ])
        for wrong in ["8451", ":8451", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", ""] {
            #expect(try await daemon.run(["--print", "--listen", wrong]).status == 2, "\(wrong)")
        }
        #expect(daemon.asked.count == 2)
    }

    @Test("--json prints the daemon's document and opens nothing")
    func json() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        let desktop = try Desktop()
        let output = try await daemon.run(
            ["--json"], prefix: desktop.prefix, environment: desktop.environment)
        #expect(output.status == 0)
        #expect(output.text == FakePageDaemon.answer + "\n")
        #expect(output.errors.isEmpty)
        #expect(access(desktop.folder.path + "/run/arguments", F_OK) == -1)
    }

    @Test("the command for the other computer names this host as the other one reached it")
    func remote() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        let plain = try await daemon.run(
            ["--print"], environment: ["SSH_CONNECTION": "198.51.100.9 50000 192.0.2.7 22"])
        #expect(plain.errors.contains("    ssh -L 8451:127.0.0.1:8451 somebody@192.0.2.7\n"))
        let other = try await daemon.run(
            ["--print"],
            environment: ["SSH_CONNECTION": "2001:db8::9 50000 2001:db8::7 2222", "SUDO_USER": "admin"])
        #expect(other.errors.contains("    ssh -L 8451:127.0.0.1:8451 -p 2222 admin@2001:db8::7\n"))
        // What a shell would take for more than a word is left out.
        let strange = try await daemon.run(
            ["--print"], environment: ["SSH_CONNECTION": "a b $(id) 22", "USER": "x;y", "LOGNAME": "-oz"])
        #expect(strange.errors.contains(" USER@"))
        #expect(!strange.errors.contains("$("))
        #expect(!strange.errors.contains("x;y"))
    }

    @Test("a link is not written into a pipe or a file that nobody asked to have it in")
    func pipe() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        let output = try await daemon.run([])
        #expect(output.status == 1)
        #expect(output.text.isEmpty)
        #expect(output.errors.contains("there is no display here; --print prints the link"))
        #expect(daemon.asked.isEmpty)
    }

    @Test("without a display a terminal shows the link")
    func terminal() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        let terminal = try PseudoTerminal(
            [Built.path("nexusguard"), "--socket", daemon.socket, "ui"], width: 100,
            environment: ["SSH_CONNECTION": "198.51.100.9 50000 192.0.2.7 22", "DISPLAY": ":10"])
        #expect(await terminal.exitStatus() == 0)
        #expect(terminal.rows[0] == Self.link)
        #expect(terminal.rows.contains { $0.hasPrefix("    ssh -L 8451:127.0.0.1:8451 ") })
    }

    @Test("the browser gets a file that only its user reads, and no argument holds the link")
    func browser() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        let desktop = try Desktop()
        let output = try await daemon.run([], prefix: desktop.prefix, environment: desktop.environment)
        #expect(output.status == 0, "\(output.errors)")
        #expect(output.errors.isEmpty)
        #expect(output.text.hasPrefix("The page opens in the browser."))
        #expect(!output.text.contains("sEcReT"))
        let file = desktop.folder.path + "/run/nexusguard/open.html"
        #expect(try desktop.folder.read("run/arguments") == file + "\n")
        #expect(try desktop.folder.read("run/modes") == "600\n700\n")
        let content = try desktop.folder.read("run/content")
        #expect(content.contains(#"<meta http-equiv="refresh" content="0; url=\#(Self.link)">"#))
        #expect(daemon.asked == [Self.everything])
    }

    @Test("root, a folder for everybody and an opener that fails lead to no browser")
    func absence() async throws {
        let daemon = try FakePageDaemon()
        defer { daemon.stop() }
        let desktop = try Desktop()
        if geteuid() == 0 {
            let root = try await daemon.run([], environment: desktop.environment)
            #expect(root.status == 1)
            #expect(root.errors.contains("root opens no browser"))
        }
        chmod(desktop.folder.path + "/run", 0o755)
        let open = try await daemon.run([], prefix: desktop.prefix, environment: desktop.environment)
        #expect(open.status == 1)
        #expect(open.errors.contains("XDG_RUNTIME_DIR"))
        #expect(daemon.asked.isEmpty)
        let failing = try Desktop(openerStatus: 3)
        let output = try await daemon.run([], prefix: failing.prefix, environment: failing.environment)
        #expect(output.status == 1)
        #expect(output.errors.contains("xdg-open ended with status 3"))
        #expect(!(output.text + output.errors).contains("sEcReT"))
        #expect(access(failing.folder.path + "/run/nexusguard/open.html", F_OK) == -1)
    }

    @Test("refusals have their exit status, and an answer that is no link is not shown")
    func refusals() async throws {
        for (status, code, exit) in [
            (403, "not-permitted", Int32(5)), (400, "bad-request", 1), (404, "not-found", 1),
        ] {
            let daemon = try FakePageDaemon(
                status: status, answer: #"{"schema":1,"error":{"code":"\#(code)","message":"a reason"}}"#)
            defer { daemon.stop() }
            let output = try await daemon.run(["--print"])
            #expect(output.status == exit)
            #expect(output.errors == "nexusguard: a reason\n")
        }
        for url in [
            "file:///etc/passwd", "http://", "http://a:b/", "http://127.0.0.1:1/#t=\\u001b[2J",
            #"http://127.0.0.1:1/#\"><script>"#, "javascript:alert(1)",
        ] {
            let daemon = try FakePageDaemon(answer: #"{"schema":1,"url":"\#(url)","expires_in":120}"#)
            defer { daemon.stop() }
            let output = try await daemon.run(["--print"])
            #expect(output.status == 1, "\(url)")
            #expect(output.text.isEmpty)
            #expect(output.errors.contains("url"))
        }
        let daemon = try FakePageDaemon()
        daemon.stop()
        #expect(try await daemon.run(["--print"]).status == 4)
    }
}
