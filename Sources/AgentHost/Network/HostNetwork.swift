// SPDX-License-Identifier: MIT

public import AgentCore
internal import Glibc
public import NexusGuard
internal import Synchronization

/// The part of the host's network that a tunnel needs: addresses, routes and rules, all of which it can undo.
///
/// Each change is in the journal before it is made, and what somebody else deletes is put back. All functions wait
/// for the kernel, which takes milliseconds, and may be called on any thread; the network namespace is that of
/// the thread that makes the object, and of those that call it.
public final class HostNetwork: Sendable {
    let state: Mutex<HostState>
    private let log: (any LogSink)?

    /// Creates the object; nothing is read or changed.
    ///
    /// - Parameters:
    ///   - storage: Keeps the journal of changes.
    ///   - log: Gets what people should know.
    public init(storage: any JournalStorage, log: (any LogSink)? = nil) {
        state = Mutex(HostState(journal: UndoJournal(storage)))
        self.log = log
    }

    /// Undoes what a former process left behind, and reads nothing else from it.
    ///
    /// To be called before anything is changed; it may be called again. Without a journal it still finds the rules
    /// and routes that nobody else makes.
    ///
    /// - Returns: How many changes were undone.
    /// - Throws: `HostError`; what could not be undone is still in the journal.
    @discardableResult
    public func replay() throws(HostError) -> Int {
        let replay = try state.withLock { (state) throws(HostError) in try state.replay() }
        tell(replay)
        return replay.count
    }

    /// Prepares for a tunnel interface that the caller is about to make.
    ///
    /// - Throws: `HostError.interfaceTaken`, when the name is in use by others, or `.journal`.
    public func claimInterface(_ name: String) throws(HostError) {
        let replay = try state.withLock { (state) throws(HostError) in
            // Without that, what a killed process left would be forgotten here.
            let replay = state.hasReplayed ? HostState.Replay() : try state.replay()
            try state.claimInterface(name)
            return replay
        }
        tell(replay)
    }

    /// What the host can do for an interface that is there.
    ///
    /// - Throws: `HostError.refused`.
    public func capabilities(ofInterface name: String) throws(HostError) -> HostCapabilities {
        var route = try RouteNetlink()
        let isDisabled = Setting.read("/proc/sys/net/ipv6/conf/\(name)/disable_ipv6")
        return HostCapabilities(
            routesIPv6: try route.rules(isIPv6: true) != nil, interfaceTakesIPv6: isDisabled == "0")
    }

    /// The MTU for a tunnel to a server: the usual one, or less when the way to the server has less room.
    ///
    /// - Returns: 1280 to 1420.
    public func suitableMTU(serverAddresses: [IPAddress]) -> Int {
        guard var route = try? RouteNetlink() else { return TunnelOptions.defaultMTU }
        var least = TunnelOptions.defaultMTU
        for address in serverAddresses {
            guard let way = try? route.route(to: address, mark: FirewallMark.value) else { continue }
            let link = try? route.links().first { $0.index == way.interfaceIndex }
            // The same 80 bytes that the usual MTU leaves of 1500: IPv6, UDP, the protocol's header and tag.
            if let room = way.mtu ?? link?.mtu { least = min(least, room - 80) }
        }
        return max(HostPlan.smallestMTUForIPv6, least)
    }

    /// Whether packets that bypass the tunnel have a route to an address.
    public func hasRoute(to address: IPAddress) -> Bool { RouteNetlink.hasRoute(to: address) }

    /// Makes the host as the plan says, with the least change: what is right already stays.
    ///
    /// The interface must be there. From now on what others delete is put back.
    ///
    /// - Throws: `HostError`; the host is then as it was before the call.
    public func apply(_ plan: HostPlan) throws(HostError) {
        let former = problems
        try state.withLock { (state) throws(HostError) in
            let applied = state.plan
            do throws(HostError) {
                try state.converge(to: plan)
                state.plan = plan
                if state.monitor == nil { state.monitor = try makeMonitor() }
            } catch {
                if let applied {
                    state.plan = applied
                    _ = try? state.converge(to: applied)
                } else {
                    state.plan = nil
                    state.undoAll(keepingInterface: true)
                }
                throw error
            }
        }
        for problem in problems where !former.contains(problem) { tell(.warn, problem) }
    }

    /// Looks whether all is as the plan says and puts right what is not.
    ///
    /// - Returns: Whether something had to be put right.
    @discardableResult
    public func verify() throws(HostError) -> Bool {
        try state.withLock { (state) throws(HostError) in
            state.forgetRefusals()
            return try state.convergeAgain() > 0
        }
    }

    /// Undoes all but the interface, which the caller then removes.
    public func remove() {
        let left = state.withLock { state -> [String] in
            state.monitor = nil
            state.plan = nil
            return state.undoAll(keepingInterface: true)
        }
        for problem in left { tell(.error, problem) }
    }

    /// Forgets the interface after the caller has removed it, and removes it where that failed.
    public func releaseInterface() {
        let left = state.withLock { $0.undoAll(keepingInterface: false) }
        for problem in left { tell(.error, problem) }
    }

    /// What of the plan the host refuses, in words.
    public var problems: [String] { state.withLock { $0.problems } }

    private func tell(_ replay: HostState.Replay) {
        for note in replay.notes { tell(.warn, note) }
        guard replay.count > 0 else { return }
        tell(.info, "undid \(replay.count) changes to the host that were left behind")
    }

    private func tell(_ level: LogLevel, _ message: String) {
        log?.add(level: level, tag: "host", message: message)
    }

    // MARK: - Repair

    /// Watches what others do to the host.
    private func makeMonitor() throws(HostError) -> NetlinkMonitor {
        let pace = RepairPace()
        return try NetlinkMonitor("host-repair", [.routing, .filters]) { [weak self] news in
            guard let self else { return nil }
            return repair(news, pace)
        }
    }

    /// Puts right what others changed.
    private func repair(_ news: NetlinkMonitor.News, _ pace: RepairPace) -> Int64? {
        let isDue = pace.isDue(at: HostClock.boot)
        let concernsUs = state.withLock { $0.isConcerned(by: news) }
        guard concernsUs || isDue else { return pace.deadline }
        if let deadline = pace.postpone(at: HostClock.boot) { return deadline }
        let result = state.withLock { state -> Result<Int, HostError> in
            do throws(HostError) {
                return .success(try state.convergeAgain())
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(0): return pace.settle()
        case .success(let count):
            pace.noteRepair(at: HostClock.boot)
            tell(.warn, "put back \(count) addresses, routes or rules that somebody else removed")
            return nil
        case .failure(let error):
            pace.noteRepair(at: HostClock.boot)
            tell(.error, "cannot put back what somebody else removed: \(error)")
            return pace.retry(at: HostClock.boot)
        }
    }
}
