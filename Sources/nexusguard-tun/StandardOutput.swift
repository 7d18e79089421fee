// SPDX-License-Identifier: MIT

internal import Glibc

/// Writes whole lines to the standard streams, each with one system call so that lines of threads do not mix.
enum StandardOutput {
    /// Writes a text to standard output.
    static func write(_ text: String) {
        write(text, to: STDOUT_FILENO)
    }

    /// Writes a sentence about what went wrong to standard error.
    static func writeError(_ sentence: String) {
        write("nexusguard-tun: \(sentence)\n", to: STDERR_FILENO)
    }

    /// Writes a line of the log, in the form of wireguard-go: `ERROR: (wg0) 2026/01/31 12:00:00 text`.
    static func log(_ level: String, interface: String, _ text: String) {
        var now = time(nil)
        var local = tm()
        localtime_r(&now, &local)
        let stamp = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { buffer in
            guard let start = buffer.baseAddress, strftime(start, 32, "%Y/%m/%d %H:%M:%S", &local) > 0 else {
                return ""
            }
            return String(cString: start)
        }
        write("\(level): (\(interface)) \(stamp) \(text)\n", to: STDOUT_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            // Nobody can be told that the output is gone.
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
