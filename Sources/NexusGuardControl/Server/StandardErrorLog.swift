// SPDX-License-Identifier: MIT

package import AgentCore
internal import Glibc

/// Writes lines to standard error, as the journal of systemd reads them.
package struct StandardErrorLog: LogSink {
    private let least: LogLevel

    /// Creates a log.
    ///
    /// - Parameter least: The least important lines that are written.
    package init(least: LogLevel) {
        self.least = least
    }

    /// Writes a line: the priority of syslog where the journal reads it, level, tag and message.
    package func add(level: LogLevel, tag: String, message: String) {
        guard level >= least else { return }
        let priority =
            switch level {
            case .debug: 7
            case .info: 6
            case .warn: 4
            case .error: 3
            }
        let prefix = getenv("JOURNAL_STREAM") == nil ? "" : "<\(priority)>"
        CommandOutput.emit(
            "\(prefix)[\(level.rawValue)] \(tag): \(ShownText.plain(message, limit: 1000))\n",
            to: STDERR_FILENO)
    }
}
