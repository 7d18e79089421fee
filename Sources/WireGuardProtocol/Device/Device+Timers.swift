// SPDX-License-Identifier: MIT

extension Device {
    /// The instant at which `expireTimers` has something to do, or `nil` while no timer runs.
    package var nextDeadline: Instant? {
        mutating get {
            while let first = deadlines.first {
                guard let actual = peers[first.peer].timers.next else {
                    deadlines.removeFirst()
                    peers[first.peer].scheduled = nil
                    continue
                }
                guard actual > first.deadline else { return first.deadline }
                peers[first.peer].scheduled = actual
                deadlines.set(actual, for: first.peer)
            }
            return nil
        }
    }

    /// Does what is due at `now`.
    package mutating func expireTimers(at now: Instant, into outbox: inout Outbox) {
        while let first = deadlines.first, first.deadline <= now {
            let number = first.peer
            while let expiry = peers[number].timers.expire(at: now) {
                carryOut(expiry, for: number, at: now, into: &outbox)
            }
            deadlines.remove(number)
            peers[number].scheduled = nil
            schedule(number)
        }
    }

    /// Does what one expired timer asks for.
    private mutating func carryOut(
        _ expiry: PeerTimers.Expiry, for number: UInt32, at now: Instant, into outbox: inout Outbox
    ) {
        switch expiry {
        case .retransmitHandshake:
            // The cached source address may be why no answer came.
            clearSource(of: number)
            sendInitiation(to: number, isRetry: true, at: now, into: &outbox)
        case .giveUpHandshake:
            drops.count(.handshakeGivenUp, UInt64(peers[number].staged.count))
            purgeStaged(number)
            discardHandshake(number)
            outbox.tell(.handshakeGivenUp(peers[number].publicKey))
        case .sendKeepalive, .sendPersistentKeepalive:
            sendKeepalive(to: number, at: now, into: &outbox)
        case .startNewHandshake:
            clearSource(of: number)
            sendInitiation(to: number, isRetry: false, at: now, into: &outbox)
        case .eraseKeys:
            eraseKeys(number)
        }
    }

    /// Erases a peer's transport keys and its unfinished handshake.
    mutating func eraseKeys(_ number: UInt32) {
        discardHandshake(number)
        var released: [UInt32] = []
        peers[number].keypairs.removeAll { released.append($0) }
        for index in released { indices.remove(index) }
    }

    /// Erases the handshake that waits for its response, if there is one.
    mutating func discardHandshake(_ number: UInt32) {
        guard let index = peers[number].handshake?.senderIndex else { return }
        peers[number].handshake = nil
        indices.remove(index)
    }

    /// Drops the packets that wait for a peer's handshake.
    mutating func purgeStaged(_ number: UInt32) {
        stagedByteCount -= peers[number].staged.byteCount
        unsafe peers[number].staged.drain { _, _ in }
    }
}
