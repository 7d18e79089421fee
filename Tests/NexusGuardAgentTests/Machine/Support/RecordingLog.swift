// SPDX-License-Identifier: MIT

import AgentCore
import Synchronization

/// A log that a test can look into.
final class RecordingLog: LogSink {
    private let kept = Mutex<[String]>([])

    /// The lines so far.
    var lines: [String] { kept.withLock { $0 } }

    func add(level: LogLevel, tag: String, message: String) {
        kept.withLock { $0.append("[\(level.rawValue)] \(tag): \(message)") }
    }
}
