// SPDX-License-Identifier: MIT

/// Why a packet or datagram went no further; each case has a counter.
public enum DropReason: Int, CaseIterable, Hashable, Sendable {
    // From the tunnel interface.
    /// The packet is neither valid IPv4 nor valid IPv6.
    case malformedPacket
    /// No peer's allowed IPs hold the destination.
    case noRoute
    /// The peer has no endpoint yet.
    case noEndpoint
    /// The queue of packets that wait for a handshake was full; the oldest went.
    case stagedQueueFull
    /// The handshake was given up with this packet waiting for it.
    case handshakeGivenUp
    /// The device has no private key, or the interface is down.
    case notReady

    // From the network, before authentication.
    /// The type is unknown, or the size is not one that the type has.
    case malformedDatagram
    /// mac1 is not right: the sender does not know this host's public key.
    case invalidMAC1
    /// The device is under load and the message has no valid mac2; a cookie reply was sent.
    case cookieRequired
    /// The source sends more handshake messages than are answered.
    case rateLimited
    /// A field of a handshake message did not decrypt, or a public key was of low order.
    case invalidHandshake
    /// The initiator is no peer of this device.
    case unknownPeer
    /// The initiation's timestamp is not newer than the last one: a replay, or a clock that went back.
    case replayedTimestamp
    /// The initiator starts more handshakes than one in 20 ms.
    case handshakeFlood
    /// No handshake or keypair has this receiver index.
    case unknownReceiverIndex
    /// The cookie reply did not decrypt, or answers no message of ours.
    case invalidCookieReply
    /// Transport data on a keypair that is too old or used up.
    case expiredKeypair
    /// The tag of transport data is not right.
    case authenticationFailed

    // From the network, after authentication.
    /// The counter was seen before or is below the window.
    case replayedCounter
    /// The decrypted packet is not valid IPv4 or IPv6, or is longer than its plaintext.
    case malformedInnerPacket
    /// The source address of the inner packet belongs to another peer or to none.
    case disallowedSource
    /// The outer header says congestion experienced, but the inner packet cannot carry the mark (RFC 6040).
    case congestionNotCapable

    // At the kernel.
    /// The socket refused the datagram.
    case sendFailed
    /// The tunnel interface refused the packet.
    case writeFailed
}

/// How many packets were dropped for each reason.
public struct DropCounters: Hashable, Sendable {
    private var counts = [24 of UInt64](repeating: 0)

    /// Counters of zero.
    public init() {
        precondition(counts.count == DropReason.allCases.count, "one counter for each reason")
    }

    /// The number of packets dropped for a reason.
    public internal(set) subscript(reason: DropReason) -> UInt64 {
        get { counts[reason.rawValue] }
        set { counts[reason.rawValue] = newValue }
    }

    /// Counts one more.
    package mutating func count(_ reason: DropReason, _ number: UInt64 = 1) {
        counts[reason.rawValue] &+= number
    }

    /// The sum over all reasons.
    public var total: UInt64 { DropReason.allCases.reduce(0) { $0 &+ self[$1] } }

    /// Whether all counters are the same.
    public static func == (left: DropCounters, right: DropCounters) -> Bool {
        DropReason.allCases.allSatisfy { left[$0] == right[$0] }
    }

    /// Feeds every counter to the hasher.
    public func hash(into hasher: inout Hasher) {
        for reason in DropReason.allCases { hasher.combine(self[reason]) }
    }
}
