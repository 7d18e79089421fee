// SPDX-License-Identifier: MIT

import AgentCore
import Synchronization

/// Keeps the lines of a log.
final class TestLog: LogSink {
    private let kept = Mutex<[String]>([])

    /// The lines so far.
    var lines: [String] { kept.withLock { $0 } }

    func add(level: LogLevel, tag: String, message: String) {
        kept.withLock { $0.append("\(level.rawValue) \(tag): \(message)") }
    }
}
