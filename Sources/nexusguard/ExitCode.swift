// SPDX-License-Identifier: MIT

/// What the exit status of the command says.
enum ExitCode: Int32, CaseIterable {
    /// What was asked for is done.
    case success = 0
    /// It could not be done.
    case failure = 1
    /// The command line makes no sense.
    case usage = 2
    /// The condition that was asked about does not hold.
    case conditionFalse = 3
    /// The daemon does not answer.
    case daemonUnreachable = 4
    /// The user may not do this.
    case notPermitted = 5
    /// There is no device identity yet.
    case notProvisioned = 6
    /// What was waited for did not happen in time.
    case timedOut = 7
    /// The control server refused.
    case refusedByServer = 8
}
