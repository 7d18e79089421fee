// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// The keys of one completed handshake, and what was done with them.
struct Keypair: ~Copyable {
    /// The key for packets to the peer.
    let sendKey: SecretKey
    /// The key for packets from the peer.
    let receiveKey: SecretKey
    /// The receiver index in packets from the peer.
    let localIndex: UInt32
    /// The receiver index in packets to the peer.
    let remoteIndex: UInt32
    /// When the keys were derived.
    let created: Instant
    /// Whether this host started the handshake; only it renews the keypair by age.
    let isInitiator: Bool
    /// The counter of the next packet to the peer.
    var sendCounter: UInt64 = 0
    /// The counters seen in packets from the peer.
    var window = ReplayWindow()

    /// Takes over the keys of a handshake.
    init(_ keys: consuming TransportKeys, created: Instant, isInitiator: Bool) {
        localIndex = keys.localIndex
        remoteIndex = keys.remoteIndex
        sendKey = SecretKey(copying: keys.sendKey)
        receiveKey = SecretKey(copying: keys.receiveKey)
        self.created = created
        self.isInitiator = isInitiator
    }

    /// Whether the keypair is too old to seal or open anything.
    func isExpired(at now: Instant) -> Bool {
        now - created >= ProtocolConstants.rejectAfterTime
    }

    /// Whether a packet may be sealed now.
    func canSend(at now: Instant) -> Bool {
        sendCounter < ProtocolConstants.rejectAfterMessages && !isExpired(at: now)
    }

    /// The next counter; call only when `canSend` is true.
    mutating func takeCounter() -> UInt64 {
        let counter = sendCounter
        sendCounter = counter &+ 1
        return counter
    }

    /// Whether having sent on this keypair now is a reason for a new handshake.
    func needsRekeyAfterSending(at now: Instant) -> Bool {
        sendCounter > ProtocolConstants.rekeyAfterMessages
            || isInitiator && now - created >= ProtocolConstants.rekeyAfterTime
    }

    /// Whether having received on this keypair now is a reason for a new handshake.
    func needsRekeyAfterReceiving(at now: Instant) -> Bool {
        isInitiator && now - created >= ProtocolConstants.rekeyOnReceiveTime
    }
}
