// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

extension TunnelLoop {
    /// Moves one batch from the interface to the network.
    mutating func send() {
        outbound.packets.removeAll()
        do {
            let isFirst = unseen.remove(.interface) != nil
            if try !interface.read(into: &outbound, once: isFirst) { ready.remove(.interface) }
        } catch {
            endInterface(error)
            return
        }
        guard outbound.packets.count > 0 else { return }
        packetCount &+= UInt64(outbound.packets.count)
        turnPacketCount += outbound.packets.count
        let now = BootClock.now()
        device.planOutbound(&outbound.packets, at: now, into: &outbox)
        outbound.packets.seal()
        device.commitOutbound(&outbound.packets, at: now, into: &outbox)
        if isTransportOpen {
            // Most batches meet no problem, and then this list takes no memory.
            var problems: [(peer: UInt32, SendProblem)] = []
            transport.send(&outbound, at: now) { problems.append(($0, $1)) }
            for (peer, problem) in problems { note(problem, of: peer) }
        }
        flush()
    }

    /// Moves one batch from the network to the interface.
    mutating func receive() {
        inbound.removeAll()
        let isFirst = unseen.remove(.network) != nil
        if !transport.receive(into: &inbound, once: isFirst) { ready.remove(.network) }
        guard inbound.packets.count > 0 else { return }
        packetCount &+= UInt64(inbound.packets.count)
        let now = BootClock.now()
        device.planInbound(&inbound.packets, at: now, into: &outbox)
        inbound.packets.open()
        device.commitInbound(&inbound.packets, at: now, into: &outbox)
        let refused = interface.write(&inbound)
        if refused > 0 { device.drops.count(.writeFailed, UInt64(refused)) }
        // The kernel answers echoes and acknowledges segments within the write: what it answered leaves now and
        // not after the next pause.
        ready.insert(.interface)
        flush()
    }

    /// Sends what the device left in the outbox, and tells its events.
    mutating func flush() {
        if outbox.entries.isEmpty, outbox.events.isEmpty { return }
        if let highest = device.timestampFloor { keeper?.cover(highest) }
        if !isTransportOpen {
            device.drops.count(.sendFailed, UInt64(outbox.entries.count))
        } else if !outbox.entries.isEmpty {
            let now = BootClock.now()
            var next = 0
            while next < outbox.entries.count {
                let peer = outbox.entries[next].peer
                let (count, outcome) = transport.send(outbox, from: next, at: now)
                switch outcome {
                case .sent: break
                case .sentWithoutSource: device.clearSource(of: peer)
                case .failed: device.drops.count(.sendFailed, UInt64(count))
                }
                next += count
            }
        }
        for event in outbox.events { reporter.report(TunnelEvent(event)) }
        outbox.removeAll()
    }

    /// Takes in what a transport reported about one peer's datagrams.
    private mutating func note(_ problem: SendProblem, of peer: UInt32) {
        switch problem {
        case .sourceRefused: device.clearSource(of: peer)
        case .segmentationRefused(let destination, let errno):
            reporter.log(
                .debug,
                "segmentation is off for \(destination): \(SystemCallError(call: "sendmsg", errno: errno))")
        case .dropped(let datagramCount, _): device.drops.count(.sendFailed, UInt64(datagramCount))
        }
    }
}
