// SPDX-License-Identifier: MIT

import Glibc
import Synchronization

/// A daemon in a network namespace of its own, with directories of its own.
final class DaemonProcess: Sendable {
    /// Its directories.
    let folder: TemporaryFolder
    /// The service manager that it tells how it is.
    let notify: NotifySocket
    /// Its process.
    let process: pid_t
    private let ended = Mutex<Int32?>(nil)

    /// The path of its socket.
    var socket: String { folder.path + "/run/agent.sock" }
    /// The path of its state directory.
    var state: String { folder.path + "/state" }

    /// Starts one.
    ///
    /// - Parameters:
    ///   - folder: Where its directories are; `nil` makes new ones.
    ///   - prefix: A programme that runs it, with its arguments.
    ///   - configuration: The administrator's file.
    init(
        in folder: TemporaryFolder? = nil, prefix: [String] = [], configuration: String = "",
        arguments: [String] = [],
        environment: [String: String] = [:]
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        // Abstract names, unlike paths, belong to a network namespace.
        notify = try NotifySocket(isAbstract: false)
        let path = self.folder.path
        try self.folder.write("agent.conf", configuration)
        let words =
            [
                "/usr/bin/unshare", "--net", "--", Built.path("nexusguard-agent"), "--state-dir",
                "\(path)/state",
            ]
            + ["--runtime-dir", "\(path)/run", "--config", "\(path)/agent.conf"] + arguments
        let variables = ["NOTIFY_SOCKET": notify.address].merging(environment) { $1 }
        process = try Shell.start(words, environment: variables, output: "\(path)/output")
    }

    deinit {
        if reap(waits: false) == nil {
            kill(process, SIGKILL)
            _ = reap(waits: true)
        }
    }

    /// What it has printed.
    var output: String { (try? folder.read("output")) ?? "" }

    /// Waits for its end and gives the exit status; 128 and more for a signal, `nil` when it does not end.
    func exitStatus() async -> Int32? {
        for _ in 0..<30_000 {
            if let status = reap(waits: false) {
                return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    /// Runs `nexusguard` against it.
    func run(_ arguments: [String]) async throws -> Shell.Output {
        try await Shell.runAside(
            [Built.path("nexusguard"), "--socket", socket] + arguments,
            environment: ["LC_ALL": "C", "NEXUSGUARD_TIMEOUT": ServedAgent.patience])
    }

    private func reap(waits: Bool) -> Int32? {
        ended.withLock { ended in
            if ended == nil {
                var status: Int32 = 0
                if waitpid(process, &status, waits ? 0 : WNOHANG) == process { ended = status }
            }
            return ended
        }
    }
}
