// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc

/// What the results depend on.
struct Machine: Codable, Hashable, Sendable {
    /// The name that the processor gives itself.
    let processor: String
    /// The processors that the system shows.
    let coreCount: Int
    /// The name and the version of the kernel.
    let kernel: String

    /// Describes this machine.
    static func current() -> Machine {
        var names = utsname()
        let kernel =
            uname(&names) == 0 ? "\(text(&names.sysname)) \(text(&names.release))" : "unknown"
        return Machine(
            processor: processorName() ?? "unknown", coreCount: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))),
            kernel: kernel)
    }

    /// The model in the kernel's list of processors; not every architecture has one.
    private static func processorName() -> String? {
        guard let list = try? Data(contentsOf: URL(filePath: "/proc/cpuinfo")) else { return nil }
        for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("model name"), let colon = line.firstIndex(of: ":") else { continue }
            return String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        return nil
    }

    /// The text in a field of characters that ends with a zero.
    private static func text<Field>(_ field: inout Field) -> String {
        withUnsafeBytes(of: &field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
