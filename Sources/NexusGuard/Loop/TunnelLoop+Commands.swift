// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

extension TunnelLoop {
    /// Takes on the first configuration, and opens the sockets if the interface is up.
    ///
    /// - Throws: `TunnelError`; the loop is then not to be run.
    mutating func prepare(
        _ configuration: ResolvedConfiguration?, bringsInterfaceUp: Bool
    ) throws(TunnelError) {
        if let configuration {
            requestedPort = configuration.configuration.listenPort
            firewallMark = configuration.configuration.firewallMark
            device.apply(configuration.replacement, at: BootClock.now(), into: &outbox)
            applied = configuration
        }
        if bringsInterfaceUp { try interface.bringUp() }
        guard interface.isUp else { return }
        do {
            try openTransport(port: requestedPort, firewallMark: firewallMark)
        } catch {
            throw error.error
        }
        device.setUp(true, at: BootClock.now(), into: &outbox)
        reporter.report(.interfaceUp(listenPort: boundPort))
        flush()
    }

    /// Carries out a command of another thread.
    mutating func carryOut(_ command: TunnelCommand) -> TunnelReply {
        switch command {
        case .snapshot: return .snapshot(device.snapshot(), device.drops)
        case .apply(let change): return reply(to: change)
        case .become(let configuration):
            let change = configuration.change(from: device.snapshot(), former: applied)
            let reply = reply(to: change)
            if case .done = reply { applied = configuration }
            return reply
        case .stop:
            isEnding = true
            return .done
        }
    }

    /// Applies a change, sockets first: if they refuse it, nothing of it is applied.
    private mutating func reply(to change: ConfigurationChange) -> TunnelReply {
        let port = change.listenPort ?? requestedPort
        let mark = change.firewallMark ?? firewallMark
        let isRetry = !isTransportOpen && change.listenPort != nil
        if device.isUp, port != requestedPort || mark != firewallMark || isRetry {
            // A port that the system chose is kept while none is asked for.
            let wanted = port == requestedPort && boundPort != 0 ? boundPort : port
            do {
                try openTransport(port: wanted, firewallMark: mark)
            } catch {
                reporter.log(.error, "a change is refused: \(error.error)")
                return .refused(error)
            }
        }
        // Another mark may lead through another interface.
        if mark != firewallMark { device.clearSources() }
        requestedPort = port
        firewallMark = mark
        device.apply(change, at: BootClock.now(), into: &outbox)
        flush()
        return .done
    }

    /// Takes in what became of the interface.
    mutating func followLink() {
        do {
            try takeLinkChanges()
        } catch {
            endInterface(error)
            return
        }
        if interface.mtu != device.mtu {
            device.mtu = interface.mtu
            reporter.report(.mtuChanged(interface.mtu))
        }
        guard interface.isUp != device.isUp else { return }
        if interface.isUp {
            do {
                try openTransport(port: requestedPort, firewallMark: firewallMark)
                reporter.report(.interfaceUp(listenPort: boundPort))
            } catch {
                reporter.report(.transportFailed(error.error.description))
            }
            device.setUp(true, at: BootClock.now(), into: &outbox)
            flush()
        } else {
            device.setUp(false, at: BootClock.now(), into: &outbox)
            flush()
            closeTransport()
            reporter.report(.interfaceDown)
        }
    }

    /// Ends the loop because no packet will come any more.
    mutating func endInterface(_ error: PacketInterfaceError) {
        isEnding = true
        switch error {
        case .removed: reporter.report(.interfaceRemoved)
        case .failed: reporter.log(.error, error.description)
        }
    }

    /// Gives back what outlives the loop; to be called when it has ended.
    mutating func finish() {
        if let highest = device.timestampFloor { keeper?.release(after: highest) }
        closeTransport()
    }
}
