// SPDX-License-Identifier: MIT

internal import AgentCore
internal import Synchronization

/// Collects what needs attention about the stores, and logs each thing once.
final class StoreMonitor: Sendable {
    private let log: (any LogSink)?
    private let items = Mutex<[StoreHealth]>([])
    /// The files whose newest generation is not in the state directory.
    private let displaced = Mutex<Set<String>>([])

    /// Creates a monitor of nothing.
    init(log: (any LogSink)?) {
        self.log = log
    }

    /// What needs attention, in the order in which it came up.
    var health: [StoreHealth] { items.withLock { $0 } }

    /// Logs something that needs no attention later.
    func note(_ message: String, level: LogLevel = .info) {
        log?.add(level: level, tag: "store", message: message)
    }

    /// Reports something that needs attention; a later text replaces an earlier one of the same code.
    func report(_ code: String, _ text: String, level: LogLevel = .warn) {
        let item = StoreHealth(code: code, text: text)
        let isNew = items.withLock { items in
            guard !items.contains(item) else { return false }
            if let index = items.firstIndex(where: { $0.code == code }) {
                items[index] = item
            } else {
                items.append(item)
            }
            return true
        }
        if isNew { log?.add(level: level, tag: "store", message: text) }
    }

    /// Takes back what was reported.
    func resolve(_ code: String, _ message: String) {
        let wasThere = items.withLock { items in
            let count = items.count
            items.removeAll { $0.code == code }
            return items.count < count
        }
        if wasThere { note(message) }
    }

    /// Whether the newest generation of some file is not in the state directory.
    var isDegraded: Bool { displaced.withLock { !$0.isEmpty } }

    /// Notes that a file went to the directory that stands in.
    func noteDisplaced(_ name: String, path: String, because reason: String) {
        displaced.withLock { _ = $0.insert(name) }
        report(
            StoreHealth.degraded,
            "\(path) cannot be written (\(reason)): what is stored now is lost when the host restarts")
    }

    /// Notes that the newest generation of a file is in the state directory.
    func noteInPlace(_ name: String, path: String) {
        let isWhole = displaced.withLock { displaced in
            displaced.remove(name)
            return displaced.isEmpty
        }
        resolve(StoreHealth.failed, "\(path) can be written again")
        if isWhole { resolve(StoreHealth.degraded, "everything is stored in \(path) again") }
    }
}
