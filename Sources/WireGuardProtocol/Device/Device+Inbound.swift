// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

extension Device {
    /// Sorts the datagrams from the network and finds the keys of transport data.
    ///
    /// Handshake messages become `control` and wait for `commitInbound`: handled now, they could release a
    /// keypair whose key an earlier packet of the batch is to be opened with.
    package mutating func planInbound(
        _ batch: inout PacketBatch, at now: Instant, into outbox: inout Outbox
    ) {
        for index in 0..<batch.count where unsafe batch.slots[index].state == .fresh {
            if let reason = unsafe plan(batch.slots + index, at: now) {
                drops.count(reason)
                unsafe batch.slots[index].state = .finished
            }
        }
    }

    /// Plans one datagram, or says why it is dropped.
    private func plan(_ slot: UnsafeMutablePointer<PacketSlot>, at now: Instant) -> DropReason? {
        let datagram = unsafe UnsafeRawBufferPointer(
            start: slot.pointee.datagram, count: slot.pointee.datagramByteCount)
        guard let kind = unsafe MessageKind.of(datagram) else { return .malformedDatagram }
        guard kind == .transportData else {
            unsafe slot.pointee.state = .control
            return nil
        }
        let header = unsafe TransportData(checked: datagram)
        guard let entry = indices.entry(for: header.receiverIndex),
            entry.kind == IndexKind.keypair,
            let keypair = unsafe peers[entry.peer].keypairs.keypair(localIndex: header.receiverIndex)
        else { return .unknownReceiverIndex }
        guard header.counter < ProtocolConstants.rejectAfterMessages,
            unsafe !keypair.pointee.isExpired(at: now)
        else {
            return .expiredKeypair
        }
        unsafe slot.pointee.peer = entry.peer
        unsafe slot.pointee.receiverIndex = header.receiverIndex
        unsafe slot.pointee.counter = header.counter
        unsafe slot.pointee.key = unsafe UnsafeRawPointer(keypair.pointee.receiveKey.pointer)
        unsafe slot.pointee.byteCount = datagram.count - TransportData.minimumByteCount
        unsafe slot.pointee.state = .planned
        return nil
    }

    /// Judges the opened packets in order and handles the handshake messages among them.
    ///
    /// Afterwards each packet is either `ready`, an inner packet for the tunnel interface, or `finished`.
    package mutating func commitInbound(
        _ batch: inout PacketBatch, at now: Instant, into outbox: inout Outbox
    ) {
        var run = InboundRun()
        for index in 0..<batch.count {
            let slot = unsafe batch.slots + index
            let reason: DropReason?
            switch unsafe slot.pointee.state {
            case .planned:
                reason = .authenticationFailed
            case .control:
                let message = unsafe UnsafeRawBufferPointer(
                    start: slot.pointee.datagram, count: slot.pointee.datagramByteCount)
                unsafe slot.pointee.state = .finished
                // It may release the run's keypair, or move the peer to another path.
                run.end()
                reason = unsafe receiveControl(
                    message, path: batch.path(slot.pointee.path), at: now, into: &outbox)
            case .ready:
                if unsafe !run.continues(with: slot) {
                    run.end()
                    reason = unsafe receiveFirst(
                        slot, &run, path: batch.path(slot.pointee.path), at: now, into: &outbox)
                } else if unsafe run.accept(slot.pointee.counter) {
                    reason = unsafe deliver(slot, &run, at: now)
                } else {
                    reason = .replayedCounter
                }
            case .fresh, .finished:
                continue
            }
            if let reason {
                drops.count(reason)
                unsafe slot.pointee.state = .finished
            }
        }
    }

    /// Accepts an authentic packet that differs from the one before in peer, keypair or path.
    ///
    /// What is done here for the first packet of a run holds for all of it: `now` is the same.
    private mutating func receiveFirst(
        _ slot: UnsafeMutablePointer<PacketSlot>, _ run: inout InboundRun, path: DatagramPath,
        at now: Instant, into outbox: inout Outbox
    ) -> DropReason? {
        let number = unsafe slot.pointee.peer
        let receiverIndex = unsafe slot.pointee.receiverIndex
        // A handshake message earlier in the batch may have released the keypair, or the peer's removal.
        guard peers.contains(number),
            let keypair = unsafe peers[number].keypairs.keypair(localIndex: receiverIndex)
        else { return .expiredKeypair }
        guard unsafe keypair.pointee.window.accept(slot.pointee.counter) else { return .replayedCounter }

        roam(number, to: path, into: &outbox)
        confirm(number, receiverIndex: receiverIndex, at: now, into: &outbox)
        if unsafe keypair.pointee.needsRekeyAfterReceiving(at: now), !peers[number].askedForRekeyOnReceive,
            unsafe peers[number].keypairs.current == keypair
        {
            peers[number].askedForRekeyOnReceive = true
            sendInitiation(to: number, isRetry: false, at: now, into: &outbox)
        }
        peers[number].timers.noteAuthenticatedPacketReceived()
        peers[number].timers.noteAuthenticatedPacketTraversal(at: now)
        // Data moves another deadline, and schedules both.
        if unsafe slot.pointee.byteCount == 0 { schedule(number) }
        unsafe run.begin(with: slot, keypair)
        return unsafe deliver(slot, &run, at: now)
    }

    /// Counts an accepted packet and, unless it is a keepalive, judges what is in it.
    private mutating func deliver(
        _ slot: UnsafeMutablePointer<PacketSlot>, _ run: inout InboundRun, at now: Instant
    ) -> DropReason? {
        let number = unsafe slot.pointee.peer
        if unsafe slot.pointee.byteCount == 0 {
            unsafe slot.pointee.state = .finished
        } else {
            if !run.holdsData {
                run.holdsData = true
                peers[number].timers.noteDataReceived(at: now)
                schedule(number)
            }
            if let reason = unsafe judge(slot, &run, from: number) { return reason }
        }
        peers[number].receivedByteCount &+= unsafe UInt64(slot.pointee.datagramByteCount)
        return nil
    }

    /// Trims the padding and checks that the inner packet may come from this peer.
    private func judge(
        _ slot: UnsafeMutablePointer<PacketSlot>, _ run: inout InboundRun, from number: UInt32
    ) -> DropReason? {
        let data = unsafe slot.pointee.data
        guard let header = unsafe IPPacket.header(of: data, byteCount: slot.pointee.byteCount) else {
            return .malformedInnerPacket
        }
        // By longest match over all peers: a peer with a wider prefix must not speak for one with a narrower.
        let source = unsafe IPPacket.source(of: data, isIPv6: header.isIPv6)
        guard unsafe run.route.lookup(source, isIPv6: header.isIPv6, in: allowedIPs) == number else {
            return .disallowedSource
        }
        guard unsafe IPPacket.applyOuterCongestion(slot.pointee.congestion, to: data, isIPv6: header.isIPv6)
        else { return .congestionNotCapable }
        unsafe slot.pointee.byteCount = header.byteCount
        return nil
    }

    /// Makes the waiting keypair the current one on the first packet that comes on it.
    private mutating func confirm(
        _ number: UInt32, receiverIndex: UInt32, at now: Instant, into outbox: inout Outbox
    ) {
        var released: UInt32?
        guard peers[number].keypairs.confirm(localIndex: receiverIndex, released: { released = $0 }) else {
            return
        }
        if let released { indices.remove(released) }
        noteHandshakeComplete(number, into: &outbox)
        flushStaged(number, at: now, into: &outbox)
    }
}
