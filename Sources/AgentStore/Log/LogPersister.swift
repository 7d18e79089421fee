// SPDX-License-Identifier: MIT

internal import AgentCore
internal import CLinux
internal import Glibc
internal import Synchronization

/// Brings the entries of a log to its file, on a thread of its own.
final class LogPersister: Sendable {
    /// How long new entries wait for others to be written with.
    private static let gathering: Int32 = 500
    /// How long the next try waits after a failure.
    private static let pause: Int32 = 60_000

    private struct Flags {
        var hasNewEntries = false
        var isStopping = false
    }

    private struct Work {
        var database: LogDatabase?
        /// The entry that is written next.
        var next: UInt64
        /// The entries up to this number have left the file.
        var cleared: UInt64
        var hasFailed = false
    }

    private let state: LogState
    private let file: LogFile
    private let report: @Sendable (String) -> Void
    private let wake: Int32
    private let flags = Mutex(Flags())
    private let work: Mutex<Work>
    private let thread = Mutex<LogThread?>(nil)

    /// Opens the file, takes over what is in it, and starts the thread.
    ///
    /// - Parameter report: Adds a warning to the log.
    init(
        state: LogState, directory: StateDirectory, byteLimit: Int,
        report: @escaping @Sendable (String) -> Void
    ) throws(AgentError) {
        self.state = state
        self.report = report
        do throws(StoreProblem) {
            file = LogFile(place: try directory.usablePlace(), byteLimit: byteLimit)
        } catch {
            throw error.agentError
        }
        let (database, earlier, last, note) = try file.openForStart(limit: LogStore.defaultCapacity)
        let next = state.continueFrom(earlier, last: last)
        work = Mutex(Work(database: database, next: next, cleared: 0))
        wake = eventfd(0, linux_eventfd_flags)
        guard wake >= 0 else { throw .secretStore(errno) }
        if let note { report(note) }
        guard let started = LogThread({ [self] in run() }) else {
            close(wake)
            throw .secretStore(EAGAIN)
        }
        thread.withLock { $0 = started }
        noteNewEntries()
    }

    /// Says that there are entries to write.
    func noteNewEntries() {
        let isFirst = flags.withLock { flags in
            defer { flags.hasNewEntries = true }
            return !flags.hasNewEntries
        }
        if isFirst { signal() }
    }

    /// Says that entries are to leave the file.
    func noteCleared() {
        flags.withLock { $0.hasNewEntries = true }
        signal()
    }

    /// Writes what is left and ends the thread; once.
    func stop() {
        flags.withLock { $0.isStopping = true }
        signal()
        thread.withLock { $0 }?.join()
        close(wake)
    }

    private func signal() {
        var one: UInt64 = 1
        _ = write(wake, &one, 8)
    }

    private func run() {
        var timeout: Int32 = -1
        while true {
            wait(timeout)
            // Only a clearing or the end cuts this short: new entries signal once for each turn.
            if !flags.withLock({ $0.isStopping }) { wait(Self.gathering) }
            let isStopping = flags.withLock { flags in
                flags.hasNewEntries = false
                return flags.isStopping
            }
            timeout = bringToFile() ? -1 : Self.pause
            if isStopping { return }
        }
    }

    private func wait(_ milliseconds: Int32) {
        var request = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
        if poll(&request, 1, milliseconds) > 0 {
            var count: UInt64 = 0
            _ = read(wake, &count, 8)
        }
    }

    /// Writes what is not in the file yet; `false` when that failed and is worth another try.
    @discardableResult
    func bringToFile() -> Bool {
        let (isDone, message) = work.withLock { work -> (Bool, String?) in
            do throws(LogDatabaseError) {
                try bringToFile(&work)
                work.hasFailed = false
                return (true, nil)
            } catch {
                let isFirst = !work.hasFailed
                work.hasFailed = true
                guard case .damaged = error else {
                    return (false, isFirst ? "the log cannot be written to its file: \(error)" : nil)
                }
                work.database = nil
                let newName = file.setAside()
                // Nothing of what was in the damaged file is lost that is still in memory.
                work.next = 1
                return (false, isFirst ? "the log's file is damaged\(newName); a new one is begun" : nil)
            }
        }
        if let message { report(message) }
        return isDone
    }

    private func bringToFile(_ work: inout Work) throws(LogDatabaseError) {
        let database: LogDatabase
        if let open = work.database {
            database = open
        } else {
            database = try file.open()
            work.database = database
        }
        let cleared = state.clearedNumber
        if cleared > work.cleared {
            try database.clear(through: cleared)
            work.cleared = cleared
        }
        let entries = state.entries(from: work.next)
        guard let last = entries.last else { return }
        try database.append(entries)
        work.next = last.id + 1
    }
}
