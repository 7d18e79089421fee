// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import Synchronization

/// The faults that are in force: those of the command line, and those of a file that may change at any time.
///
/// The file has one fault a line; empty lines and those that begin with `#` do not count. It is looked at before
/// each request, and its counts start anew when it was written. A file that makes no sense changes nothing.
package final class FaultPlan: Sendable {
    /// A fault and how many requests it still meets.
    private struct Entry {
        let fault: Fault
        var remaining: Int?
    }

    /// What tells one version of the file from another.
    private struct Version: Equatable {
        var inode: UInt64
        var byteCount: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private struct State {
        var fixed: [Entry]
        var changing: [Entry] = []
        var version: Version?
    }

    private let path: String?
    private let onError: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - faults: The faults that never change.
    ///   - path: The file with further ones, which need not be there.
    ///   - onError: Gets one sentence when the file makes no sense.
    package init(
        _ faults: [Fault] = [], file path: String? = nil,
        onError: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.path = path
        self.onError = onError
        state = Mutex(State(fixed: Self.entries(faults)))
    }

    /// The faults that meet a request now; each of them has met one more.
    package func take(for endpoint: ControlEndpoint) -> [Fault.Kind] {
        var problem: String?
        let kinds = state.withLock { state in
            problem = refresh(&state)
            return Self.take(from: &state.fixed, for: endpoint)
                + Self.take(from: &state.changing, for: endpoint)
        }
        if let problem { onError(problem) }
        return kinds
    }

    /// Reads the file again if it is another than before; returns what is wrong with it.
    private func refresh(_ state: inout State) -> String? {
        guard let path else { return nil }
        var status = stat()
        guard stat(path, &status) == 0 else {
            state.changing = []
            state.version = nil
            return nil
        }
        let version = Version(
            inode: UInt64(status.st_ino), byteCount: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
        guard version != state.version else { return nil }
        state.version = version
        guard let bytes = SmallFile.read(path, limit: 65_536) else { return "\(path) cannot be read" }
        do {
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            var faults: [Fault] = []
            for line in lines {
                let text = line.filter { $0 != "\r" && $0 != "\t" && $0 != " " }
                guard !text.isEmpty, !text.hasPrefix("#") else { continue }
                faults.append(try Fault(text))
            }
            state.changing = Self.entries(faults)
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }

    private static func entries(_ faults: [Fault]) -> [Entry] {
        faults.map { Entry(fault: $0, remaining: $0.count) }
    }

    private static func take(from entries: inout [Entry], for endpoint: ControlEndpoint) -> [Fault.Kind] {
        var kinds: [Fault.Kind] = []
        for index in entries.indices {
            let fault = entries[index].fault
            guard fault.endpoint == nil || fault.endpoint == endpoint else { continue }
            if let remaining = entries[index].remaining {
                guard remaining > 0 else { continue }
                entries[index].remaining = remaining - 1
            }
            kinds.append(fault.kind)
        }
        return kinds
    }
}
