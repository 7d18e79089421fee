// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// The loop's side of what carries datagrams.
///
/// One call a batch goes through this; the UDP sockets and a custom transport differ behind it.
protocol LoopTransport: AnyObject {
    /// Readable while `receive` has something to give; other ones after each `open`.
    var descriptors: [Int32] { get }

    /// Opens, or moves to another port or mark; all is as before when it throws.
    ///
    /// - Returns: The port in use.
    func open(port: UInt16, firewallMark: UInt32) throws(TransportRefusal) -> UInt16

    /// Closes what is open.
    func close()

    /// Adds datagrams to the batch, and says whether some were left for want of room.
    ///
    /// - Parameter once: Whether one call that brings datagrams is enough; `descriptors` tell if there are more.
    func receive(into batch: inout InboundBatch, once: Bool) -> Bool

    /// Sends the `ready` datagrams of the batch in order.
    func send(
        _ batch: inout OutboundBatch, at now: Instant, report: (_ peer: UInt32, SendProblem) -> Void)

    /// Sends the datagram of an outbox at `first`, and perhaps some of those behind it.
    ///
    /// - Returns: How many datagrams that were, at least one, and what became of them.
    func send(
        _ outbox: borrowing Outbox, from first: Int, at now: Instant
    ) -> (count: Int, outcome: SendOutcome)
}

/// Why a transport was not opened: as a sentence, and as the number that the control socket answers with.
struct TransportRefusal: Error, Hashable, Sendable {
    /// What the embedder is told.
    let error: TunnelError
    /// The error number, positive.
    let errno: Int32
}
