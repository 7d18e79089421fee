// SPDX-License-Identifier: MIT

internal import Glibc
internal import Synchronization
internal import WireGuardConfiguration
internal import WireGuardCrypto
internal import WireGuardProtocol

/// A tunnel from its start to its end: the loop's thread, the control socket's thread, and the way to both.
final class TunnelRun: Sendable {
    /// What a tunnel is started with; used up by it.
    struct Parts {
        var interface: any LoopInterface
        var transport: any LoopTransport
        var configuration: ResolvedConfiguration?
        var bringsInterfaceUp: Bool
        var controlSocket: UAPISocket?
        var timestampFile: String?
        var scheduling: TunnelOptions.Scheduling
    }

    /// Hands the loop to its thread, which then owns it alone.
    private final class LoopBox: @unchecked Sendable {
        var loop: TunnelLoop?

        init(_ loop: consuming TunnelLoop) {
            self.loop = consume loop
        }
    }

    private let mailbox: CommandMailbox<TunnelCommand, TunnelReply>
    private let end: SharedBell
    private let reporter: TunnelReporter
    private let hasEndedFlag = Atomic(false)

    /// Opens what the tunnel needs and starts its threads.
    ///
    /// - Throws: `TunnelError`; all is closed then.
    init(_ parts: consuming Parts, reporter: TunnelReporter) throws(TunnelError) {
        let (bell, end): (SharedBell, SharedBell)
        var loop: TunnelLoop
        do throws(SystemCallError) {
            bell = try SharedBell()
            end = try SharedBell()
            let keeper = parts.timestampFile.map { path in
                TimestampKeeper(path: path) { reporter.log(.debug, $0) }
            }
            loop = try TunnelLoop(
                interface: parts.interface, transport: parts.transport, reporter: reporter, keeper: keeper,
                bell: bell.event)
        } catch {
            throw .outOfResources(reason: error.description)
        }
        let mailbox = CommandMailbox<TunnelCommand, TunnelReply> { bell.event.ring() }
        self.mailbox = mailbox
        self.end = end
        self.reporter = reporter
        // Chosen here, where a self-test of the code holds up no packet.
        reporter.log(.debug, "packets are sealed and opened by \(PacketAEAD.implementation.rawValue)")
        try loop.prepare(parts.configuration, bringsInterfaceUp: parts.bringsInterfaceUp)
        let box = LoopBox(loop)
        let operations = Self.operations(mailbox, reporter)
        let socket = parts.controlSocket
        let scheduling = parts.scheduling
        do throws(SystemCallError) {
            var server: UAPISocketServer?
            if let socket { server = try UAPISocketServer(socket, operations: operations) }
            do throws(SystemCallError) {
                _ = try WorkerThread(name: "nexusguard") { [server, self] in
                    mailbox.adopt()
                    box.loop?.run(mailbox, bell: bell.event, scheduling: scheduling)
                    self.conclude(box, server)
                }
            } catch {
                mailbox.close()
                server?.stop()
                throw error
            }
        } catch {
            throw .outOfResources(reason: error.description)
        }
    }

    /// Ends everything, in the order in which nobody waits for somebody who is gone. On the loop's thread.
    private func conclude(_ box: LoopBox, _ server: UAPISocketServer?) {
        // First, so that no client of the control socket waits for an answer.
        mailbox.close()
        server?.stop()
        box.loop?.finish()
        box.loop = nil
        hasEndedFlag.store(true, ordering: .releasing)
        reporter.report(.stopped)
        reporter.finish()
        end.event.ring()
    }

    /// Whether the tunnel has ended.
    var hasEnded: Bool { hasEndedFlag.load(ordering: .acquiring) }

    /// Has the loop carry out a command.
    ///
    /// - Throws: `TunnelError.notRunning`, `.calledFromHandler`, or what the loop refused the command with.
    func call(_ command: TunnelCommand) throws(TunnelError) -> TunnelReply {
        let reply: TunnelReply
        do {
            reply = try mailbox.call(command)
        } catch {
            throw error == .ended ? .notRunning : .calledFromHandler
        }
        if case .refused(let refusal) = reply { throw refusal.error }
        return reply
    }

    /// Ends the tunnel, and waits for that unless a thread of the tunnel itself calls.
    func stop() {
        // Refused when the loop has ended or is about to, which is what is asked for.
        _ = try? mailbox.post(.stop)
        waitUntilEnded()
    }

    /// Waits for the end of the tunnel, or for the descriptor; returns at once on a thread of the tunnel.
    func waitUntilEnded(or descriptor: Int32 = -1) {
        if mailbox.isOwnedByCaller || reporter.isInHandler { return }
        end.wait(or: descriptor)
    }

    /// What the control socket may ask for.
    private static func operations(
        _ mailbox: CommandMailbox<TunnelCommand, TunnelReply>, _ reporter: TunnelReporter
    ) -> UAPIOperations {
        UAPIOperations(
            get: {
                guard case .snapshot(let snapshot, _)? = try? mailbox.call(.snapshot) else {
                    return .refused(.inputOutput)
                }
                return .snapshot(snapshot)
            },
            apply: { change in
                switch try? mailbox.call(.apply(change)) {
                case .done?: return .success
                case .refused(let refusal)?: return UAPIStatus(errno: refusal.errno)
                case .snapshot?, nil: return .inputOutput
                }
            },
            note: { reporter.log(.error, $0) },
            end: { _ = try? mailbox.post(.stop) })
    }
}
