// SPDX-License-Identifier: MIT

internal import Glibc
internal import WireGuardProtocol

/// Keeps the highest handshake timestamp over restarts of the tunnel, in a file.
///
/// Peers refuse an initiation whose timestamp is not newer than the last one, so a host whose clock went
/// back, or that starts without one, could not reach them. The file holds a second that no timestamp has
/// reached yet; it is renewed half a span ahead of need, so a power failure that loses the last renewal
/// does no harm.
struct TimestampKeeper {
    /// For how many seconds a renewal of the file lasts.
    static let span: Int64 = 300

    private let path: String
    private let note: (String) -> Void
    /// All timestamps so far come before this second.
    private var reserved: Int64
    private var hasFailed = false

    /// Reads the file, if it is there.
    ///
    /// - Parameters:
    ///   - path: The file; its directory must be there.
    ///   - note: Gets a sentence when the file can not be read or written; the tunnel then goes on without.
    init(path: String, note: @escaping (String) -> Void) {
        self.path = path
        self.note = note
        reserved = Self.read(path, note: note) ?? 0
    }

    /// What the timestamps of this run must exceed, or `nil` when nothing is known.
    var floor: TAI64N? {
        reserved > 0 ? TAI64N(precise: WallTime(seconds: reserved, nanoseconds: 0)) : nil
    }

    /// Makes sure that the file covers a timestamp; to be called before the timestamp leaves.
    mutating func cover(_ highest: TAI64N) {
        let second = Self.second(of: highest)
        guard second >= reserved - Self.span / 2 else { return }
        reserved = second + Self.span
        store()
    }

    /// Gives back what was reserved and not used, so that a restart begins close to the true time.
    mutating func release(after highest: TAI64N) {
        let second = Self.second(of: highest) + 1
        guard second < reserved else { return }
        reserved = second
        store()
    }

    /// The second of a timestamp since 1970.
    private static func second(of timestamp: TAI64N) -> Int64 {
        let label = timestamp.withBytes { UInt64(bigEndian: $0.unsafeLoadUnaligned(as: UInt64.self)) }
        return Int64(truncatingIfNeeded: label &- 0x4000_0000_0000_000A)
    }

    private mutating func store() {
        do {
            try Self.write("\(reserved)\n", to: path)
            hasFailed = false
        } catch {
            if !hasFailed { note("\(path) can not be written: \(error)") }
            hasFailed = true
        }
    }

    /// Reads the second in the file, or `nil` when there is no file or no second in it.
    private static func read(_ path: String, note: (String) -> Void) -> Int64? {
        let descriptor = SystemCall.orNegativeErrno { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else {
            if descriptor != -ENOENT {
                note("\(path) can not be read: \(SystemCallError(call: "open", errno: -descriptor))")
            }
            return nil
        }
        defer { SystemCall.close(descriptor) }
        let text = withUnsafeTemporaryAllocation(byteCount: 32, alignment: 1) { buffer in
            let count = SystemCall.orNegativeErrno {
                Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            }
            let line = buffer.prefix(max(count, 0)).prefix { $0 != UInt8(ascii: "\n") }
            return String(decoding: line, as: UTF8.self)
        }
        // Seconds beyond the year 9999 come from no clock, and would stop all handshakes for good.
        guard let second = Int64(text), (0...253_402_300_799).contains(second) else {
            note("\(path) does not hold a number of seconds")
            return nil
        }
        return second
    }

    /// Replaces the file in one step; only its owner may read it.
    private static func write(_ text: String, to path: String) throws(SystemCallError) {
        let temporary = path + ".new"
        let descriptor = try SystemCall.run("open") {
            open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        let bytes = Array(text.utf8)
        let count = SystemCall.orNegativeErrno { Glibc.write(descriptor, bytes, bytes.count) }
        SystemCall.close(descriptor)
        guard count == bytes.count else {
            throw SystemCallError(call: "write", errno: count < 0 ? Int32(-count) : ENOSPC)
        }
        try SystemCall.run("rename") { rename(temporary, path) }
    }
}
