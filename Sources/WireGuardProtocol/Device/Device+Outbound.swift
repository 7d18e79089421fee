// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

extension Device {
    /// Finds the peer, key and counter of each packet from the tunnel interface.
    ///
    /// Packets without a key are copied to wait for one, and a handshake starts. Afterwards each packet is
    /// either `planned`, or `finished` and, unless it waits, counted in `drops`.
    package mutating func planOutbound(
        _ batch: inout PacketBatch, at now: Instant, into outbox: inout Outbox
    ) {
        var run = OutboundRun()
        for index in 0..<batch.count where unsafe batch.slots[index].state == .fresh {
            if let reason = plan(index, of: &batch, &run, at: now, into: &outbox) {
                drops.count(reason)
                unsafe batch.slots[index].state = .finished
            }
        }
    }

    /// What a packet has in common with the one before it in the batch, so that it is not found out anew.
    private struct OutboundRun {
        var route = RouteMemory()
        /// The peer of the last planned packet, and where that peer's path is in the batch.
        var peer: UInt32?
        var path = 0
    }

    /// Plans one packet, or says why it is dropped.
    private mutating func plan(
        _ index: Int, of batch: inout PacketBatch, _ run: inout OutboundRun, at now: Instant,
        into outbox: inout Outbox
    ) -> DropReason? {
        let slot = unsafe batch.slots + index
        let data = unsafe slot.pointee.data
        let byteCount = unsafe slot.pointee.byteCount
        guard let header = unsafe IPPacket.header(of: data, byteCount: byteCount),
            header.byteCount == byteCount
        else { return .malformedPacket }
        let destination = unsafe IPPacket.destination(of: data, isIPv6: header.isIPv6)
        guard let number = unsafe run.route.lookup(destination, isIPv6: header.isIPv6, in: allowedIPs) else {
            return .noRoute
        }
        guard isUp, identity != nil else { return .notReady }
        guard peers[number].path != nil else { return .noEndpoint }
        guard let keypair = unsafe peers[number].sendingKeypair(at: now) else {
            let packet = unsafe UnsafeRawBufferPointer(start: data, count: byteCount)
            let reason = unsafe stage(packet, congestion: header.congestion, for: number)
            unsafe slot.pointee.state = .finished
            sendInitiation(to: number, isRetry: false, at: now, into: &outbox)
            return reason
        }
        let padded = Padding.paddedByteCount(byteCount, mtu: mtu)
        unsafe (data + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: padded - byteCount)
        unsafe slot.pointee.byteCount = padded
        unsafe slot.pointee.key = unsafe UnsafeRawPointer(keypair.pointee.sendKey.pointer)
        unsafe slot.pointee.counter = unsafe keypair.pointee.takeCounter()
        unsafe slot.pointee.receiverIndex = unsafe keypair.pointee.remoteIndex
        unsafe slot.pointee.peer = number
        if run.peer != number, let path = peers[number].path {
            run.path = batch.addPath(path)
            run.peer = number
        }
        unsafe slot.pointee.path = run.path
        unsafe slot.pointee.congestion = header.congestion
        unsafe slot.pointee.state = .planned
        return nil
    }

    /// Reports the sealed packets to the peers' timers and counters, run by run of the same peer.
    package mutating func commitOutbound(
        _ batch: inout PacketBatch, at now: Instant, into outbox: inout Outbox
    ) {
        var index = 0
        while index < batch.count {
            guard unsafe batch.slots[index].state == .ready else {
                index += 1
                continue
            }
            let number = unsafe batch.slots[index].peer
            var byteCount: UInt64 = 0
            while index < batch.count {
                let state = unsafe batch.slots[index].state
                if state == .ready {
                    guard unsafe batch.slots[index].peer == number else { break }
                    byteCount += unsafe UInt64(batch.slots[index].byteCount + 32)
                }
                index += 1
            }
            noteSent(number, byteCount: byteCount, holdsData: true, at: now, into: &outbox)
        }
    }

    /// Tells a peer's timers and counters that sealed packets leave, and renews a keypair that is due.
    private mutating func noteSent(
        _ number: UInt32, byteCount: UInt64, holdsData: Bool, at now: Instant, into outbox: inout Outbox
    ) {
        peers[number].sentByteCount &+= byteCount
        peers[number].timers.noteAuthenticatedPacketTraversal(at: now)
        peers[number].timers.noteAuthenticatedPacketSent()
        if holdsData, peers[number].timers.wantsJitterForDataSent {
            peers[number].timers.noteDataSent(at: now, jitter: jitter.next())
        }
        if let keypair = unsafe peers[number].keypairs.current,
            unsafe keypair.pointee.needsRekeyAfterSending(at: now)
        {
            sendInitiation(to: number, isRetry: false, at: now, into: &outbox)
        }
        schedule(number)
    }

    /// Copies a packet to wait for a handshake; when the queue is full the oldest packet goes.
    ///
    /// - Returns: Why a packet was dropped, if one was.
    private mutating func stage(
        _ packet: UnsafeRawBufferPointer, congestion: UInt8, for number: UInt32
    ) -> DropReason? {
        guard stagedByteCount + packet.count <= Self.stagedByteLimit else { return .stagedQueueFull }
        var reason: DropReason?
        if peers[number].staged.count == ProtocolConstants.stagedPacketLimit {
            let before = peers[number].staged.byteCount
            peers[number].staged.removeFirst()
            stagedByteCount -= before - peers[number].staged.byteCount
            reason = .stagedQueueFull
        }
        unsafe peers[number].staged.append(packet, congestion: congestion)
        stagedByteCount += packet.count
        return reason
    }

    /// Sends the packets that waited for keys.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    mutating func flushStaged(_ number: UInt32, at now: Instant, into outbox: inout Outbox) -> Bool {
        guard !peers[number].staged.isEmpty, let path = peers[number].path,
            let keypair = unsafe peers[number].sendingKeypair(at: now)
        else { return false }
        stagedByteCount -= peers[number].staged.byteCount
        var byteCount: UInt64 = 0
        var dropped: UInt64 = 0
        let mtu = mtu
        unsafe peers[number].staged.drain { packet, congestion in
            guard unsafe keypair.pointee.canSend(at: now) else {
                dropped += 1
                return
            }
            byteCount += unsafe Self.seal(
                packet, on: keypair, mtu: mtu, to: path, peer: number, trafficClass: congestion, into: &outbox
            )
        }
        drops.count(.handshakeGivenUp, dropped)
        noteSent(number, byteCount: byteCount, holdsData: true, at: now, into: &outbox)
        return true
    }

    /// Sends what waits, or else an empty packet; without keys a handshake starts.
    mutating func sendKeepalive(to number: UInt32, at now: Instant, into outbox: inout Outbox) {
        guard isUp, let path = peers[number].path else { return }
        guard let keypair = unsafe peers[number].sendingKeypair(at: now) else {
            sendInitiation(to: number, isRetry: false, at: now, into: &outbox)
            return
        }
        if flushStaged(number, at: now, into: &outbox) { return }
        let byteCount = unsafe Self.seal(
            UnsafeRawBufferPointer(start: nil, count: 0), on: keypair, mtu: mtu, to: path, peer: number,
            trafficClass: 0, into: &outbox)
        noteSent(number, byteCount: byteCount, holdsData: false, at: now, into: &outbox)
    }

    /// Seals one packet into the outbox.
    ///
    /// - Returns: The size of the datagram.
    private static func seal(
        _ packet: UnsafeRawBufferPointer, on keypair: UnsafeMutablePointer<Keypair>, mtu: Int,
        to path: DatagramPath, peer: UInt32, trafficClass: UInt8, into outbox: inout Outbox
    ) -> UInt64 {
        let padded = Padding.paddedByteCount(packet.count, mtu: mtu)
        let counter = unsafe keypair.pointee.takeCounter()
        unsafe outbox.send(byteCount: padded + 32, to: path, peer: peer, trafficClass: trafficClass) {
            start in
            let data = unsafe start + 16
            unsafe data.initializeMemory(as: UInt8.self, repeating: 0, count: padded)
            if let bytes = packet.baseAddress { unsafe data.copyMemory(from: bytes, byteCount: packet.count) }
            var job = unsafe PacketAEADJob(
                key: UnsafeRawPointer(keypair.pointee.sendKey.pointer), source: UnsafeRawPointer(data),
                destination: data, counter: counter, byteCount: padded)
            unsafe withUnsafeMutablePointer(to: &job) { job in
                unsafe PacketAEAD.seal(UnsafeMutableBufferPointer(start: job, count: 1))
            }
            let header = unsafe TransportData(receiverIndex: keypair.pointee.remoteIndex, counter: counter)
            unsafe header.writeHeader(into: start)
        }
        return UInt64(padded + 32)
    }
}
