// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WireGuardProtocol

@testable internal import NexusGuard

@Suite("Timestamp keeper")
struct TunnelTimestampKeeperTests {
    private let directory: URL
    private var path: String { directory.appending(path: "wg0.tai64n").path }

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "nexusguard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func timestamp(_ seconds: Int64) -> TAI64N {
        TAI64N(precise: WallTime(seconds: seconds, nanoseconds: 5))
    }

    private var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test("the file is ahead of each timestamp and is renewed at most once in half a span")
    func renewal() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var keeper = TimestampKeeper(path: path) { Issue.record("\($0)") }
        #expect(keeper.floor == nil)
        keeper.cover(timestamp(1_000_000))
        #expect(content == "1000300\n")
        keeper.cover(timestamp(1_000_149))
        #expect(content == "1000300\n")
        keeper.cover(timestamp(1_000_150))
        #expect(content == "1000450\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["wg0.tai64n"])
    }

    @Test("a run after a crash starts above all timestamps of the one before, whatever the clock says")
    func restart() {
        defer { try? FileManager.default.removeItem(at: directory) }
        var keeper = TimestampKeeper(path: path) { Issue.record("\($0)") }
        keeper.cover(timestamp(1_000_000))
        let next = TimestampKeeper(path: path) { Issue.record("\($0)") }
        var source = TimestampSource(floor: next.floor)
        let given = source.next(at: WallTime(seconds: 1_000_000 - 2 * 86_400, nanoseconds: 0))
        #expect(given > timestamp(1_000_000))
    }

    @Test("a clean end gives back what was not used")
    func release() {
        defer { try? FileManager.default.removeItem(at: directory) }
        var keeper = TimestampKeeper(path: path) { Issue.record("\($0)") }
        keeper.cover(timestamp(1_000_000))
        keeper.release(after: timestamp(1_000_010))
        #expect(content == "1000011\n")
        let next = TimestampKeeper(path: path) { Issue.record("\($0)") }
        #expect(next.floor.map { $0 > timestamp(1_000_010) } == true)
    }

    @Test(
        "a file without a plausible second is told of and does not count",
        arguments: ["", "x", "-5\n", "99999999999999\n", "253402300800\n"])
    func garbage(text: String) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        var notes: [String] = []
        let keeper = TimestampKeeper(path: path) { notes.append($0) }
        #expect(keeper.floor == nil)
        #expect(notes.count == 1)
    }

    @Test("a directory that is not there is told of once, and the tunnel can go on")
    func noDirectory() throws {
        try FileManager.default.removeItem(at: directory)
        var notes: [String] = []
        var keeper = TimestampKeeper(path: path) { notes.append($0) }
        keeper.cover(timestamp(1_000_000))
        keeper.cover(timestamp(2_000_000))
        #expect(notes.count == 1)
    }
}
