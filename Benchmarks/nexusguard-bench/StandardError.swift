// SPDX-License-Identifier: MIT

internal import Glibc

/// The error output, for messages and progress.
enum StandardError {
    /// Whether a person reads it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a text as it is; what cannot be written is lost.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    /// Writes one line that names the programme, and ends it.
    static func fail(_ reason: String, status: Int32) -> Never {
        write("nexusguard-bench: \(reason)\n")
        exit(status)
    }
}
