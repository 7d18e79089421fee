// SPDX-License-Identifier: MIT

public import WireGuardProtocol

/// What carries datagrams between this host and its peers: UDP sockets, or whatever stands in for them.
///
/// A tunnel calls one function a batch, on its own thread, never two at a time; none may block.
public protocol DatagramTransport: AnyObject, Sendable {
    /// Descriptors of which one is readable, as `poll` has it, while `receive` has something to give.
    ///
    /// Read again after each `open`.
    var readinessDescriptors: [Int32] { get }

    /// Begins to receive, or, when it does so already, moves to another port or firewall mark.
    ///
    /// - Parameters:
    ///   - port: The port to receive at; 0 leaves the choice to the transport.
    ///   - firewallMark: A mark for routing; 0 is none.
    /// - Returns: The port in use, or 0 when the transport has none.
    /// - Throws: `TunnelError`, such as `.portInUse`; all is then as it was before.
    func open(port: UInt16, firewallMark: UInt32) throws(TunnelError) -> UInt16

    /// Stops to receive; `open` may follow. Also called when nothing is open.
    func close()

    /// Adds the datagrams that are there and fit to the batch.
    ///
    /// - Returns: Whether datagrams were left for want of room; `receive` is then called again without a
    ///   wait.
    func receive(into batch: inout InboundBatch) -> Bool

    /// Sends the datagrams of the batch, in order.
    ///
    /// - Returns: How many it could not send.
    func send(_ batch: inout OutboundBatch) -> Int

    /// Sends one datagram, such as a handshake message.
    ///
    /// - Parameter trafficClass: The traffic class octet for the outer header.
    /// - Returns: Whether it was sent.
    func send(_ datagram: RawSpan, to destination: SocketAddress, trafficClass: UInt8) -> Bool
}
