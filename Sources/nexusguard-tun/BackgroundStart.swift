// SPDX-License-Identifier: MIT

internal import Glibc

/// Splits the process so that the parent ends when the child is ready, or knows that it will never be.
///
/// Used before any thread exists: a child has only the thread that forks.
struct BackgroundStart {
    /// Where the child says that it is ready, or why it is not.
    private let report: Int32

    /// Forks. Returns in the child only; the parent ends in here.
    ///
    /// - Throws: `BackgroundStartError`, when the system has no room for a process.
    init() throws(BackgroundStartError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw BackgroundStartError(errno: errno) }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        switch fork() {
        case -1: throw BackgroundStartError(errno: errno)
        case 0:
            close(ends[0])
            report = ends[1]
            setsid()
            _ = chdir("/")
            Self.redirectToNull([STDIN_FILENO])
        default:
            close(ends[1])
            Self.awaitReport(ends[0])
        }
    }

    /// Lets the parent end well.
    ///
    /// - Parameter keepsOutput: Whether the standard output and error stay what they were.
    func succeed(keepsOutput: Bool) {
        if !keepsOutput { Self.redirectToNull([STDOUT_FILENO, STDERR_FILENO]) }
        send([0])
    }

    /// Lets the parent print a sentence and fail.
    func fail(_ sentence: String) {
        send([1] + Array(sentence.utf8))
    }

    private func send(_ message: [UInt8]) {
        // A message of less than a page goes into an empty pipe as a whole.
        _ = write(report, message, message.count)
        close(report)
    }

    /// Ends the parent with what the child says.
    private static func awaitReport(_ descriptor: Int32) -> Never {
        var message: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            message += buffer[..<count]
        }
        if message == [0] { exit(0) }
        let sentence = String(decoding: message.dropFirst(), as: UTF8.self)
        StandardOutput.writeError(
            message.isEmpty ? "the background process ended before it was ready" : sentence)
        exit(1)
    }

    private static func redirectToNull(_ descriptors: [Int32]) {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        for descriptor in descriptors { dup2(null, descriptor) }
        close(null)
    }
}

/// Why the process can not go to the background.
struct BackgroundStartError: Error, CustomStringConvertible {
    /// The error number.
    let errno: Int32

    /// One sentence.
    var description: String {
        "the process can not go to the background: \(String(cString: strerror(errno)))"
    }
}
