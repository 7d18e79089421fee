// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuardAgent

extension CommandRunner {
    /// Where the daemon keeps what it must remember, unless told otherwise.
    private static let stateDirectory = "/var/lib/nexusguard"
    /// Where the daemon keeps it while the other cannot be written.
    private static let runtimeDirectory = "/run/nexusguard"

    /// Undoes what a daemon that was killed left on the host; the daemon is not asked and must not run.
    ///
    /// Without a runtime directory that of a daemon with the usual state directory is looked into.
    func cleanup(stateDirectory: String?, runtimeDirectory: String?) -> ExitCode {
        let state = stateDirectory ?? Self.stateDirectory
        let runtime = runtimeDirectory ?? (stateDirectory == nil ? Self.runtimeDirectory : nil)
        do throws(AgentError) {
            // A daemon that runs has one of these. What is not there must not be made by looking.
            let places: [String] = [state] + (runtime.map { ["\($0)/store"] } ?? [])
            var locked: [StateDirectory] = []
            for path in places where access(path, F_OK) == 0 || errno != ENOENT {
                let directory = try StateDirectory(path: path)
                try directory.lock()
                locked.append(directory)
            }
            let undone = try withExtendedLifetime(locked) { () throws(AgentError) in
                try Self.replay(state, fallback: runtime)
            }
            guard !isJSON else { return show(#"{"schema":1,"undone":\#(undone)}"# + "\n") }
            return show(undone == 0 ? "nothing to undo\n" : "undone: \(undone)\n")
        } catch {
            return failCleanup(error)
        }
    }

    private static func replay(_ directory: String, fallback: String?) throws(AgentError) -> Int {
        do {
            let storage = FileJournalStorage(directory: directory, fallback: fallback)
            return try HostNetwork(storage: storage).replay()
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
