// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

extension Device {
    /// Carries out a change that was read as a whole before.
    ///
    /// Sockets are the owner's: it opens a new port first and applies the change only if that worked.
    package mutating func apply(
        _ change: ConfigurationChange, at now: Instant, into outbox: inout Outbox
    ) {
        switch change.privateKey {
        case .set(let key): setPrivateKey(key)
        case .clear: setPrivateKey(nil)
        case nil: break
        }
        if let port = change.listenPort { listenPort = port }
        if let mark = change.firewallMark { firewallMark = mark }
        if change.replacesPeers {
            for number in peers.numbers { remove(number) }
        }
        for peer in change.peers { apply(peer, at: now, into: &outbox) }
    }

    /// Changes this host's key. All sessions end, and a peer that has this key is removed: it would be us.
    private mutating func setPrivateKey(_ key: PrivateKey?) {
        switch (identity, key) {
        case (nil, nil): return
        case (let identity?, let key?) where identity.publicKey == key.publicKey: return
        default: break
        }
        identity = key.map { LocalIdentity($0) }
        if let own = identity?.publicKey, let number = peerNumbers[own] { remove(number) }
        for number in peers.numbers {
            eraseKeys(number)
            if identity == nil { purgeStaged(number) }
            peers[number].lastHandshakeSent = nil
            peers[number].toldWeakKey = false
            peers[number].cookies = CookieJar()
            peers[number].remote.recompute(local: identity)
        }
    }

    /// Changes, adds or removes one peer.
    private mutating func apply(_ change: PeerChange, at now: Instant, into outbox: inout Outbox) {
        let existing = peerNumbers[change.publicKey]
        if change.isRemoval {
            if let existing { remove(existing) }
            return
        }
        guard change.publicKey != identity?.publicKey, existing != nil || !change.isUpdateOnly else { return }
        let number = existing ?? add(change.publicKey)
        if let key = change.presharedKey { peers[number].presharedKey = key.isZero ? nil : key }
        if let endpoint = change.endpoint, peers[number].path?.remote != endpoint {
            peers[number].path = DatagramPath(remote: endpoint)
        }
        if change.replacesAllowedIPs { allowedIPs.removeAll(peer: number) }
        for line in change.allowedIPs {
            if line.isRemoval {
                allowedIPs.remove(line.prefix, peer: number)
            } else {
                allowedIPs.insert(line.prefix, peer: number)
            }
        }
        if let seconds = change.persistentKeepalive, seconds != peers[number].persistentKeepalive {
            let wasOff = peers[number].persistentKeepalive == 0
            peers[number].persistentKeepalive = seconds
            peers[number].timers.setPersistentInterval(seconds == 0 ? nil : .seconds(Int64(seconds)))
            guard isUp else { return }
            // Even if nothing can leave yet, for want of a key or an endpoint, the interval runs.
            peers[number].timers.noteAuthenticatedPacketTraversal(at: now)
            if wasOff { sendKeepalive(to: number, at: now, into: &outbox) }
            schedule(number)
        }
    }

    /// Adds a peer that has done nothing yet.
    private mutating func add(_ publicKey: PublicKey) -> UInt32 {
        let number = peers.insert(Peer(remote: RemoteIdentity(publicKey: publicKey, local: identity)))
        peerNumbers[publicKey] = number
        return number
    }

    /// Removes a peer and all that leads to it.
    private mutating func remove(_ number: UInt32) {
        eraseKeys(number)
        purgeStaged(number)
        allowedIPs.removeAll(peer: number)
        deadlines.remove(number)
        peerNumbers[peers[number].publicKey] = nil
        peers.remove(number)
    }

    /// Follows the tunnel interface up or down.
    ///
    /// Down ends all sessions and erases their keys; up lets peers with a persistent keepalive start.
    package mutating func setUp(_ isUp: Bool, at now: Instant, into outbox: inout Outbox) {
        guard self.isUp != isUp else { return }
        self.isUp = isUp
        for number in peers.numbers {
            if isUp {
                guard peers[number].persistentKeepalive > 0 else { continue }
                peers[number].timers.noteAuthenticatedPacketTraversal(at: now)
                sendKeepalive(to: number, at: now, into: &outbox)
                schedule(number)
            } else {
                eraseKeys(number)
                purgeStaged(number)
                peers[number].timers.stop()
                peers[number].lastHandshakeSent = nil
            }
        }
    }

    /// The configuration and the counters.
    package func snapshot() -> DeviceSnapshot {
        DeviceSnapshot(
            privateKey: identity?.privateKey, listenPort: boundPort != 0 ? boundPort : listenPort,
            firewallMark: firewallMark, peers: peers.numbers.map { snapshot(of: $0) })
    }

    /// One peer's configuration and counters.
    private func snapshot(of number: UInt32) -> PeerSnapshot {
        var snapshot = PeerSnapshot(publicKey: peers[number].publicKey)
        snapshot.presharedKey = peers[number].presharedKey
        snapshot.endpoint = peers[number].path?.remote
        snapshot.persistentKeepalive = peers[number].persistentKeepalive
        snapshot.allowedIPs = allowedIPs.prefixes(of: number)
        snapshot.latestHandshake = peers[number].latestHandshake
        snapshot.receivedByteCount = peers[number].receivedByteCount
        snapshot.sentByteCount = peers[number].sentByteCount
        return snapshot
    }
}
