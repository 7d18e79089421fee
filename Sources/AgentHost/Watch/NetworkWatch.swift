// SPDX-License-Identifier: MIT

internal import Glibc
public import NexusGuard
internal import Synchronization

/// Watches the host's network by netlink: links, addresses, routes and rules.
///
/// Changes are told once they have come to rest for half a second, or after two seconds if they do not (`LookPace`).
/// Sleep shows in the difference of two clocks, one of which counts it. The network namespace is that of the thread
/// that makes the object.
public final class NetworkWatch: NetworkWatching {
    private struct State {
        var destinations: [IPAddress] = []
        var picture = NetworkPicture()
        /// By `HostClock.boot`.
        var pace = LookPace<NetworkPicture>()
        /// How long the host had been asleep when that was last looked at, in nanoseconds.
        var asleep: Int64 = 0
        var readers: [UInt64: AsyncStream<NetworkEvent>.Continuation] = [:]
        var lastReader: UInt64 = 0
        var monitor: NetlinkMonitor?

        /// Puts a picture in the place of the present one, and says what that means.
        mutating func accept(_ next: NetworkPicture) -> NetworkEvent? {
            defer { picture = next }
            if next.isOnline != picture.isOnline { return next.isOnline ? .online : .offline }
            return next.differs(from: picture) ? .changed : nil
        }
    }

    /// What the thread of the monitor shares with this object.
    private final class Shared: Sendable {
        let ignored: Set<String>
        /// Whether the kernel knows nothing of the clock, so that it does not tell of its jumps.
        let isTestClock: Bool
        let sleepClock: @Sendable () -> Int64
        let state = Mutex(State())

        init(ignored: Set<String>, isTestClock: Bool, sleepClock: @escaping @Sendable () -> Int64) {
            self.ignored = ignored
            self.isTestClock = isTestClock
            self.sleepClock = sleepClock
        }
    }

    private let shared: Shared

    /// How often sleep is looked for where the kernel does not tell of it, and where it does.
    private static let sleepIntervals: (often: Int64, seldom: Int64) = (1_000_000_000, 10_000_000_000)
    /// Less than this is what two readings of the clocks differ by, not sleep.
    private static let shortestSleep: Int64 = 500_000_000
    private static let readerCapacity = 64

    /// Starts to watch.
    ///
    /// - Parameter ignoredInterfaces: The names of interfaces that do not count, such as the tunnel's own.
    /// - Throws: `HostError.refused`.
    public convenience init(ignoredInterfaces: Set<String> = []) throws(HostError) {
        try self.init(ignoredInterfaces: ignoredInterfaces, isTestClock: false) { HostClock.asleep }
    }

    /// Starts to watch with a clock of its own for the time asleep, in nanoseconds.
    init(
        ignoredInterfaces: Set<String>, isTestClock: Bool = true,
        sleepClock: @escaping @Sendable () -> Int64
    ) throws(HostError) {
        let shared = Shared(ignored: ignoredInterfaces, isTestClock: isTestClock, sleepClock: sleepClock)
        self.shared = shared
        let picture = try NetworkPicture(destinations: [], ignoring: ignoredInterfaces)
        shared.state.withLock { state in
            state.picture = picture
            state.asleep = sleepClock()
            // The monitor is not told of what changed before it began.
            state.pace.lookAtOnce(at: HostClock.boot)
        }
        let monitor = try NetlinkMonitor("network-watch", [.routing, .clock]) { [weak shared] news in
            guard let shared else { return nil }
            return Self.handle(news, shared)
        }
        shared.state.withLock { $0.monitor = monitor }
    }

    deinit {
        let readers = shared.state.withLock { state in
            state.monitor = nil
            return state.readers
        }
        for reader in readers.values { reader.finish() }
    }

    /// The events from now on; each call gives a stream of its own, which ends with this object.
    public var events: AsyncStream<NetworkEvent> {
        let shared = shared
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkEvent.self, bufferingPolicy: .bufferingNewest(Self.readerCapacity))
        let number = shared.state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            return state.lastReader
        }
        continuation.onTermination = { [weak shared] _ in
            shared?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
        }
        return stream
    }

    /// Whether there was a way out when the network was last looked at.
    public var isOnline: Bool { shared.state.withLock { $0.picture.isOnline } }

    /// Whether control traffic to the address has a route, in the calling thread's network namespace.
    public func hasRoute(to address: IPAddress) -> Bool { RouteNetlink.hasRoute(to: address) }

    /// Sets what must be reachable for the host to be online; looks at once.
    public func setDestinations(_ destinations: [IPAddress]) {
        shared.state.withLock { state in
            guard state.destinations != destinations else { return }
            state.destinations = destinations
            // The thread that called may be in another network namespace than the one that is watched.
            state.pace.lookAtOnce(at: HostClock.boot)
        }
        shared.state.withLock { $0.monitor }?.wake()
    }

    /// Works on news, on the monitor's thread.
    ///
    /// - Returns: When to look again.
    private static func handle(_ news: NetlinkMonitor.News, _ shared: Shared) -> Int64 {
        let now = HostClock.boot
        let asleep = shared.sleepClock()
        let hasNews = news.hasLost || !news.messages.isEmpty
        var events: [NetworkEvent] = []
        let destinations = shared.state.withLock { state -> [IPAddress]? in
            let slept = asleep - state.asleep
            if slept >= shortestSleep {
                state.asleep = asleep
                events.append(.resumed(after: .nanoseconds(slept)))
            }
            if hasNews || slept >= shortestSleep { state.pace.noteNews(at: now) }
            if let picture = state.pace.takeSeen(), let event = state.accept(picture) { events.append(event) }
            return state.pace.begins(at: now) ? state.destinations : nil
        }
        if let destinations {
            let picture = try? NetworkPicture(destinations: destinations, ignoring: shared.ignored)
            shared.state.withLock { state in
                guard let picture else { return state.pace.noteFailure(at: now) }
                if let picture = state.pace.noteLook(picture, at: HostClock.boot),
                    let event = state.accept(picture)
                {
                    events.append(event)
                }
            }
        }
        let (readers, due) = shared.state.withLock { ($0.readers.values, $0.pace.deadline(at: now)) }
        for event in events {
            for reader in readers { reader.yield(event) }
        }
        let interval = news.tellsOfSleep && !shared.isTestClock ? sleepIntervals.seldom : sleepIntervals.often
        return min(due ?? .max, now + interval)
    }
}
