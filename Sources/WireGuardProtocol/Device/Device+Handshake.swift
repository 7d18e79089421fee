// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// What a receiver index stands for; the kind of an entry in the index table.
enum IndexKind {
    /// A handshake that this host started.
    static let handshake: UInt8 = 1
    /// A keypair.
    static let keypair: UInt8 = 2
}

extension Device {
    /// Starts a handshake, or does nothing when one message went out less than five seconds ago.
    ///
    /// - Parameter isRetry: Whether the retry deadline asks; anything else begins the 90 seconds anew.
    mutating func sendInitiation(
        to number: UInt32, isRetry: Bool, at now: Instant, into outbox: inout Outbox
    ) {
        guard isUp, let identity, let path = peers[number].path else { return }
        if !isRetry { peers[number].timers.noteHandshakeWanted(at: now) }
        if let last = peers[number].lastHandshakeSent, now - last < ProtocolConstants.rekeyTimeout {
            postponeInitiation(to: number, after: last)
            return
        }
        guard !peers[number].remote.isWeak else {
            // No handshake will ever send them.
            drops.count(.handshakeGivenUp, UInt64(peers[number].staged.count))
            purgeStaged(number)
            if !peers[number].toldWeakKey { outbox.tell(.weakPeerKey(peers[number].publicKey)) }
            peers[number].toldWeakKey = true
            return
        }
        discardHandshake(number)
        let index = indices.insertNew(.init(peer: number, kind: IndexKind.handshake), random: random)
        let timestamp = timestamps.next(at: wallClock())
        let message = UnsafeMutableRawBufferPointer.allocate(
            byteCount: HandshakeInitiation.byteCount, alignment: 16)
        defer { unsafe message.deallocate() }
        guard let start = message.baseAddress,
            let handshake = unsafe InitiatorHandshake.begin(
                local: identity, remote: peers[number].remote, ephemeral: SecretKey(randomFrom: random),
                senderIndex: index, timestamp: timestamp, into: start)
        else {
            indices.remove(index)
            return
        }
        peers[number].handshake = consume handshake
        unsafe sendHandshakeMessage(
            message, bodyByteCount: HandshakeInitiation.bodyByteCount, to: number, path: path, at: now,
            into: &outbox)
        peers[number].timers.noteInitiationSent(at: now, jitter: jitter.next())
        schedule(number)
        if !isRetry { outbox.tell(.handshakeStarted(peers[number].publicKey)) }
    }

    /// Makes sure that an initiation which came too soon after another handshake message leaves later.
    ///
    /// If that message was a response, there may be nothing else that tries again.
    private mutating func postponeInitiation(to number: UInt32, after last: Instant) {
        guard !peers[number].timers.isRetryPending else { return }
        peers[number].timers.noteInitiationPostponed(after: last, jitter: jitter.next())
        schedule(number)
    }

    /// Adds mac1 and mac2 to a message, sends it, and tells the timers.
    private mutating func sendHandshakeMessage(
        _ message: UnsafeMutableRawBufferPointer, bodyByteCount: Int, to number: UInt32, path: DatagramPath,
        at now: Instant, into outbox: inout Outbox
    ) {
        guard let start = message.baseAddress else { return }
        unsafe peers[number].writeMACs(start, bodyByteCount: bodyByteCount, at: now)
        unsafe outbox.send(
            byteCount: message.count, to: path, peer: number,
            trafficClass: ProtocolConstants.handshakeTrafficClass
        ) { target in
            unsafe target.copyMemory(from: start, byteCount: message.count)
        }
        peers[number].lastHandshakeSent = now
        peers[number].sentByteCount &+= UInt64(message.count)
        peers[number].timers.noteAuthenticatedPacketTraversal(at: now)
        peers[number].timers.noteAuthenticatedPacketSent()
    }

    /// Handles a handshake message or cookie reply.
    ///
    /// The order of the checks is the order of their cost: mac1, load and cookie, rate, and only then
    /// Diffie-Hellman.
    ///
    /// - Returns: Why it was dropped, or `nil`.
    mutating func receiveControl(
        _ message: UnsafeRawBufferPointer, path: DatagramPath, at now: Instant, into outbox: inout Outbox
    ) -> DropReason? {
        guard isUp, let identity else { return .notReady }
        guard let kind = unsafe MessageKind.of(message) else { return .malformedDatagram }
        if kind == .cookieReply { return unsafe receiveCookieReply(message, at: now) }
        guard unsafe cookieChecker.isMAC1Valid(message, local: identity) else { return .invalidMAC1 }
        let wasUnderLoad = isUnderLoad
        isUnderLoad = load.note(at: now)
        if wasUnderLoad != isUnderLoad { outbox.tell(.loadChanged(isUnderLoad: isUnderLoad)) }
        if isUnderLoad {
            guard unsafe cookieChecker.isMAC2Valid(message, from: path.remote, at: now) else {
                unsafe outbox.send(
                    byteCount: CookieReply.byteCount, to: path,
                    trafficClass: ProtocolConstants.handshakeTrafficClass
                ) { reply in
                    unsafe cookieChecker.writeReply(
                        to: message, from: path.remote, local: identity, random: random, at: now, into: reply)
                }
                return .cookieRequired
            }
            guard rateLimiter.allow(path.remote.address, at: now) else { return .rateLimited }
        }
        return kind == .handshakeInitiation
            ? unsafe receiveInitiation(message, identity, path: path, at: now, into: &outbox)
            : unsafe receiveResponse(message, identity, path: path, at: now, into: &outbox)
    }

    /// Answers a valid initiation and puts the new keypair in waiting.
    private mutating func receiveInitiation(
        _ message: UnsafeRawBufferPointer, _ identity: LocalIdentity, path: DatagramPath, at now: Instant,
        into outbox: inout Outbox
    ) -> DropReason? {
        guard var handshake = unsafe ResponderHandshake.read(initiation: message, local: identity) else {
            return .invalidHandshake
        }
        guard let number = peerNumbers[handshake.initiator] else { return .unknownPeer }
        guard let timestamp = handshake.readTimestamp(remote: peers[number].remote) else {
            return .invalidHandshake
        }
        if let latest = peers[number].latestTimestamp, timestamp <= latest {
            tellClockBehind(number, at: now, into: &outbox)
            return .replayedTimestamp
        }
        if let last = peers[number].lastInitiationAccepted, now - last < ProtocolConstants.initiationInterval
        {
            return .handshakeFlood
        }
        peers[number].latestTimestamp = timestamp
        peers[number].lastInitiationAccepted = now

        let index = indices.insertNew(.init(peer: number, kind: IndexKind.keypair), random: random)
        let reply = UnsafeMutableRawBufferPointer.allocate(
            byteCount: HandshakeResponse.byteCount, alignment: 16)
        defer { unsafe reply.deallocate() }
        guard let start = reply.baseAddress,
            let keys = unsafe handshake.respond(
                ephemeral: SecretKey(randomFrom: random), senderIndex: index,
                presharedKey: peers[number].presharedKey, into: start)
        else {
            indices.remove(index)
            return .invalidHandshake
        }
        var released: [UInt32] = []
        peers[number].keypairs.removeExpired(at: now) { released.append($0) }
        peers[number].keypairs.insertAsResponder(
            Keypair(keys, created: now, isInitiator: false), released: { released.append($0) })
        for index in released { indices.remove(index) }
        peers[number].timers.noteSessionDerived(at: now)
        noteHandshakeMessage(number, byteCount: message.count, path: path, at: now, into: &outbox)
        unsafe sendHandshakeMessage(
            reply, bodyByteCount: HandshakeResponse.bodyByteCount, to: number, path: path, at: now,
            into: &outbox)
        schedule(number)
        return nil
    }

    /// Completes the handshake that a response answers, and sends what waited for it.
    private mutating func receiveResponse(
        _ message: UnsafeRawBufferPointer, _ identity: LocalIdentity, path: DatagramPath, at now: Instant,
        into outbox: inout Outbox
    ) -> DropReason? {
        guard let index = unsafe HandshakeResponse(message)?.receiverIndex,
            let entry = indices.entry(for: index), entry.kind == IndexKind.handshake,
            peers[entry.peer].handshake?.senderIndex == index
        else { return .unknownReceiverIndex }
        let number = entry.peer
        let presharedKey = peers[number].presharedKey
        guard
            let keys = unsafe peers[number].handshake?.complete(
                response: message, local: identity, presharedKey: presharedKey)
        else { return .invalidHandshake }
        peers[number].handshake = nil
        indices.update(index, .init(peer: number, kind: IndexKind.keypair))
        var released: [UInt32] = []
        peers[number].keypairs.removeExpired(at: now) { released.append($0) }
        peers[number].keypairs.insertAsInitiator(
            Keypair(keys, created: now, isInitiator: true), released: { released.append($0) })
        for index in released { indices.remove(index) }
        peers[number].timers.noteSessionDerived(at: now)
        noteHandshakeMessage(number, byteCount: message.count, path: path, at: now, into: &outbox)
        noteHandshakeComplete(number, into: &outbox)
        // The responder may send on the keypair only after a packet on it has come, hence an empty one if
        // nothing waits.
        sendKeepalive(to: number, at: now, into: &outbox)
        schedule(number)
        return nil
    }

    /// Keeps the cookie for the next handshake message; nothing else changes, the endpoint least of all.
    private mutating func receiveCookieReply(
        _ message: UnsafeRawBufferPointer, at now: Instant
    ) -> DropReason? {
        guard let reply = unsafe CookieReply(message), let entry = indices.entry(for: reply.receiverIndex)
        else {
            return .unknownReceiverIndex
        }
        return unsafe peers[entry.peer].consumeCookieReply(message, at: now) ? nil : .invalidCookieReply
    }

    /// Tells timers and counters of an authenticated handshake message, and follows the peer to its address.
    private mutating func noteHandshakeMessage(
        _ number: UInt32, byteCount: Int, path: DatagramPath, at now: Instant, into outbox: inout Outbox
    ) {
        roam(number, to: path, into: &outbox)
        peers[number].receivedByteCount &+= UInt64(byteCount)
        peers[number].timers.noteAuthenticatedPacketReceived()
        peers[number].timers.noteAuthenticatedPacketTraversal(at: now)
    }

    /// Notes that a keypair is confirmed.
    mutating func noteHandshakeComplete(_ number: UInt32, into outbox: inout Outbox) {
        peers[number].timers.noteHandshakeComplete()
        peers[number].askedForRekeyOnReceive = false
        peers[number].latestHandshake = wallClock()
        outbox.tell(.handshakeCompleted(peers[number].publicKey))
    }

    /// Sends to where an authenticated, fresh packet came from.
    mutating func roam(_ number: UInt32, to path: DatagramPath, into outbox: inout Outbox) {
        guard peers[number].path != path else { return }
        if peers[number].path?.remote != path.remote {
            outbox.tell(.endpointChanged(peers[number].publicKey, path.remote))
        }
        peers[number].path = path
    }

    /// Tells the owner at most once a minute that a peer's initiations look like replays.
    private mutating func tellClockBehind(_ number: UInt32, at now: Instant, into outbox: inout Outbox) {
        if let last = peers[number].lastClockBehind, now - last < .seconds(60) { return }
        peers[number].lastClockBehind = now
        outbox.tell(.clockBehind(peers[number].publicKey))
    }
}
