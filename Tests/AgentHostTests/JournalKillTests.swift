// SPDX-License-Identifier: MIT

import AgentHost
import Glibc
import Harness
import NexusGuard
import Testing

/// The folder of the journal, in a process that another test has started in order to kill it.
private let folderOfChild: String? = getenv("NEXUSGUARD_HOST_TEST_CHILD").map { String(cString: $0) }

@Suite(
    "journal of changes: sudden ends",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct JournalKillTests {
    /// Brings a tunnel up, changes it and takes it down.
    private static func round(_ host: HostNetwork) throws {
        try host.claimInterface("ng0")
        var tunnel: HostTestTunnel? = try HostTestTunnel("ng0")
        try host.apply(samplePlan())
        try host.apply(
            samplePlan(addresses: ["10.0.0.2/24", "fd00::2/64"], allowedIPs: ["0.0.0.0/0", "::/0"]))
        try host.apply(samplePlan(addresses: ["10.0.0.3/24"], allowedIPs: ["10.7.0.0/16", "fd00:7::/64"]))
        host.remove()
        tunnel = nil
        host.releaseInterface()
        #expect(tunnel == nil)
    }

    @Test("up, change and down over and over leave nothing behind; in a child, until it is killed")
    func rounds() async throws {
        if let folder = folderOfChild {
            // In the namespace of the test that started this process.
            let host = HostNetwork(storage: FileJournalStorage(directory: folder))
            try Self.round(host)
            try HostTestNamespace.tool("cp /dev/null \(folder)/ready")
            while getppid() != 1 { try Self.round(host) }
            return
        }
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let before = try HostTestNamespace.picture()
            let folder = try HostTestNamespace.temporaryFolder()
            defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
            let host = HostNetwork(storage: FileJournalStorage(directory: folder))
            for _ in 0..<20 { try Self.round(host) }
            #expect(try HostTestNamespace.picture() == before)
            #expect(try HostTestNamespace.tool("find \(folder) -type f") == "")
        }
    }

    @Test("killed at any moment, a replay leaves the host as it was", .enabled(if: folderOfChild == nil))
    func killed() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let before = try HostTestNamespace.picture()
            let folder = try HostTestNamespace.temporaryFolder()
            defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
            var random = SystemRandomNumberGenerator()
            var foundSomething = 0
            // The child spends nearly all of its time between a change and its undoing, but how far it gets before
            // it is killed is the machine's business.
            for number in 0..<240 where number < 24 || foundSomething <= 4 {
                let child = try Self.startChild(folder)
                defer { kill(child, SIGKILL) }
                try HostTestNamespace.eventually("the child is at work") {
                    access("\(folder)/ready", F_OK) == 0
                }
                let pause = useconds_t.random(in: 0...120_000, using: &random)
                usleep(pause)
                kill(child, SIGKILL)
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0 && errno == EINTR {}
                #expect(status == SIGKILL, "the child was at work until it was killed")
                unlink("\(folder)/ready")
                let host = HostNetwork(storage: FileJournalStorage(directory: folder))
                if try host.replay() > 0 { foundSomething += 1 }
                let after = try HostTestNamespace.picture()
                #expect(
                    after.split(separator: "\n") == before.split(separator: "\n"),
                    "round \(number), killed \(pause) us after its start")
                #expect(try HostTestNamespace.tool("find \(folder) -name *.json") == "")
            }
            #expect(foundSomething > 4)
        }
    }

    /// Runs this programme again, with one test only.
    private static func startChild(_ folder: String) throws -> pid_t {
        let path = try FileDescriptorPath.executable()
        let words = [
            path, "--testing-library", "swift-testing", "--filter", "AgentHostTests.JournalKillTests/rounds",
        ]
        let silence = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(silence) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number: Int32 in 0...2 { posix_spawn_file_actions_adddup2(&actions, silence, number) }
        var pointers = words.map { strdup($0) } + [nil]
        let environment = [
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "NEXUSGUARD_HOST_TEST_CHILD=\(folder)",
            "LD_LIBRARY_PATH=" + (getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? ""),
        ]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for pointer in pointers + variables { free(pointer) } }
        var child = pid_t()
        let refusal = posix_spawn(&child, path, &actions, nil, &pointers, &variables)
        guard refusal == 0 else {
            throw HostTestNamespace.ToolFailure(line: "posix_spawn \(path)", output: "errno \(refusal)")
        }
        return child
    }
}

/// Where files of this process are.
private enum FileDescriptorPath {
    /// The programme that runs.
    static func executable() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else {
            throw HostTestNamespace.ToolFailure(line: "readlink /proc/self/exe", output: "errno \(errno)")
        }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
