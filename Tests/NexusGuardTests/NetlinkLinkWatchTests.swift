// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import NexusGuard
import Testing

@Suite(
    "watch of a link by netlink",
    .enabled(if: TunTestNamespace.isAvailable, "TUNs and network namespaces need root"))
struct NetlinkLinkWatchTests {
    @Test("tells the state at first, then changes, then the end, and nothing about other interfaces")
    func changes() throws {
        try TunTestNamespace.run {
            let tun = try TunInterface(name: "tuntest0")
            var watch = try LinkWatch(interfaceIndex: tun.index())
            #expect(Self.events(&watch) == [.mtu(1_420), .down])
            #expect(Self.events(&watch) == [])
            try TunTestNamespace.ip("link set tuntest0 up")
            #expect(Self.events(&watch) == [.up])
            try TunTestNamespace.ip("link set tuntest0 mtu 1300")
            #expect(Self.events(&watch) == [.mtu(1_300)])
            try TunTestNamespace.ip("link set lo up")
            try TunTestNamespace.ip("link set lo mtu 1500")
            try TunTestNamespace.ip("link set tuntest0 txqueuelen 77")
            #expect(Self.events(&watch) == [])
            try TunTestNamespace.ip("link set tuntest0 down")
            try TunTestNamespace.ip("link set tuntest0 name tuntest1")
            #expect(Self.events(&watch) == [.down])
            #expect(tun.name == "tuntest1")
            try tun.setMTU(1_301)
            #expect(Self.events(&watch) == [.mtu(1_301)])
            try TunTestNamespace.ip("link del tuntest1")
            #expect(Self.events(&watch) == [.removed])
            #expect(Self.events(&watch) == [])
        }
    }

    @Test("an interface that is already gone is told as removed")
    func gone() throws {
        try TunTestNamespace.run {
            var watch = try LinkWatch(interfaceIndex: 4_711)
            #expect(Self.events(&watch) == [.removed])
        }
    }

    @Test("after messages were lost the state is asked for anew")
    func overrun() throws {
        try TunTestNamespace.run {
            let tun = try TunInterface(name: "tuntest0")
            var watch = try LinkWatch(interfaceIndex: tun.index())
            #expect(Self.events(&watch) == [.mtu(1_420), .down])
            // The least that the kernel allows: about one message.
            var size: Int32 = 1
            let descriptor = watch.descriptor
            try SystemCall.run("setsockopt") {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            for mtu in 1_281...1_340 { try tun.setMTU(mtu) }
            try tun.setUp(true)
            let events = Self.events(&watch)
            #expect(events.count < 60)
            #expect(events.last { if case .mtu = $0 { true } else { false } } == .mtu(1_340))
            #expect(events.contains(.up))
        }
    }

    @Test("an interface that moves to another namespace is not told as removed and can be followed")
    func moved() throws {
        try TunTestNamespace.run {
            let home = try TunTestNamespace.descriptor()
            try SystemCall.run("unshare") { linux_unshare(linux_clone_newnet) }
            let away = try TunTestNamespace.descriptor()
            defer {
                SystemCall.close(home)
                SystemCall.close(away)
            }
            try TunTestNamespace.enter(home)
            var tun = try TunInterface(name: "tuntest0")
            var watch = try LinkWatch(interfaceIndex: tun.index())
            #expect(Self.events(&watch) == [.mtu(1_420), .down])
            try TunTestNamespace.ip("link set tuntest0 netns /proc/\(getpid())/fd/\(away)")
            #expect(Self.events(&watch) == [.moved])
            #expect(throws: TunError.refused(SystemCallError(call: "ioctl SIOCGIFMTU", errno: ENODEV))) {
                _ = try tun.mtu()
            }

            var second = try tun.follow()
            #expect(Self.events(&second) == [.mtu(1_420), .down])
            try tun.setUp(true)
            try tun.setMTU(1_300)
            #expect(try tun.mtu() == 1_300)
            #expect(Self.events(&second) == [.up, .mtu(1_300)])
            // This thread's own namespace is the same as before.
            #expect(if_nametoindex("tuntest0") == 0)
            try TunTestNamespace.enter(away)
            #expect(if_nametoindex("tuntest0") != 0)
            try TunTestNamespace.ip("link del tuntest0")
            #expect(Self.events(&second) == [.down, .removed])
        }
    }

    private static func events(_ watch: inout LinkWatch) -> [LinkEvent] {
        var events: [LinkEvent] = []
        watch.poll { events.append($0) }
        return events
    }
}
