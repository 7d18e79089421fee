// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuard

/// What `HostNetwork` guards: the journal, and the plan that the host shall follow.
struct HostState {
    /// The changes that are not undone.
    var journal: UndoJournal
    /// What the host shall be like; `nil` while there is no tunnel.
    var plan: HostPlan?
    /// Watches what others do, while there is a plan.
    var monitor: NetlinkMonitor?
    /// Whether what a former process left was looked for.
    private(set) var hasReplayed = false
    /// Whether the kernel is asked for a table of packet marks; tests do without as old kernels must.
    var canMarkPackets = true
    /// Changes that the host refuses, in words; they are not tried again before the next plan.
    private(set) var refused: [HostChange: String] = [:]
    /// The table of packet marks as it was made last.
    private var presentMarks: HostChange?
    /// The number of the interface that the plan was last applied to.
    private var interfaceIndex: Int32?

    /// After this many rounds a change that disappears again and again is left alone.
    private static let mostRounds = 3

    init(journal: UndoJournal) {
        self.journal = journal
    }

    /// What of the plan the host refuses, in words.
    var problems: [String] {
        let omitted = plan?.omitted ?? []
        return omitted.map { "this host has no IPv6 for the tunnel, \($0) is left out" }
            + refused.values.sorted()
    }

    /// Has the next look at the host try again what was refused.
    mutating func forgetRefusals() {
        refused = [:]
    }

    /// What came of a replay.
    struct Replay {
        /// How many changes were undone.
        var count = 0
        /// What people should know.
        var notes: [String] = []
    }

    /// Undoes what the journal of a former process holds, and what bears our marks without being in it.
    ///
    /// - Throws: `HostError`.
    mutating func replay() throws(HostError) -> Replay {
        var replay = Replay()
        guard plan == nil else { return replay }
        switch try journal.load() {
        case .changes: break
        case .elsewhere: replay.notes.append("the journal is of another boot or network; it is not needed")
        case .damaged: replay.notes.append("the journal was damaged; only what bears our marks can be undone")
        }
        var kernel = try HostKernel()
        let known = journal.changes
        let changes = known + Self.signature.filter { !known.contains($0) }
        let present = try kernel.survey(changes)
        for change in changes.reversed() where present.contains(change) {
            try kernel.undo(change)
            replay.count += 1
        }
        try journal.clear()
        hasReplayed = true
        return replay
    }

    /// What nobody but this agent makes: marks, numbers and the protocol all agree.
    private static var signature: [HostChange] {
        var changes: [HostChange] = [.packetMarks(PacketMarks(interfaceName: "", addresses: []))]
        for isIPv6 in [false, true] {
            let route = PlannedRoute(
                destination: .everything(isIPv6: isIPv6), table: HostPlan.table, entersTunnel: false)
            changes.append(.route(route.record(interfaceIndex: 0)))
        }
        return changes + HostPlan.allRules.map { .rule($0) }
    }

    /// Notes that an interface is about to be made.
    ///
    /// - Throws: `HostError.interfaceTaken` or `.journal`.
    mutating func claimInterface(_ name: String) throws(HostError) {
        var kernel = try HostKernel()
        if try kernel.route.link(named: name) != nil {
            // One that we made ourselves and that its engine did not take along.
            let own = journal.changes.filter { if case .interface(name, _) = $0 { true } else { false } }
            for change in try kernel.survey(own) { try kernel.undo(change) }
            guard try kernel.route.link(named: name) == nil else { throw .interfaceTaken(name: name) }
        }
        try journal.record([.interface(name: name, index: nil)])
    }

    /// Makes the host again as the plan says that was applied last.
    ///
    /// - Returns: How many changes were made; none when the interface is another one than it was, since whoever
    ///   made that applies a plan to it.
    /// - Throws: `HostError`.
    mutating func convergeAgain() throws(HostError) -> Int {
        guard let plan else { return 0 }
        var route = try RouteNetlink()
        guard try route.link(named: plan.interfaceName)?.index == interfaceIndex else { return 0 }
        return try converge(to: plan)
    }

    /// Makes the host as the plan says.
    ///
    /// - Returns: How many changes were made.
    /// - Throws: `HostError`; some changes may then be made, and are in the journal.
    @discardableResult
    mutating func converge(to plan: HostPlan) throws(HostError) -> Int {
        var kernel = try HostKernel()
        guard let link = try kernel.route.link(named: plan.interfaceName) else {
            throw .noInterface(name: plan.interfaceName)
        }
        let isNew = self.plan != plan || interfaceIndex != link.index
        if isNew {
            refused = [:]
            interfaceIndex = link.index
        }
        var desired = try desiredChanges(plan, link, &kernel)
        try journal.record(desired)
        if isNew { try prepare(link, plan, &kernel) }
        var count = 0
        for round in 0..<Self.mostRounds {
            // Of the table of marks only the name shows, not for which addresses it is.
            let present = try kernel.survey(desired).filter { !$0.isPacketMarks || $0 == presentMarks }
            let missing = desired.filter { !present.contains($0) }
            let wasUp = try kernel.route.link(named: plan.interfaceName)?.isUp ?? true
            if !missing.isEmpty || !wasUp {
                count += try make(missing, link, wasUp: wasUp, &kernel)
                // A refused table of marks calls for another setting.
                desired = try desiredChanges(plan, link, &kernel)
                try journal.record(desired)
                continue
            }
            // Only now what is too much: there is no moment with less than the plan asks for.
            let undone = try undoObsolete(desired, &kernel)
            count += undone
            // With an address others of its network may have gone, with an address its routes.
            if undone == 0 || round == Self.mostRounds - 1 { break }
        }
        try journal.keep(desired)
        return count
    }

    /// Sets up what belongs to the interface itself and goes with it.
    private func prepare(_ link: LinkRecord, _ plan: HostPlan, _ kernel: inout HostKernel) throws(HostError) {
        if link.mtu != plan.mtu { try kernel.route.setMTU(plan.mtu, of: link) }
        // Refused where there is no IPv6: then nothing is generated either.
        if !link.isUp { try? kernel.route.setNoGeneratedAddresses(on: link) }
    }

    /// Makes changes in order; the interface is set up before the first route.
    private mutating func make(
        _ missing: [HostChange], _ link: LinkRecord, wasUp: Bool, _ kernel: inout HostKernel
    ) throws(HostError) -> Int {
        var count = 0
        var isUp = wasUp
        for change in missing {
            if !isUp, change.needsInterfaceUp {
                try kernel.route.setUp(link)
                isUp = true
            }
            do throws(HostError) {
                try kernel.make(change)
                count += 1
                if change.isPacketMarks { presentMarks = change }
            } catch {
                if error.refusal == EEXIST, case .route(let route) = change {
                    refused[change] = "another route to \(route.destination) exists and is left alone"
                } else if change.isOptional {
                    refused[change] = "\(error)"
                } else if error.refusal != EEXIST {
                    throw error
                }
            }
        }
        if !isUp { try kernel.route.setUp(link) }
        return count
    }

    /// Undoes changes that the plan no longer asks for, the last one first.
    private mutating func undoObsolete(
        _ desired: [HostChange], _ kernel: inout HostKernel
    ) throws(HostError) -> Int {
        let wanted = Set(desired)
        let hasMarks = desired.contains { $0.isPacketMarks }
        let obsolete = journal.changes.filter { change in
            if wanted.contains(change) { return false }
            switch change {
            case .interface: return false
            // The new table has the name of the old one and stands in its place.
            case .packetMarks: return !hasMarks
            default: return true
            }
        }
        let present = try kernel.survey(obsolete)
        for change in obsolete.reversed() where present.contains(change) { try kernel.undo(change) }
        try journal.keep(journal.changes.filter { !obsolete.contains($0) })
        return obsolete.count
    }

    /// Undoes everything in the journal, or all but the interface.
    ///
    /// What fails stays in the journal for the next start.
    ///
    /// - Returns: What failed, in words.
    @discardableResult
    mutating func undoAll(keepingInterface: Bool) -> [String] {
        var left: [HostChange] = []
        var words: [String] = []
        do throws(HostError) {
            var kernel = try HostKernel()
            for change in journal.changes.reversed() {
                if keepingInterface, case .interface = change {
                    left.insert(change, at: 0)
                    continue
                }
                do throws(HostError) {
                    if try kernel.survey([change]).contains(change) { try kernel.undo(change) }
                } catch {
                    left.insert(change, at: 0)
                    words.append("cannot undo: \(error)")
                }
            }
            try journal.keep(left)
        } catch {
            words.append("cannot undo: \(error)")
        }
        refused = [:]
        interfaceIndex = nil
        return words
    }

    /// The plan as changes, in the order in which they are made.
    private mutating func desiredChanges(
        _ plan: HostPlan, _ link: LinkRecord, _ kernel: inout HostKernel
    ) throws(HostError) -> [HostChange] {
        var changes: [HostChange] = [.interface(name: link.name, index: link.index)]
        changes += try reversePathChanges(plan, link, &kernel)
        changes += plan.addresses.map {
            .address(AddressRecord(interfaceIndex: link.index, address: $0))
        }
        let routes = plan.routes.map { $0.record(interfaceIndex: link.index) }
        changes += routes.map { .route($0) }
        changes += plan.rules.map { .rule($0) }
        return changes.filter { refused[$0] == nil }
    }

    /// Whether notifications may tell of a change to what the plan asks for.
    func isConcerned(by news: NetlinkMonitor.News) -> Bool {
        guard let plan, let interfaceIndex else { return false }
        if news.hasLost || news.filtersChanged && plan.packetMarks != nil { return true }
        return news.messages.contains { message in
            switch message.type {
            case NetlinkType.newLink, NetlinkType.deleteLink:
                return LinkRecord(message)?.index == interfaceIndex
            case NetlinkType.deleteAddress:
                return AddressRecord(message)?.interfaceIndex == interfaceIndex
            case NetlinkType.deleteRoute:
                guard let route = RouteRecord(message) else { return false }
                return route.table == HostPlan.table || route.interfaceIndex == interfaceIndex
            case NetlinkType.deleteRule: return plan.rulesIPv4 || plan.rulesIPv6
            default: return false
            }
        }
    }
}

extension HostChange {
    /// Whether the change is possible only when the tunnel's interface is up.
    fileprivate var needsInterfaceUp: Bool {
        switch self {
        case .route, .rule: true
        default: false
        }
    }

    /// Whether the change is the table of packet marks.
    fileprivate var isPacketMarks: Bool {
        if case .packetMarks = self { true } else { false }
    }

    /// Whether the tunnel works without the change on most hosts.
    fileprivate var isOptional: Bool {
        switch self {
        case .setting, .packetMarks: true
        default: false
        }
    }
}
