// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Glibc
internal import Synchronization

/// Writes each entry as one line to a descriptor, and never lets a reader that is stuck hold up the agent.
final class LogMirror: Sendable {
    /// How long one line may wait for its reader.
    private static let patience: Int32 = 100

    private struct Stall {
        /// The lines that were dropped since the reader got stuck.
        var droppedCount: UInt64 = 0
    }

    private let descriptor: Int32
    private let isJournal: Bool
    private let stall = Mutex(Stall())

    /// Creates a mirror.
    ///
    /// - Parameters:
    ///   - descriptor: Stays open and belongs to the caller.
    ///   - isJournal: Whether systemd's journal reads the lines: each then begins with its priority and has no
    ///     time, which the journal knows itself (sd-daemon(3)).
    init(descriptor: Int32, isJournal: Bool) {
        self.descriptor = descriptor
        self.isJournal = isJournal
    }

    /// The mirror to standard error.
    static func standardError() -> LogMirror {
        let variable = getenv("JOURNAL_STREAM").map { String(cString: $0) }
        return LogMirror(
            descriptor: STDERR_FILENO, isJournal: isJournal(STDERR_FILENO, journalStream: variable))
    }

    /// Whether a descriptor is the stream that `$JOURNAL_STREAM` names, as `device:inode`.
    ///
    /// The variable alone does not tell: a shell that runs under the journal may have redirected the stream.
    static func isJournal(_ descriptor: Int32, journalStream: String?) -> Bool {
        guard let parts = journalStream?.split(separator: ":"), parts.count == 2,
            let device = UInt64(parts[0]), let inode = UInt64(parts[1])
        else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }

    /// Writes an entry; drops it when the reader takes no line for 100 ms.
    func write(_ entry: LogEntry) {
        let line = line(of: entry)
        stall.withLock { stall in
            // A reader that is stuck costs its patience once, not with each line.
            guard isReady(within: stall.droppedCount == 0 ? Self.patience : 0) else {
                stall.droppedCount += 1
                return
            }
            if stall.droppedCount > 0 {
                send(prefix(of: .warn) + "log: \(stall.droppedCount) lines were dropped here\n")
                stall.droppedCount = 0
            }
            send(line)
        }
    }

    private func line(of entry: LogEntry) -> String {
        isJournal
            ? "\(prefix(of: entry.level))\(entry.tag): \(entry.message)\n"
            : "\(RFC3339.text(entry.timestamp)) [\(entry.level.rawValue)] \(entry.tag): \(entry.message)\n"
    }

    /// The priority as syslog numbers it.
    private func prefix(of level: LogLevel) -> String {
        guard isJournal else { return "" }
        return switch level {
        case .debug: "<7>"
        case .info: "<6>"
        case .warn: "<4>"
        case .error: "<3>"
        }
    }

    private func isReady(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // A pipe without a reader is ready and in error; writing to it would raise SIGPIPE.
        return poll(&request, 1, milliseconds) == 1 && Int32(request.revents) == POLLOUT
    }

    /// Writes a line; shorter than PIPE_BUF, it goes into a pipe whole or not at all.
    private func send(_ line: String) {
        var line = line
        line.withUTF8 { bytes in
            // Nobody can be told that the log cannot be written.
            _ = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        }
    }
}
