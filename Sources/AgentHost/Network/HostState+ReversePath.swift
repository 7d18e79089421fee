// SPDX-License-Identifier: MIT

extension HostState {
    private static let settingOfMarks = "/proc/sys/net/ipv4/conf/all/src_valid_mark"
    private static let settingOfReversePath = "/proc/sys/net/ipv4/conf/all/rp_filter"

    /// What keeps the reverse-path filter from dropping the answers to marked packets.
    func reversePathChanges(
        _ plan: HostPlan, _ link: LinkRecord, _ kernel: inout HostKernel
    ) throws(HostError) -> [HostChange] {
        guard let marks = plan.packetMarks else { return [] }
        var changes: [HostChange] = []
        if plan.rulesIPv4, let setting = setting(Self.settingOfMarks, "1") { changes.append(setting) }
        if canMarkPackets { changes.append(.packetMarks(marks)) }
        // Where marks can not be given back, a strict filter must become a loose one.
        let hasMarks = canMarkPackets && !changes.contains { refused[$0] != nil }
        if plan.rulesIPv4, !hasMarks, try isStrict(link, &kernel),
            let setting = setting(Self.settingOfReversePath, "2")
        {
            changes.append(setting)
        }
        return changes
    }

    /// The change of a setting; `nil` when somebody else has set it so already.
    private func setting(_ path: String, _ value: String) -> HostChange? {
        for change in journal.changes {
            if case .setting(path, _, value) = change { return change }
        }
        guard let former = Setting.read(path), former != value else { return nil }
        return .setting(path: path, former: former, value: value)
    }

    /// Whether the reverse-path filter is strict on an interface other than ours, or was before we changed it.
    private func isStrict(_ link: LinkRecord, _ kernel: inout HostKernel) throws(HostError) -> Bool {
        let all = Setting.read(Self.settingOfReversePath).flatMap { Int($0) } ?? 0
        for other in try kernel.route.links() where other.index != link.index && !other.isLoopback {
            let path = "/proc/sys/net/ipv4/conf/\(other.name)/rp_filter"
            let own = Setting.read(path).flatMap { Int($0) } ?? 0
            // The larger of the two counts.
            if max(all, own) == 1 { return true }
        }
        return journal.changes.contains {
            if case .setting(Self.settingOfReversePath, _, _) = $0 { true } else { false }
        }
    }
}
