// SPDX-License-Identifier: MIT

import Glibc
import NexusGuard
import Testing
import WireGuardProtocol

@Suite("Epoll")
struct EpollTests {
    @Test(
        "the time left is rounded up to milliseconds and kept within what the kernel takes",
        arguments: [
            (0, 0, 0), (5, 4, 0), (0, 1, 1), (0, 999_999, 1), (0, 1_000_000, 1), (0, 1_000_001, 2),
            (7, 2_000_007, 2), (0, Int64.max, Int32.max), (Int64.min, Int64.max, Int32.max), (-1, 0, 1),
        ] as [(Int64, Int64, Int32)])
    func rounding(now: Int64, deadline: Int64, milliseconds: Int32) {
        let result = Epoll.milliseconds(
            from: Instant(nanoseconds: now), to: Instant(nanoseconds: deadline))
        #expect(result == milliseconds)
    }

    @Test("a wait without events ends at its deadline, and not before")
    func deadline() throws {
        let epoll = try Epoll()
        let deadline = BootClock.now() + Interval(nanoseconds: 3_200_000)
        let count = try epoll.wait(until: deadline)
        let end = BootClock.now()
        #expect(count == 0)
        #expect(end >= deadline)
        let countForPast = try epoll.wait(until: Instant(nanoseconds: 0))
        #expect(countForPast == 0)
    }

    @Test("a bell that another thread rings ends a wait, until it is silenced")
    func bell() throws {
        let epoll = try Epoll()
        let bell = try EventFD()
        try epoll.add(bell.descriptor, for: .readable, token: 0xFEDC_BA98_7654_3210)
        let wasSilent = bell.silence()
        #expect(!wasSilent)

        let descriptor = bell.descriptor
        let thread = try WorkerThread(name: "ringer") {
            var one: UInt64 = 1
            _ = SystemCall.orNegativeErrno { write(descriptor, &one, 8) }
        }
        let count = try epoll.wait(until: nil)
        let event = epoll.event(0)
        thread.join()
        #expect(count == 1)
        #expect(event.token == 0xFEDC_BA98_7654_3210)
        #expect(event.readiness == .readable)

        bell.ring()
        bell.ring()
        let rang = bell.silence()
        let ringsStill = bell.silence()
        #expect(rang)
        #expect(!ringsStill)
        let countAfter = try epoll.wait(until: Instant(nanoseconds: 0))
        #expect(countAfter == 0)
    }

    @Test("descriptors are changed and removed, and a second addition is refused")
    func changes() throws {
        let epoll = try Epoll()
        let bell = try EventFD()
        bell.ring()
        try epoll.add(bell.descriptor, for: .readable, token: 1)
        let descriptor = bell.descriptor
        var secondAddition: SystemCallError?
        do throws(SystemCallError) {
            try epoll.add(descriptor, for: .readable, token: 2)
        } catch { secondAddition = error }
        #expect(secondAddition == SystemCallError(call: "epoll_ctl", errno: EEXIST))

        try epoll.modify(descriptor, for: [], token: 3)
        let countForNothing = try epoll.wait(until: Instant(nanoseconds: 0))
        #expect(countForNothing == 0)
        try epoll.modify(descriptor, for: [.readable, .writable], token: 3)
        _ = try epoll.wait(until: Instant(nanoseconds: 0))
        let event = epoll.event(0)
        #expect(event.token == 3)
        #expect(event.readiness == [.readable, .writable])
        try epoll.remove(descriptor)
        let countAfterRemoval = try epoll.wait(until: Instant(nanoseconds: 0))
        #expect(countAfterRemoval == 0)
    }
}
