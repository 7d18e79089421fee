// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuardAgent

extension CommandRunner {
    /// Where the daemon keeps what it must remember, unless told otherwise.
    private static let stateDirectory = "/var/lib/nexusguard"
    /// Where the daemon keeps it while the other cannot be written.
    private static let runtimeDirectory = "/run/nexusguard"

    /// Undoes what a daemon that was killed left on the host; the daemon is not asked and must not run.
    func cleanup(stateDirectory: String?) -> ExitCode {
        let directories = stateDirectory.map { [$0] } ?? [Self.stateDirectory, Self.runtimeDirectory]
        var undone = 0
        for path in directories {
            // What is not there has nothing to undo, and must not be made by looking.
            guard access(path, F_OK) == 0 || errno != ENOENT else { continue }
            do throws(AgentError) {
                let directory = try StateDirectory(path: path)
                try directory.lock()
                undone += try withExtendedLifetime(directory) { () throws(AgentError) in
                    try Self.replay(path)
                }
            } catch {
                return failCleanup(error)
            }
        }
        guard !isJSON else { return show(#"{"schema":1,"undone":\#(undone)}"# + "\n") }
        return show(undone == 0 ? "nothing to undo\n" : "undone: \(undone)\n")
    }

    private static func replay(_ path: String) throws(AgentError) -> Int {
        do {
            return try HostNetwork(storage: FileJournalStorage(directory: path)).replay()
        } catch {
            throw .tunnelInitFailed(error.description)
        }
    }

    private func failCleanup(_ error: AgentError) -> ExitCode {
        let code = geteuid() == 0 ? ExitCode.failure : .notPermitted
        switch error {
        // Another process has the directory, or it belongs to another user.
        case .storeUnusable:
            return fail(code, "\(error.description); stop the daemon first", code: error.code)
        case .tunnelInitFailed(let reason): return fail(code, reason, code: "cleanup-failed")
        default: return fail(code, error.description, code: error.code)
        }
    }
}
