// SPDX-License-Identifier: MIT

import Glibc
import NexusGuardAgent
import Testing

@Suite("nexusguard-agent", .enabled(if: geteuid() == 0, "a network namespace needs root"))
struct DaemonTests {
    @Test("it is ready when its interface listens, tells its state, and leaves nothing behind")
    func life() async throws {
        let daemon = try DaemonProcess(environment: ["WATCHDOG_USEC": "300000"])
        let ready = await daemon.notify.wait(for: "READY=1")
        #expect(ready?.last?.hasPrefix("STATUS=disconnected") == true, "\(daemon.output)")
        #expect(try await daemon.run(["status", "--check", "live"]).status == 0)
        var information = stat()
        #expect(stat(daemon.socket, &information) == 0)
        #expect(information.st_mode & S_IFMT == S_IFSOCK)
        #expect(information.st_mode & 0o777 == 0o666)
        #expect(stat(daemon.state, &information) == 0)
        #expect(information.st_mode & 0o777 == 0o700)
        for _ in 0..<3 { #expect(await daemon.notify.wait(for: "WATCHDOG=1") != nil) }
        let status = try await daemon.run(["--json", "status"])
        #expect(try AgentSnapshot(parsing: Array(status.text.utf8)).phase == .stopped)
        kill(daemon.process, SIGTERM)
        #expect(await daemon.notify.wait(for: "STOPPING=1") != nil)
        #expect(await daemon.exitStatus() == 0, "\(daemon.output)")
        #expect(access(daemon.socket, F_OK) != 0)
        #expect(access(daemon.state + "/journal.json", F_OK) != 0)
    }

    @Test("settings and the hardware identifier outlive it")
    func state() async throws {
        let first = try DaemonProcess()
        #expect(await first.notify.wait(for: "READY=1") != nil, "\(first.output)")
        let hwid = try await first.run(["hwid"]).text
        #expect(hwid.wholeMatch(of: #/[0-9a-f]{32}\n/#) != nil)
        let set = try await first.run(["settings", "set", "serverURL=https://control.example.net"])
        #expect(set.status == 0, "\(set.errors)")
        kill(first.process, SIGINT)
        #expect(await first.exitStatus() == 0)
        let second = try DaemonProcess(in: first.folder)
        #expect(await second.notify.wait(for: "READY=1") != nil, "\(second.output)")
        #expect(try await second.run(["hwid"]).text == hwid)
        #expect(
            try await second.run(["settings", "get", "serverURL"]).text == "https://control.example.net\n")
    }

    @Test("two daemons do not share a state directory, nor does cleanup disturb one that runs")
    func lock() async throws {
        let daemon = try DaemonProcess()
        #expect(await daemon.notify.wait(for: "READY=1") != nil, "\(daemon.output)")
        let second = try DaemonProcess(
            in: daemon.folder, arguments: ["--socket", daemon.folder.path + "/other"])
        #expect(await second.exitStatus() == 1)
        #expect(second.output.contains("another process of the agent uses it"))
        let words = [
            "/usr/bin/unshare", "--net", "--", Built.path("nexusguard"), "cleanup", "--state-dir",
            daemon.state,
        ]
        let refused = try await Shell.runAside(words)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("stop the daemon first"))
        #expect(try await daemon.run(["status", "--check", "live"]).status == 0)
        kill(daemon.process, SIGKILL)
        #expect(await daemon.exitStatus() == 128 + SIGKILL)
        let cleaned = try await Shell.runAside(words)
        #expect(cleaned.status == 0, "\(cleaned.errors)")
        #expect(cleaned.text == "nothing to undo\n")
    }

    @Test("cleanup without a state directory has nothing to do and makes none")
    func absent() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/absent"
        let output = try await Shell.runAside(
            [
                "/usr/bin/unshare", "--net", "--", Built.path("nexusguard"), "--json", "cleanup",
                "--state-dir", path,
            ])
        #expect(output.text == #"{"schema":1,"undone":0}"# + "\n")
        #expect(access(path, F_OK) != 0)
    }

    @Test("a journal in the runtime directory is replayed by cleanup, which leaves that directory as it is")
    func cleanupOfTheStandIn() async throws {
        let folder = try TemporaryFolder()
        for name in ["state", "run"] { mkdir("\(folder.path)/\(name)", name == "run" ? 0o755 : 0o700) }
        try folder.write("run/journal.json", "nonsense")
        let output = try await Shell.runAside([
            "/usr/bin/unshare", "--net", "--", Built.path("nexusguard"), "cleanup",
            "--state-dir", "\(folder.path)/state", "--runtime-dir", "\(folder.path)/run",
        ])
        #expect(output.status == 0, "\(output.errors)")
        #expect(access("\(folder.path)/run/journal.json.bad-1", F_OK) == 0)
        var information = stat()
        #expect(stat("\(folder.path)/run", &information) == 0)
        #expect(information.st_mode & 0o7777 == 0o755)
    }

    @Test("neither core files nor other processes of its user get at its memory")
    func memory() async throws {
        let daemon = try DaemonProcess()
        #expect(await daemon.notify.wait(for: "READY=1") != nil, "\(daemon.output)")
        let limits = try await Shell.runAside(["/bin/cat", "/proc/\(daemon.process)/limits"]).text
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    }

    @Test("another process of its user may not look into it")
    func dumpable() async throws {
        let folder = try TemporaryFolder()
        chown(folder.path, 65_534, 65_534)
        let daemon = try DaemonProcess(
            in: folder,
            prefix: ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        // The answer does not matter: without its privileges the daemon may end at once or go on.
        for _ in 0..<30_000 where access(daemon.state, F_OK) != 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        var information = stat()
        #expect(stat("/proc/\(daemon.process)/environ", &information) == 0, "\(daemon.output)")
        // The kernel gives the files of a process that must not be dumped to root.
        #expect(information.st_uid == 0)
    }

    @Test("a malformed file of the administrator is refused with line and key, and SIGHUP keeps what was")
    func configuration() async throws {
        let refused = try DaemonProcess(
            configuration: "server_url = https://a.example\nauto_start = perhaps\n")
        #expect(await refused.exitStatus() == 1)
        #expect(refused.output.contains("2"))
        #expect(refused.output.contains("auto_start"))
        #expect(!refused.output.contains("perhaps"))
        let daemon = try DaemonProcess(configuration: "server_url = https://a.example\n")
        #expect(await daemon.notify.wait(for: "READY=1") != nil, "\(daemon.output)")
        #expect(try await daemon.run(["settings", "get", "serverURL"]).text == "https://a.example\n")
        try daemon.folder.write("agent.conf", "server_url = https://b.example\n")
        kill(daemon.process, SIGHUP)
        #expect(await daemon.notify.wait(for: "RELOADING=1") != nil)
        #expect(await daemon.notify.wait(for: "READY=1") != nil)
        #expect(try await daemon.run(["settings", "get", "serverURL"]).text == "https://b.example\n")
        try daemon.folder.write(
            "agent.conf", "server_url = https://b.example\nlog_level = debug\ninterface = ng7\n")
        kill(daemon.process, SIGHUP)
        #expect(await daemon.notify.wait(for: "READY=1") != nil)
        #expect(try await daemon.run(["logs", "--level", "warn"]).text.contains("interface: counts from"))
        try daemon.folder.write("agent.conf", "server_url = https://b.example\nlog_level = error\n")
        kill(daemon.process, SIGHUP)
        #expect(await daemon.notify.wait(for: "READY=1") != nil)
        // With the level of errors alone, the words about this change are not kept any more.
        let warnings = try await daemon.run(["logs", "--level", "warn"]).text
        #expect(warnings.ranges(of: "interface: counts from").count == 1)
        try daemon.folder.write("agent.conf", "nonsense\n")
        kill(daemon.process, SIGHUP)
        #expect(await daemon.notify.wait(for: "READY=1") != nil)
        #expect(try await daemon.run(["settings", "get", "serverURL"]).text == "https://b.example\n")
        #expect(try await daemon.run(["logs", "--level", "error"]).text.contains("agent.conf"))
    }

    @Test("the arguments of the process hold no token, and a refusal of one does not repeat it")
    func arguments() async throws {
        let output = try await Shell.runAside([Built.path("nexusguard-agent"), "--token=sEcReT"])
        #expect(output.status == 2)
        #expect(!(output.text + output.errors).contains("sEcReT"))
        let version = try await Shell.runAside([Built.path("nexusguard-agent"), "--version"])
        #expect(version.text == "nexusguard-agent \(AgentVersion.current)\n")
    }
}
