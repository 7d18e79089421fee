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
                reason = unsafe receiveControl(
                    message, path: batch.path(slot.pointee.path), at: now, into: &outbox)
            case .ready:
                reason = unsafe receiveData(slot, path: batch.path(slot.pointee.path), at: now, into: &outbox)
            case .fresh, .finished:
                continue
            }
            if let reason {
                drops.count(reason)
                unsafe slot.pointee.state = .finished
            }
        }
    }

    /// Accepts one authentic packet, or says why it is dropped.
    private mutating func receiveData(
        _ slot: UnsafeMutablePointer<PacketSlot>, path: DatagramPath, at now: Instant,
        into outbox: inout Outbox
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
        let datagramByteCount = unsafe UInt64(slot.pointee.datagramByteCount)
        guard unsafe slot.pointee.byteCount > 0 else {
            peers[number].receivedByteCount &+= datagramByteCount
            unsafe slot.pointee.state = .finished
            schedule(number)
            return nil
        }
        peers[number].timers.noteDataReceived(at: now)
        schedule(number)
        let reason = unsafe judge(slot, from: number)
        if reason == nil { peers[number].receivedByteCount &+= datagramByteCount }
        return reason
    }

    /// Trims the padding and checks that the inner packet may come from this peer.
    private func judge(_ slot: UnsafeMutablePointer<PacketSlot>, from number: UInt32) -> DropReason? {
        let data = unsafe slot.pointee.data
        guard let header = unsafe IPPacket.header(of: data, byteCount: slot.pointee.byteCount) else {
            return .malformedInnerPacket
        }
        // By longest match over all peers: a peer with a wider prefix must not speak for one with a narrower.
        let owner =
            header.isIPv6
            ? unsafe allowedIPs.lookup(ipv6: IPPacket.source(of: data, isIPv6: true))
            : unsafe allowedIPs.lookup(ipv4: IPPacket.source(of: data, isIPv6: false))
        guard owner == number else { return .disallowedSource }
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
