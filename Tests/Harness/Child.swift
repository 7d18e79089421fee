// SPDX-License-Identifier: MIT

internal import Foundation
package import Glibc
internal import Synchronization

/// A command that runs beside the tests, in a process group of its own.
///
/// Its output goes to files, not pipes: a daemon that it leaves behind may keep them open without holding up
/// whoever waits for the command.
package final class Child: Sendable {
    /// The command and its arguments, for messages.
    package let arguments: [String]
    /// The process id, which is also the id of the process group.
    package let pid: pid_t
    private let output: Int32
    private let errors: Int32
    private let status = Mutex<Int32?>(nil)

    /// Starts a command found by `PATH`.
    ///
    /// - Parameters:
    ///   - arguments: The command and its arguments.
    ///   - environment: Variables added to those of the tests.
    ///   - input: What the command reads; nothing by default.
    /// - Throws: `ShellError.notStarted`.
    package init(_ arguments: [String], environment: [String: String] = [:], input: String = "") throws {
        self.arguments = arguments
        output = try Self.scratchFile()
        errors = try Self.scratchFile()
        let standardInput = try Self.scratchFile()
        defer { close(standardInput) }
        let bytes = Array(input.utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(standardInput, $0.baseAddress, $0.count) }
            guard count > 0 else { throw ShellError.notStarted(arguments, errno) }
            written += count
        }
        lseek(standardInput, 0, SEEK_SET)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        // Whoever started the tests may ignore or block signals; the commands shall not inherit that.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)

        var variables = ProcessInfo.processInfo.environment
        for name in ["LOG_LEVEL", "WG_TUN_FD", "WG_UAPI_FD", "WG_PROCESS_FOREGROUND"] {
            variables[name] = nil
        }
        variables["LC_ALL"] = "C"
        // The daemons of the tests leave nothing in the machine's own folder.
        variables["NEXUSGUARD_STATE_DIRECTORY"] = ""
        variables["PATH"] = Machine.path
        // The agent's command gives up after 10 s otherwise, which a busy machine may need for an answer.
        variables["NEXUSGUARD_TIMEOUT"] = "\(Shell.patience.components.seconds)s"
        variables.merge(environment) { $1 }
        var words = arguments.map { strdup($0) } + [nil]
        var assignments = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + assignments { free(word) } }
        var pid: pid_t = 0
        let result = posix_spawnp(
            &pid, Machine.location(of: arguments[0]), &actions, &attributes, &words, &assignments)
        guard result == 0 else {
            close(output)
            close(errors)
            throw ShellError.notStarted(arguments, result)
        }
        self.pid = pid
    }

    deinit {
        signal(SIGKILL)
        close(output)
        close(errors)
    }

    /// What the command has written to standard output so far.
    package var standardOutput: String { Self.contents(of: output) }
    /// What the command has written to standard error so far.
    package var standardError: String { Self.contents(of: errors) }

    /// The exit status (128 and more: ended by a signal), or `nil` while the command runs.
    package func poll() -> Int32? {
        status.withLock { known in
            if let known { return known }
            var raw: Int32 = 0
            guard waitpid(pid, &raw, WNOHANG) == pid else { return nil }
            let signalNumber = raw & 0x7f
            known = signalNumber == 0 ? (raw >> 8) & 0xff : 128 + signalNumber
            return known
        }
    }

    /// Waits for the end.
    ///
    /// - Throws: `ShellError.tooSlow` after `limit`; the process group is then killed.
    package func wait(atMost limit: Duration) async throws -> Output {
        let deadline = ContinuousClock.now + limit
        var pause = Duration.milliseconds(2)
        while true {
            if let status = poll() {
                return Output(
                    arguments: arguments, status: status, standardOutput: standardOutput,
                    standardError: standardError)
            }
            guard ContinuousClock.now < deadline else {
                signal(SIGKILL)
                throw ShellError.tooSlow(arguments, limit, standardOutput + standardError)
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(30))
        }
    }

    /// Waits for the end on the calling thread, without a limit, and gives the exit status.
    package func waitHere() -> Int32 {
        while true {
            if let status = poll() { return status }
            var information = siginfo_t()
            _ = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
        }
    }

    /// Sends a signal to the process group, unless the command has ended.
    package func signal(_ number: Int32) {
        if poll() == nil { kill(-pid, number) }
    }

    /// Ends the command in order and waits.
    @discardableResult
    package func stop(_ number: Int32 = SIGTERM) async throws -> Output {
        signal(number)
        return try await wait(atMost: Shell.patience)
    }

    /// An open file without a name.
    private static func scratchFile() throws -> Int32 {
        var template = Array("/tmp/e2e.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw ShellError.notStarted(["mkstemp"], errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }

    /// Reads all of a file from its start, without moving its offset.
    private static func contents(of descriptor: Int32) -> String {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = pread(descriptor, &block, block.count, off_t(bytes.count))
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
