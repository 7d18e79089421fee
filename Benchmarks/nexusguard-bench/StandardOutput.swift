// SPDX-License-Identifier: MIT

internal import Glibc

/// The output, for lines that are to appear at once even in a file or a pipe.
enum StandardOutput {
    /// Writes one line.
    static func writeLine(_ text: String) {
        print(text)
        fflush(nil)
    }
}
