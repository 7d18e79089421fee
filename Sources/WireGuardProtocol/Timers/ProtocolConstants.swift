// SPDX-License-Identifier: MIT

/// The constants of the WireGuard paper (section 6) and of its reference implementation.
package enum ProtocolConstants {
    /// After so many messages on a keypair either side asks for a new one.
    package static let rekeyAfterMessages: UInt64 = 1 << 60
    /// From this counter on a keypair neither seals nor opens: 2^64 - 2^13 - 1.
    package static let rejectAfterMessages = UInt64.max - (1 << 13)
    /// The initiator of a keypair asks for a new one when it sends on one this old.
    package static let rekeyAfterTime = Interval.seconds(120)
    /// A keypair this old neither seals nor opens.
    package static let rejectAfterTime = Interval.seconds(180)
    /// The time after which an unanswered handshake is given up.
    package static let rekeyAttemptTime = Interval.seconds(90)
    /// The time between handshake messages to one peer.
    package static let rekeyTimeout = Interval.seconds(5)
    /// Received data is answered, if by nothing else, by a keepalive after this time.
    package static let keepaliveTimeout = Interval.seconds(10)
    /// All keys are erased when no new ones came for this time: three times Reject-After-Time.
    package static let zeroKeyMaterialTime = rejectAfterTime * 3
    /// The initiator of a keypair asks for a new one when it receives on one this old.
    package static let rekeyOnReceiveTime = Interval.seconds(180 - 10 - 5)
    /// The exclusive upper end of the random time added to the handshake timers, a third of a second.
    package static let jitter = Interval.milliseconds(334)
    /// Initiations of one peer closer together than this are a flood.
    package static let initiationInterval = Interval.milliseconds(20)
    /// The number of packets that may wait for a handshake with one peer.
    package static let stagedPacketLimit = 128
    /// The traffic class of handshake messages, AF41.
    package static let handshakeTrafficClass: UInt8 = 0x88
}
