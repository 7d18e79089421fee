// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that reads notifications of the kernel, in the network namespace of the thread that makes it.
final class NetlinkMonitor: Sendable {
    /// What the thread has to tell.
    struct News: Sendable {
        /// The notifications since the last call.
        var messages: [NetlinkMessage] = []
        /// Whether some were lost, so that anything may have changed.
        var hasLost = false
        /// Whether a table of nf_tables changed.
        var filtersChanged = false
        /// Whether the kernel has the handler called after a sleep, because the wall clock is then set.
        var tellsOfSleep = false
    }

    /// Gets the news on the monitor's thread: at first, at every change and at its own deadline.
    ///
    /// - Returns: When it is to be called again at the latest, by `HostClock.boot`; `nil` for no deadline.
    typealias Handler = @Sendable (News) -> Int64?

    /// What to watch.
    struct Subjects: OptionSet {
        let rawValue: Int

        /// Links, addresses, routes and rules.
        static let routing = Subjects(rawValue: 1)
        /// Tables of nf_tables, where the kernel has them.
        static let filters = Subjects(rawValue: 2)
        /// Jumps of the wall clock, where the kernel tells of them.
        static let clock = Subjects(rawValue: 4)
    }

    /// Rung to wake the thread.
    private let bell: Int32
    /// Whether the thread shall end.
    private let hasEnded: Flag

    /// A flag that outlives the monitor with its thread.
    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// The datagrams that are read in one go, so that a flood of them cannot hold up the handler.
    private static let mostDatagrams = 1_024

    /// Starts to watch.
    ///
    /// - Throws: `HostError.refused`.
    init(_ name: String, _ subjects: Subjects, _ handler: @escaping Handler) throws(HostError) {
        let hasEnded = Flag()
        self.hasEnded = hasEnded
        bell = eventfd(0, linux_eventfd_flags)
        guard bell >= 0 else { throw .refused(operation: "eventfd", errno: errno, detail: nil) }
        let end = fcntl(bell, F_DUPFD_CLOEXEC, 0)
        guard end >= 0 else { throw .refused(operation: "fcntl F_DUPFD_CLOEXEC", errno: errno, detail: nil) }
        let routing: Int32
        do throws(HostError) {
            let groups = subjects.contains(.routing) ? NetlinkGroup.routing : 0
            routing = try NetlinkSocket.open(
                NetlinkProtocol.route, groups: groups, type: linux_netlink_socket_type)
        } catch {
            close(end)
            throw error
        }
        var filters: Int32 = -1
        if subjects.contains(.filters) {
            let socket = try? NetlinkSocket.open(
                NetlinkProtocol.netfilter, groups: NetlinkGroup.nfTables, type: linux_netlink_socket_type)
            filters = socket ?? -1
        }
        let clock = subjects.contains(.clock) ? Self.clockDescriptor() : -1
        let descriptors = [end, routing, filters, clock]
        do throws(HostError) {
            try WorkThread.start(name) { Self.run(descriptors, hasEnded, handler) }
        } catch {
            for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
            throw error
        }
    }

    deinit {
        hasEnded.value.store(true, ordering: .releasing)
        wake()
        close(bell)
    }

    /// Has the handler called soon, without news.
    func wake() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
    }

    /// A timer that never expires but is cancelled when the clock is set; -1 where there is none.
    private static func clockDescriptor() -> Int32 {
        let descriptor = timerfd_create(CLOCK_REALTIME, linux_timerfd_flags)
        guard descriptor >= 0 else { return -1 }
        arm(descriptor)
        return descriptor
    }

    private static func arm(_ descriptor: Int32) {
        var never = itimerspec()
        never.it_value.tv_sec = Int.max / 2_000_000_000
        timerfd_settime(descriptor, linux_timerfd_cancelled_when_set, &never, nil)
    }

    private static func run(_ descriptors: [Int32], _ hasEnded: Flag, _ handler: Handler) {
        var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let tellsOfSleep = (descriptors.last ?? -1) >= 0
        var deadline = handler(News(tellsOfSleep: tellsOfSleep))
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
        while true {
            let wait = deadline.map { max(0, min(($0 - HostClock.boot + 999_999) / 1_000_000, 3_600_000)) }
            let count = poll(&polled, nfds_t(polled.count), Int32(wait ?? -1))
            if count < 0 && errno != EINTR { return }
            var news = News(tellsOfSleep: tellsOfSleep)
            if count > 0 {
                if polled[0].revents != 0 { drainCounter(polled[0].fd) }
                if hasEnded.value.load(ordering: .acquiring) { return }
                if polled[1].revents != 0 { drain(polled[1].fd, &buffer, &news) }
                if polled[2].revents != 0 {
                    var filters = News()
                    drain(polled[2].fd, &buffer, &filters)
                    news.filtersChanged = true
                }
                if polled[3].revents != 0 {
                    drainCounter(polled[3].fd)
                    arm(polled[3].fd)
                }
            } else if count == 0, let deadline, HostClock.boot < deadline {
                continue
            }
            deadline = handler(news)
        }
    }

    /// Reads the number that makes an event or a timer readable.
    private static func drainCounter(_ descriptor: Int32) {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    /// Reads what waits in a socket.
    private static func drain(_ descriptor: Int32, _ buffer: inout [UInt8], _ news: inout News) {
        for _ in 0..<mostDatagrams {
            var sender = linux_netlink_address()
            var senderByteCount = socklen_t(MemoryLayout<linux_netlink_address>.size)
            let count = buffer.withUnsafeMutableBytes { bytes in
                withUnsafeMutableBytes(of: &sender) { address in
                    recvfrom(
                        descriptor, bytes.baseAddress, bytes.count, linux_msg_truncated,
                        address.assumingMemoryBound(to: sockaddr.self).baseAddress, &senderByteCount)
                }
            }
            if count < 0 {
                guard errno == ENOBUFS || errno == EINTR else { return }
                if errno == ENOBUFS { news.hasLost = true }
                continue
            }
            if count > buffer.count {
                news.hasLost = true
            } else if sender.port == 0 {
                // The slices of one datagram share a copy; the buffer itself is used anew.
                news.messages += NetlinkMessage.messages(in: ArraySlice(Array(buffer[..<count])))
            }
        }
    }
}
