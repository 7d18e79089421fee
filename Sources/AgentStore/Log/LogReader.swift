// SPDX-License-Identifier: MIT

internal import Synchronization

/// Where one reader of the log stands.
final class LogReader: Sendable {
    private let state: LogState
    private let number: UInt64
    /// The number of the entry that comes next.
    private let wanted: Mutex<UInt64>
    private let isCancelled = Atomic(false)

    /// Starts behind an entry, or behind all that there are.
    init(state: LogState, after position: UInt64?) {
        self.state = state
        number = state.newReader()
        let last = state.lastNumber
        switch position {
        case nil: wanted = Mutex(last + 1)
        case let position? where position <= last: wanted = Mutex(position + 1)
        case _?: wanted = Mutex(1)
        }
    }

    /// What comes next; `nil` after the end.
    func next() async -> LogItem? {
        while !isCancelled.load(ordering: .acquiring) {
            if let item = wanted.withLock({ state.item(at: &$0) }) { return item }
            await state.wait(for: wanted.withLock { $0 }, reader: number) { [self] in
                isCancelled.load(ordering: .acquiring)
            }
        }
        return nil
    }

    /// Ends the stream.
    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        state.wake(number)
    }
}
