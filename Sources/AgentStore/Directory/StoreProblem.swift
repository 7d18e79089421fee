// SPDX-License-Identifier: MIT

internal import AgentCore

/// Why something could not be read or written.
enum StoreProblem: Error {
    /// The system failed; another directory may stand in.
    case file(FileError)
    /// Going on would lose something or is not allowed; nothing stands in.
    case refused(AgentError)

    /// The problem as callers of the stores see it.
    var agentError: AgentError {
        switch self {
        case .file(let error): .secretStore(error.number)
        case .refused(let error): error
        }
    }
}

/// Runs calls of the file system where a problem may also be a refusal.
func asStoreProblem<Result>(_ body: () throws(FileError) -> Result) throws(StoreProblem) -> Result {
    do {
        return try body()
    } catch {
        throw .file(error)
    }
}
