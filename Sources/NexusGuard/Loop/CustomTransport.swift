// SPDX-License-Identifier: MIT

internal import Glibc
internal import WireGuardProtocol

/// An embedder's transport in the loop.
final class CustomTransport: LoopTransport {
    private let transport: any DatagramTransport

    /// Wraps a transport.
    init(_ transport: any DatagramTransport) {
        self.transport = transport
    }

    var descriptors: [Int32] { transport.readinessDescriptors }

    func open(port: UInt16, firewallMark: UInt32) throws(TransportRefusal) -> UInt16 {
        do {
            return try transport.open(port: port, firewallMark: firewallMark)
        } catch {
            if case .portInUse = error { throw TransportRefusal(error: error, errno: EADDRINUSE) }
            throw TransportRefusal(error: error, errno: EIO)
        }
    }

    func close() {
        transport.close()
    }

    func receive(into batch: inout InboundBatch, once: Bool) -> Bool {
        transport.receive(into: &batch)
    }

    func send(
        _ batch: inout OutboundBatch, at now: Instant, report: (_ peer: UInt32, SendProblem) -> Void
    ) {
        let refused = transport.send(&batch)
        if refused > 0 { report(.max, .dropped(datagramCount: refused, errno: EIO)) }
    }

    func send(
        _ outbox: borrowing Outbox, from first: Int, at now: Instant
    ) -> (count: Int, outcome: SendOutcome) {
        let entry = outbox.entries[first]
        let isSent = transport.send(
            outbox.bytes(of: entry).bytes, to: entry.path.remote, trafficClass: entry.trafficClass)
        return (1, isSent ? .sent : .failed(errno: EIO))
    }
}
