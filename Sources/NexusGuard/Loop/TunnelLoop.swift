// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

/// The one thread of a tunnel: it owns the device and moves packets between the interface and the network.
///
/// It waits for both of them, for commands, for changes of the interface, and for the device's next
/// deadline; while nothing happens it makes no system call.
struct TunnelLoop: ~Copyable {
    /// What has something to give, as far as the loop knows.
    struct Sources: OptionSet {
        let rawValue: UInt8

        /// The interface has packets.
        static let interface = Sources(rawValue: 1)
        /// The network has datagrams.
        static let network = Sources(rawValue: 2)
        /// Other threads have commands.
        static let commands = Sources(rawValue: 4)
        /// The interface has changed.
        static let link = Sources(rawValue: 8)
    }

    var device: Device
    var outbox = Outbox()
    var outbound = OutboundBatch(
        slotCapacity: EngineBudget.slotCount, byteCapacity: EngineBudget.batchByteCount)
    var inbound = InboundBatch(
        slotCapacity: EngineBudget.slotCount, byteCapacity: EngineBudget.batchByteCount)
    let interface: any LoopInterface
    let transport: any LoopTransport
    let reporter: TunnelReporter
    var keeper: TimestampKeeper?
    /// The descriptors of the transport that are waited for.
    var transportDescriptors: [Int32] = []
    /// Whether the transport is open.
    var isTransportOpen = false
    /// The port that is open, or 0.
    var boundPort: UInt16 = 0
    /// The port that was asked for; 0 lets the system choose.
    var requestedPort: UInt16 = 0
    /// The mark that was asked for; 0 is none.
    var firewallMark: UInt32 = 0
    /// The configuration that was applied as a whole, if one was.
    var applied: ResolvedConfiguration?
    /// What has something to give.
    var ready: Sources = []
    /// Whether the loop ends at the next turn.
    var isEnding = false
    /// What a wait takes at the least that was no mere look at what is ready, in nanoseconds.
    private static let shortestRest: Int64 = 20_000
    private let epoll: Epoll
    private var limiter = WakeLimiter()
    private var yielding = YieldGuard()
    /// The packets of the interface since the loop last came to rest.
    var turnPacketCount = 0
    /// What has not been looked at since the loop woke from a real rest: the packet that woke it moves on before
    /// the loop looks for a second one.
    var unseen: Sources = []
    /// Whether the present turn began with that.
    private var looksOnce = false
    /// The packets of both ways that the loop has moved or refused.
    var packetCount: UInt64 = 0
    /// Present while the loop may run ahead of other programs.
    private var priority: PriorityGuard?

    /// Prepares a loop; nothing is open yet.
    ///
    /// - Parameter bell: Rings when there are commands.
    /// - Throws: `SystemCallError`.
    init(
        interface: any LoopInterface, transport: any LoopTransport, reporter: TunnelReporter,
        keeper: consuming TimestampKeeper?, bell: borrowing EventFD
    ) throws(SystemCallError) {
        let epoll = try Epoll()
        try epoll.add(bell.descriptor, for: .readable, token: UInt64(Sources.commands.rawValue))
        try epoll.add(interface.descriptor, for: .readable, token: UInt64(Sources.interface.rawValue))
        if let link = interface.linkDescriptor {
            try epoll.add(link, for: .readable, token: UInt64(Sources.link.rawValue))
        }
        device = Device(
            random: SystemRandomSource(), wallClock: SystemWallClock.now, mtu: interface.mtu)
        device.timestampFloor = keeper?.floor
        self.interface = interface
        self.transport = transport
        self.reporter = reporter
        self.keeper = keeper
        self.epoll = epoll
    }

    /// Runs until a command or the end of the interface ends it.
    mutating func run(
        _ mailbox: CommandMailbox<TunnelCommand, TunnelReply>, bell: borrowing EventFD,
        scheduling: TunnelOptions.Scheduling
    ) {
        if scheduling == .ahead { allowAhead() }
        while !isEnding {
            do {
                try wait()
            } catch {
                reporter.log(.error, "the tunnel can not wait for packets: \(error)")
                return
            }
            if ready.contains(.commands) {
                ready.remove(.commands)
                bell.silence()
                mailbox.answerAll { carryOut($0) }
            }
            if ready.contains(.link) {
                ready.remove(.link)
                followLink()
            }
            movePackets()
            expireTimers()
        }
    }

    /// Waits until something is ready or a timer is due; only looks while something is ready.
    private mutating func wait() throws(SystemCallError) {
        let isResting = ready.isEmpty
        let now = BootClock.now()
        let pause = isResting ? limiter.pause(at: now) : 0
        followPriority(rests: isResting, isBusy: isResting && limiter.isBusy, at: now)
        if isResting {
            yielding.noteTurn(packetCount: turnPacketCount, endedAt: now)
            turnPacketCount = 0
        }
        if pause > 0 { ThreadSchedule.sleep(nanoseconds: pause) }
        let count = try epoll.wait(until: isResting ? device.nextDeadline : Instant(nanoseconds: 0))
        for index in 0..<count {
            ready.insert(Sources(rawValue: UInt8(truncatingIfNeeded: epoll.event(index).token)))
        }
        if isResting { startTurn(after: now) }
    }

    /// Takes in that the loop has woken.
    ///
    /// - Parameter rest: When it began to wait.
    private mutating func startTurn(after rest: Instant) {
        let now = BootClock.now()
        let isSecondLook = looksOnce && now.nanoseconds - rest.nanoseconds < Self.shortestRest
        unseen = []
        looksOnce = false
        // It belongs to the wake before it.
        if isSecondLook { return }
        limiter.noteWake(at: now)
        guard !limiter.isBusy else { return }
        looksOnce = true
        unseen = [.interface, .network]
        // A thread ahead of the others yields to none of them.
        let isAhead = priority?.isAhead ?? false
        guard ready == .interface, !isAhead, yielding.allowsYield(at: now) else { return }
        yielding.noteYield(at: now)
        ThreadSchedule.yield()
    }

    /// Lets the thread run ahead of other programs when it is busy, where the system allows that.
    private mutating func allowAhead() {
        do {
            // Tried once here, so that a busy loop does not try in vain.
            try ThreadSchedule.setAhead(true)
            try ThreadSchedule.setAhead(false)
            priority = PriorityGuard(hasOtherProcessors: ThreadSchedule.processorCount > 1)
        } catch {
            reporter.log(.debug, "packets wait in line with other programs: \(error)")
        }
    }

    /// Schedules the thread as its guard says, if that has changed.
    private mutating func followPriority(rests: Bool, isBusy: Bool, at now: Instant) {
        guard var present = priority else { return }
        let hasChanged = present.note(rests: rests, isBusy: isBusy, at: now) {
            PriorityGuard.Work(packetCount: packetCount, refusedCount: device.drops.total)
        }
        priority = present
        guard hasChanged else { return }
        do {
            try ThreadSchedule.setAhead(present.isAhead)
        } catch {
            // A permission that was taken away meanwhile: the thread stays as it is.
            priority = nil
        }
    }

    /// Moves a batch each way in turns, so that neither way has to wait for the other to fall silent.
    private mutating func movePackets() {
        for _ in 0..<EngineBudget.roundsPerWake where !isEnding {
            guard !ready.isEmpty else { return }
            if ready.contains(.network) { receive() }
            if ready.contains(.interface) { send() }
        }
    }

    /// Lets the device do what is due.
    private mutating func expireTimers() {
        guard let deadline = device.nextDeadline else { return }
        let now = BootClock.now()
        guard deadline <= now else { return }
        device.expireTimers(at: now, into: &outbox)
        flush()
    }

    /// Takes in what became of the interface, and waits for changes where it is now.
    mutating func takeLinkChanges() throws(PacketInterfaceError) {
        let former = interface.linkDescriptor
        try interface.takeLinkChanges()
        // A former descriptor is closed, and with that out of the set.
        if let link = interface.linkDescriptor, link != former {
            _ = try? epoll.add(link, for: .readable, token: UInt64(Sources.link.rawValue))
        }
    }

    /// Opens the transport, or moves it to another port or mark, and waits for its descriptors.
    mutating func openTransport(port: UInt16, firewallMark: UInt32) throws(TransportRefusal) {
        // Taken out of the set first, because the transport may close them.
        for descriptor in transportDescriptors { _ = try? epoll.remove(descriptor) }
        defer {
            transportDescriptors = []
            for descriptor in transport.descriptors
            where (try? epoll.add(descriptor, for: .readable, token: UInt64(Sources.network.rawValue))) != nil
            {
                transportDescriptors.append(descriptor)
            }
        }
        boundPort = try transport.open(port: port, firewallMark: firewallMark)
        isTransportOpen = true
        device.noteSocketPort(boundPort)
    }

    /// Closes the transport.
    mutating func closeTransport() {
        for descriptor in transportDescriptors { _ = try? epoll.remove(descriptor) }
        transportDescriptors = []
        transport.close()
        isTransportOpen = false
        boundPort = 0
        device.noteSocketPort(0)
        ready.remove(.network)
    }
}
