// SPDX-License-Identifier: MIT

internal import Glibc
internal import WireGuardProtocol

/// The kernel's UDP sockets in the loop.
final class UDPCarrier: LoopTransport {
    private var transport = UDPTransport()

    var descriptors: [Int32] { [transport.descriptor4, transport.descriptor6].filter { $0 >= 0 } }

    func open(port: UInt16, firewallMark: UInt32) throws(TransportRefusal) -> UInt16 {
        do {
            try transport.open(port: port, firewallMark: firewallMark)
            return transport.port
        } catch {
            let reason: TunnelError =
                error.errno == EADDRINUSE
                ? .portInUse(port) : .transportUnavailable(reason: error.description)
            throw TransportRefusal(error: reason, errno: error.errno)
        }
    }

    func close() {
        transport.close()
    }

    func receive(into batch: inout InboundBatch, once: Bool) -> Bool {
        transport.receive(into: &batch.packets, once: once).hasMore
    }

    func send(
        _ batch: inout OutboundBatch, at now: Instant, report: (_ peer: UInt32, SendProblem) -> Void
    ) {
        transport.send(&batch.packets, at: now, report: report)
    }

    func send(
        _ outbox: borrowing Outbox, from first: Int, at now: Instant
    ) -> (count: Int, outcome: SendOutcome) {
        transport.send(outbox, from: first, at: now)
    }
}
