// SPDX-License-Identifier: MIT

/// The five deadlines of a peer, driven by facts that the peer's code reports.
///
/// Only this type knows which fact starts or stops which deadline (section 6 of the paper); callers say what
/// happened and carry out what `expire` returns.
package struct PeerTimers: Sendable {
    /// What is due.
    package enum Expiry: Hashable, Sendable {
        /// No answer to the initiation: send another one.
        case retransmitHandshake
        /// No answer for 90 s: give the handshake up.
        case giveUpHandshake
        /// Data came in and nothing went out: send an empty packet.
        case sendKeepalive
        /// Data went out and nothing came in: start a new handshake.
        case startNewHandshake
        /// No new keys for 540 s: erase what is there.
        case eraseKeys
        /// The interval of the persistent keepalive is over: send an empty packet.
        case sendPersistentKeepalive
    }

    /// The interval of the persistent keepalive, if there is one.
    package private(set) var persistentInterval: Interval?
    /// When the present run of handshake attempts began.
    private var attemptStart: Instant?
    private var retransmitDeadline: Instant?
    private var keepaliveDeadline: Instant?
    private var newHandshakeDeadline: Instant?
    private var eraseDeadline: Instant?
    private var persistentDeadline: Instant?

    /// Timers none of which runs.
    package init() {}

    /// The earliest deadline.
    package var next: Instant? {
        var earliest = Int64.max
        if let deadline = retransmitDeadline { earliest = min(earliest, deadline.nanoseconds) }
        if let deadline = keepaliveDeadline { earliest = min(earliest, deadline.nanoseconds) }
        if let deadline = newHandshakeDeadline { earliest = min(earliest, deadline.nanoseconds) }
        if let deadline = eraseDeadline { earliest = min(earliest, deadline.nanoseconds) }
        if let deadline = persistentDeadline { earliest = min(earliest, deadline.nanoseconds) }
        return earliest == .max ? nil : Instant(nanoseconds: earliest)
    }

    /// Takes the earliest deadline that is not after `now` and says what it was for.
    package mutating func expire(at now: Instant) -> Expiry? {
        guard let due = next, due <= now else { return nil }
        if eraseDeadline == due {
            eraseDeadline = nil
            return .eraseKeys
        }
        if retransmitDeadline == due {
            retransmitDeadline = nil
            guard let start = attemptStart, now - start < ProtocolConstants.rekeyAttemptTime else {
                attemptStart = nil
                keepaliveDeadline = nil
                return .giveUpHandshake
            }
            return .retransmitHandshake
        }
        if keepaliveDeadline == due {
            keepaliveDeadline = nil
            return .sendKeepalive
        }
        if newHandshakeDeadline == due {
            newHandshakeDeadline = nil
            return .startNewHandshake
        }
        // Armed again at once: if no packet can leave now, there may be nothing else to arm it.
        persistentDeadline = persistentInterval.map { now + $0 }
        return .sendPersistentKeepalive
    }

    /// Stops everything, as when the interface goes down; the persistent interval stays set.
    package mutating func stop() {
        let interval = persistentInterval
        self = PeerTimers()
        persistentInterval = interval
    }

    /// Sets the interval of the persistent keepalive; without one the deadline stops.
    package mutating func setPersistentInterval(_ interval: Interval?) {
        persistentInterval = interval
        persistentDeadline = nil
    }

    /// To be called when a packet with data was sealed and sent.
    ///
    /// - Parameter jitter: Random, so that peers that lost each other do not start together.
    package mutating func noteDataSent(at now: Instant, jitter: Interval) {
        // The first unanswered packet, not the last one: a host that keeps sending would otherwise push this
        // deadline ahead of itself for ever.
        guard newHandshakeDeadline == nil else { return }
        newHandshakeDeadline =
            now + ProtocolConstants.keepaliveTimeout + ProtocolConstants.rekeyTimeout + jitter
    }

    /// Whether `noteDataSent` would start a deadline, that is, needs a jitter.
    package var wantsJitterForDataSent: Bool { newHandshakeDeadline == nil }

    /// To be called when a packet with data was authenticated; not for keepalives.
    package mutating func noteDataReceived(at now: Instant) {
        // The first unanswered packet counts: the keepalive answers all that came until then.
        guard keepaliveDeadline == nil else { return }
        keepaliveDeadline = now + ProtocolConstants.keepaliveTimeout
    }

    /// To be called when any authenticated packet left: data, keepalive or handshake message.
    package mutating func noteAuthenticatedPacketSent() {
        keepaliveDeadline = nil
    }

    /// To be called when any authenticated packet came in: data, keepalive or handshake message.
    package mutating func noteAuthenticatedPacketReceived() {
        newHandshakeDeadline = nil
    }

    /// To be called when any authenticated packet left or came in.
    package mutating func noteAuthenticatedPacketTraversal(at now: Instant) {
        guard let persistentInterval else { return }
        persistentDeadline = now + persistentInterval
    }

    /// To be called when something other than the retry deadline asks for a handshake: the 90 s begin anew.
    package mutating func noteHandshakeWanted(at now: Instant) {
        attemptStart = now
    }

    /// To be called when an initiation was sent.
    package mutating func noteInitiationSent(at now: Instant, jitter: Interval) {
        if attemptStart == nil { attemptStart = now }
        retransmitDeadline = now + ProtocolConstants.rekeyTimeout + jitter
    }

    /// Whether another initiation is due at some time already.
    package var isRetryPending: Bool { retransmitDeadline != nil }

    /// To be called when an initiation may not leave yet because of a handshake message sent at `last`, and no
    /// retry is pending.
    package mutating func noteInitiationPostponed(after last: Instant, jitter: Interval) {
        retransmitDeadline = last + ProtocolConstants.rekeyTimeout + jitter
    }

    /// To be called when a keypair is confirmed: by the response, or by the first packet on it.
    package mutating func noteHandshakeComplete() {
        retransmitDeadline = nil
        attemptStart = nil
    }

    /// To be called when new transport keys were derived.
    package mutating func noteSessionDerived(at now: Instant) {
        eraseDeadline = now + ProtocolConstants.zeroKeyMaterialTime
    }
}
