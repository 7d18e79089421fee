// SPDX-License-Identifier: MIT

package import WireGuardProtocol

/// The UDP sockets of a tunnel: an IPv4 and an IPv6 one on the same port, as one thing.
///
/// Belongs to one thread. Nothing is allocated after `init` but by `open`.
package struct UDPTransport: ~Copyable {
    private var sockets = UDPSocketPair()
    private var receiver = UDPReceiver()
    private var sender = UDPSender()
    private let wantedOffload: UDPOffload
    /// Which socket the next `receive` looks at first, so that a flood at one does not silence the other.
    private var startsWithIPv6 = false
    /// Which socket the last datagrams came from.
    private var lastWasIPv6 = false

    /// Creates a transport without sockets.
    ///
    /// - Parameter offload: What to use of the kernel's help, where it has it; less is for measurements.
    package init(offload: UDPOffload = .all) {
        wantedOffload = offload
    }

    /// Opens both families on one port, in place of the sockets that are open.
    ///
    /// A missing family is left out. Nothing changes when the call fails. For the port that is open already
    /// only the mark is set. Descriptors change otherwise: those of before are closed, and with that leave any
    /// `Epoll`; the new ones have to be added.
    ///
    /// - Parameters:
    ///   - port: The port; 0 has the kernel choose one that is free in both families.
    ///   - firewallMark: The mark of sent packets for routing rules and the packet filter; 0 is none.
    /// - Throws: `SystemCallError`: EADDRINUSE when the port is taken, EAFNOSUPPORT when the kernel has neither
    ///   family, EPERM when the mark is not zero and CAP_NET_ADMIN is missing.
    package mutating func open(port: UInt16, firewallMark: UInt32) throws(SystemCallError) {
        if isOpen, port == sockets.port {
            try sockets.setFirewallMark(firewallMark)
            return
        }
        sockets = try UDPSocketPair(
            port: port, firewallMark: firewallMark, offload: wantedOffload, faults: sender.faults)
        receiver.discardPending()
    }

    /// Closes both sockets; what was received and not handed out is lost.
    package mutating func close() {
        sockets = UDPSocketPair()
        receiver.discardPending()
    }

    /// Whether at least one socket is open.
    package var isOpen: Bool { sockets.port != 0 }

    /// The port of both sockets, or 0 when closed.
    package var port: UInt16 { sockets.port }

    /// The IPv4 socket, or -1.
    package var descriptor4: Int32 { sockets.descriptor4 }

    /// The IPv6 socket, or -1.
    package var descriptor6: Int32 { sockets.descriptor6 }

    /// What the kernel does for both sockets.
    package var offload: UDPOffload { sockets.offload }

    /// Refusals that a test injects.
    package var faults: UDPFaults {
        get { sender.faults }
        set { sender.faults = newValue }
    }

    /// Marks the packets that are sent from now on for routing rules and the packet filter; 0 is no mark.
    ///
    /// The caller also forgets cached sources, because the mark may lead to another interface.
    ///
    /// - Throws: `SystemCallError` with EPERM, when CAP_NET_ADMIN is missing.
    package mutating func setFirewallMark(_ mark: UInt32) throws(SystemCallError) {
        try sockets.setFirewallMark(mark)
    }

    /// Adds received datagrams to a batch until the sockets are empty or there is no more room.
    ///
    /// Each slot has its sender, this host's address and the ECN bits of its outer header; coalesced datagrams
    /// are cut. The bytes lie in memory of the transport and stay valid until the next call, which has to be
    /// made with an emptied batch. Room is never a reason to lose a datagram: what does not fit comes first in
    /// the next call.
    ///
    /// - Parameters:
    ///   - families: The sockets that may have something.
    ///   - once: Whether one call of the kernel that brings datagrams is enough; epoll tells if it has more. The
    ///     socket is looked at first that had some last.
    package mutating func receive(
        into batch: inout PacketBatch, from families: UDPFamilies = .both, once: Bool = false
    ) -> UDPReceiveResult {
        var result = UDPReceiveResult()
        receiver.startRound(&batch, &result)
        startsWithIPv6 = once ? lastWasIPv6 : !startsWithIPv6
        let first: UDPFamilies = startsWithIPv6 ? .ipv6 : .ipv4
        drain(families.intersection(first), into: &batch, once: once, &result)
        if once, result.datagramCount > 0 { return result }
        drain(families.subtracting(first), into: &batch, once: once, &result)
        return result
    }

    /// Receives from the socket of one family, if there is one.
    private mutating func drain(
        _ family: UDPFamilies, into batch: inout PacketBatch, once: Bool, _ result: inout UDPReceiveResult
    ) {
        let isIPv6 = family == .ipv6
        let descriptor = isIPv6 ? sockets.descriptor6 : sockets.descriptor4
        guard !family.isEmpty, descriptor >= 0 else { return }
        let formerCount = result.datagramCount
        receiver.drain(descriptor, into: &batch, once: once, &result)
        if result.datagramCount > formerCount { lastWasIPv6 = isIPv6 }
    }

    /// Sends every `ready` slot of an outbound batch, in order; those that are lost become `finished`.
    ///
    /// Neighbours with the same path, peer, size and ECN bits leave in one call, of which the last may be
    /// shorter. The slot's ECN bits go into the outer header; its DSCP is zero. Waits up to four milliseconds in
    /// all for a full socket.
    ///
    /// - Parameters:
    ///   - now: For the table of destinations that get no segmentation.
    ///   - report: Called with the peer's number for each problem.
    package mutating func send(
        _ batch: inout PacketBatch, at now: Instant, report: (_ peer: UInt32, SendProblem) -> Void
    ) {
        sender.send(&batch, through: sockets, at: now, report: report)
    }

    /// Sends one datagram, such as a handshake message.
    ///
    /// - Parameter trafficClass: The octet of the outer header, DSCP and ECN; 0x88 for handshake messages.
    package mutating func send(
        _ bytes: UnsafeRawBufferPointer, path: DatagramPath, trafficClass: UInt8
    ) -> SendOutcome {
        sender.send(bytes, path: path, trafficClass: trafficClass, through: sockets)
    }

    /// Sends the datagram of an outbox at `first`, and those behind it that can leave in the same call.
    ///
    /// - Returns: How many datagrams that were, at least one, and what became of them.
    package mutating func send(
        _ outbox: borrowing Outbox, from first: Int, at now: Instant
    ) -> (count: Int, outcome: SendOutcome) {
        sender.send(outbox, from: first, through: sockets, at: now)
    }
}
