// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
package import WireGuardProtocol

/// Waits for descriptors and for a deadline, on one thread.
package struct Epoll: ~Copyable {
    /// What may happen at a descriptor.
    package struct Readiness: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Something can be read, or the end of the stream.
        package static let readable = Readiness(rawValue: linux_epoll_in)
        /// Something can be written.
        package static let writable = Readiness(rawValue: linux_epoll_out)
        /// The descriptor has an error; reported whether asked for or not.
        package static let failed = Readiness(rawValue: linux_epoll_error)
        /// The other end is gone; reported whether asked for or not.
        package static let hungUp = Readiness(rawValue: linux_epoll_hangup)
        /// The other end of a stream will write no more.
        package static let peerClosed = Readiness(rawValue: linux_epoll_peer_closed)
    }

    /// A descriptor at which something happened.
    package struct Event: Hashable, Sendable {
        /// The number that the descriptor was added with.
        package let token: UInt64
        /// What happened.
        package let readiness: Readiness
    }

    /// The largest number of events that one wait reports; the next wait reports the others.
    package static let eventCapacity = 64

    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>

    /// Creates a set of no descriptors.
    ///
    /// - Throws: `SystemCallError`, when there are no descriptors left.
    package init() throws(SystemCallError) {
        descriptor = try SystemCall.run("epoll_create1") { epoll_create1(linux_epoll_cloexec) }
        events = .allocate(capacity: Self.eventCapacity)
        events.initialize(repeating: epoll_event(), count: Self.eventCapacity)
    }

    /// Adds a descriptor, level-triggered: it is reported for as long as its state lasts.
    ///
    /// - Parameter token: A number of the caller's choice that its events carry.
    /// - Throws: `SystemCallError`, when the descriptor is in the set (EEXIST) or can not be waited for (EPERM).
    package borrowing func add(
        _ target: Int32, for readiness: Readiness, token: UInt64
    ) throws(SystemCallError) {
        try control(EPOLL_CTL_ADD, target, readiness, token)
    }

    /// Changes what a descriptor of the set is waited for; for nothing but failures when empty.
    ///
    /// - Throws: `SystemCallError`, when the descriptor is not in the set (ENOENT).
    package borrowing func modify(
        _ target: Int32, for readiness: Readiness, token: UInt64
    ) throws(SystemCallError) {
        try control(EPOLL_CTL_MOD, target, readiness, token)
    }

    /// Takes a descriptor out of the set; to be called before the descriptor is closed.
    ///
    /// - Throws: `SystemCallError`, when the descriptor is not in the set (ENOENT).
    package borrowing func remove(_ target: Int32) throws(SystemCallError) {
        try control(EPOLL_CTL_DEL, target, [], 0)
    }

    /// Waits until something happens at a descriptor or the deadline has come.
    ///
    /// Never returns before the deadline without an event: the time left is rounded up to milliseconds. The
    /// kernel does not count a suspended machine's sleep towards the wait, so a deadline that passes in a sleep
    /// is noticed at the latest after as much running time as was left when the machine went to sleep.
    ///
    /// - Parameter deadline: `nil` waits for events alone; a past deadline only looks.
    /// - Returns: The number of events, to be read with `event`; zero when the deadline has come.
    /// - Throws: `SystemCallError`; EINVAL and others that no use of this type causes.
    package borrowing func wait(until deadline: Instant?) throws(SystemCallError) -> Int {
        while true {
            let milliseconds = deadline.map { Self.milliseconds(from: BootClock.now(), to: $0) } ?? -1
            let count = epoll_wait(descriptor, events, Int32(Self.eventCapacity), milliseconds)
            if count > 0 { return Int(count) }
            if count < 0 {
                let error = errno
                // Not repeated by `SystemCall`, because the time left must be taken anew.
                guard error == EINTR else { throw SystemCallError(call: "epoll_wait", errno: error) }
                continue
            }
            guard let deadline, BootClock.now() < deadline else { return 0 }
        }
    }

    /// One event of the last wait.
    package borrowing func event(_ index: Int) -> Event {
        precondition((0..<Self.eventCapacity).contains(index), "an event of the last wait")
        return Event(token: events[index].data.u64, readiness: Readiness(rawValue: events[index].events))
    }

    /// The milliseconds between two instants, rounded up, at least zero and at most what the kernel takes.
    package static func milliseconds(from now: Instant, to deadline: Instant) -> Int32 {
        guard now < deadline else { return 0 }
        let (left, overflows) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        if overflows { return .max }
        let milliseconds = left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1)
        return Int32(clamping: milliseconds)
    }

    private borrowing func control(
        _ operation: Int32, _ target: Int32, _ readiness: Readiness, _ token: UInt64
    ) throws(SystemCallError) {
        var event = epoll_event()
        event.events = readiness.rawValue
        event.data.u64 = token
        try SystemCall.run("epoll_ctl") { epoll_ctl(descriptor, operation, target, &event) }
    }

    deinit {
        SystemCall.close(descriptor)
        events.deallocate()
    }
}
