// SPDX-License-Identifier: MIT

import AgentHost
import Glibc
import NexusGuard
import Testing

@Suite(
    "journal of changes",
    .enabled(if: HostTestNamespace.isAvailable, "network namespaces need root"))
struct JournalTests {
    /// Sets a full tunnel up and forgets it, as a killed process does.
    ///
    /// - Returns: What the process left of its journal.
    private static func leaveBehind(keepingInterface: Bool = false) throws -> (MemoryJournal, HostTestTunnel?)
    {
        let journal = MemoryJournal()
        let host = HostNetwork(storage: journal)
        try host.claimInterface("ng0")
        let tunnel = try HostTestTunnel("ng0")
        try host.apply(samplePlan(allowedIPs: ["0.0.0.0/0", "10.7.0.0/16"]))
        return (journal, keepingInterface ? tunnel : nil)
    }

    @Test("a replay leaves the host as it was, and a second one finds nothing", arguments: [false, true])
    func replay(keepingInterface: Bool) async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let before = try HostTestNamespace.picture()
            let (journal, tunnel) = try Self.leaveBehind(keepingInterface: keepingInterface)
            #expect(try HostTestNamespace.picture() != before)
            let host = HostNetwork(storage: journal)
            #expect(try host.replay() > 0)
            #expect(try HostTestNamespace.picture() == before)
            #expect(journal.bytes == nil)
            #expect(try host.replay() == 0)
            #expect(try HostNetwork(storage: journal).replay() == 0)
            #expect(try HostTestNamespace.picture() == before)
            withExtendedLifetime(tunnel) {}
        }
    }

    @Test("a start after a killed run replays by itself, and what it leaves is nothing")
    func startWithoutReplay() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let before = try HostTestNamespace.picture()
            let (journal, old) = try Self.leaveBehind()
            #expect(old == nil)
            let host = HostNetwork(storage: journal)
            try host.claimInterface("ng0")
            var tunnel: HostTestTunnel? = try HostTestTunnel("ng0")
            try host.apply(samplePlan())
            host.remove()
            tunnel = nil
            host.releaseInterface()
            #expect(tunnel == nil)
            #expect(try HostTestNamespace.picture() == before)
        }
    }

    @Test(
        "without a journal, or with a damaged one, what bears our marks is found",
        arguments: [nil, "{\"version\":1"])
    func lostJournal(_ text: String?) async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            // The setting can not be told from one of the administrator's.
            try HostTestNamespace.tool("sysctl -q net.ipv4.conf.all.src_valid_mark=1")
            let before = try HostTestNamespace.picture()
            let (_, tunnel) = try Self.leaveBehind()
            #expect(tunnel == nil)
            #expect(try HostTestNamespace.picture() != before)
            let journal = MemoryJournal(text.map { Array($0.utf8) })
            try HostNetwork(storage: journal).replay()
            #expect(journal.asides == (text == nil ? 0 : 1))
            #expect(try HostTestNamespace.picture() == before)
        }
    }

    @Test("what others made, however alike, stays")
    func foreign() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            for line in [
                "rule add pref 5400 lookup main suppress_prefixlength 0 proto static",
                "rule add pref 5400 from 192.0.2.2 lookup main suppress_prefixlength 0 proto kernel",
                "rule add pref 5410 not fwmark 0x4e470000/0xffffffff lookup 51821 proto kernel",
                "rule add pref 5410 not fwmark 0x4e470000/0xffff0000 lookup 51821 proto static",
                "rule add pref 5411 not fwmark 0x4e470000/0xffff0000 lookup 51821 proto kernel",
                "rule add pref 5410 fwmark 0x4e470000/0xffff0000 lookup 51821 proto kernel",
                "rule add pref 5410 not fwmark 0x4e470000/0xffff0000 lookup 51822 proto kernel",
                "route add unreachable default table 51821 proto kernel metric 7",
                "route add unreachable default table 51821 proto static metric 1313275904 tos 4",
                "route add unreachable 198.51.100.0/24 table 51821 proto kernel metric 1313275904",
                "route add blackhole default table 51821 proto kernel metric 1313275905",
                "-6 route add unreachable default table 51821 proto static metric 1313275904",
                "-6 rule add pref 5410 not fwmark 0x4e470000/0xffff0000 lookup 51821",
                "tuntap add dev ng1 mode tun",
            ] {
                try HostTestNamespace.ip(line)
            }
            try HostTestNamespace.tool("nft add table inet nexusguard")
            let before = try HostTestNamespace.picture()
            let journal = MemoryJournal()
            #expect(try HostNetwork(storage: journal).replay() == 0)
            #expect(try HostTestNamespace.picture() == before)
            let (left, tunnel) = try Self.leaveBehind()
            #expect(tunnel == nil)
            try HostNetwork(storage: left).replay()
            #expect(try HostTestNamespace.picture() == before)
        }
    }

    @Test("the journal of another boot is forgotten, that of a newer agent is refused and kept")
    func otherJournals() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let (journal, _) = try Self.leaveBehind()
            let text = String(decoding: try #require(journal.bytes), as: UTF8.self)
            let boot = try HostTestNamespace.tool("cat /proc/sys/kernel/random/boot_id").split(
                separator: "\n")[0]
            #expect(text.contains(boot))
            try HostTestNamespace.tool("sysctl -q net.ipv4.conf.all.src_valid_mark=1")

            let newer = MemoryJournal(Array("{\"version\":2,\"entries\":7}".utf8))
            #expect(throws: HostError.newerJournal(version: 2)) { try HostNetwork(storage: newer).replay() }
            #expect(newer.bytes != nil && newer.asides == 0)

            let other = text.replacing(boot, with: "00000000-0000-0000-0000-000000000000")
            let old = MemoryJournal(Array(other.utf8))
            try HostNetwork(storage: old).replay()
            #expect(old.bytes == nil)
            // Its setting was of that boot: the value of today is somebody else's.
            let setting = try HostTestNamespace.tool("sysctl -n net.ipv4.conf.all.src_valid_mark")
            #expect(setting == "1\n")
        }
    }

    @Test("a setting that somebody changed since is not put back")
    func changedSetting() async throws {
        try await HostTestNamespace.run {
            try HostTestNamespace.makeUplink()
            let (journal, _) = try Self.leaveBehind()
            // Ours was 1; somebody has set 0, which was also the former value, and then 1 for good.
            try HostTestNamespace.tool("sysctl -q net.ipv4.conf.all.src_valid_mark=0")
            try HostNetwork(storage: journal).replay()
            #expect(try HostTestNamespace.tool("sysctl -n net.ipv4.conf.all.src_valid_mark") == "0\n")
        }
    }

    @Test("a journal can not make the agent write outside the settings of the network")
    func hostileJournal() async throws {
        try await HostTestNamespace.run {
            let (journal, _) = try Self.leaveBehind()
            let text = String(decoding: try #require(journal.bytes), as: UTF8.self)
            let folder = try HostTestNamespace.temporaryFolder()
            defer { _ = try? HostTestNamespace.tool("rm -r \(folder)") }
            let victim = "\(folder)/victim"
            try HostTestNamespace.tool("cp /dev/null \(victim)")
            for path in [victim, "/proc/sys/net/../../..\(victim)"] {
                let hostile = text.replacing("/proc/sys/net/ipv4/conf/all/src_valid_mark", with: path)
                    .replacing("\"value\":\"1\"", with: "\"value\":\"\"")
                #expect(hostile.contains(path))
                try HostNetwork(storage: MemoryJournal(Array(hostile.utf8))).replay()
                #expect(try HostTestNamespace.tool("cat \(victim)") == "")
            }
        }
    }
}
