// SPDX-License-Identifier: MIT

internal import Glibc

/// Where a command writes.
package struct CommandOutput: Sendable {
    /// Takes what the command is for.
    package let write: @Sendable (String) -> Void
    /// Takes sentences about what went wrong.
    package let writeError: @Sendable (String) -> Void

    /// Creates an output.
    package init(
        write: @escaping @Sendable (String) -> Void, writeError: @escaping @Sendable (String) -> Void
    ) {
        self.write = write
        self.writeError = writeError
    }

    /// The standard streams.
    package static let standard = CommandOutput(
        write: { emit($0, to: STDOUT_FILENO) },
        writeError: { emit("nexusguard-control: \($0)\n", to: STDERR_FILENO) })

    /// Writes a whole text with as few system calls as can be, so that lines of threads do not mix.
    static func emit(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            // Nobody can be told that the output is gone.
            guard count > 0 || (count < 0 && errno == EINTR) else { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
