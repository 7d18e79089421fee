// SPDX-License-Identifier: MIT

internal import WireGuardProtocol
internal import WireGuardSimulation

/// What two devices were given to send, and what came out of them.
///
/// It knows nothing of the protocol, only what a tunnel promises: each packet that comes out went in at the other
/// end, comes out no more often than it went in, and has a source address that belongs to that end.
final class DeliveryLedger {
    /// The first broken promise.
    private(set) var failure: String?
    /// The last datagrams that left either device.
    private(set) var records: [SimulatedDevice.Sent] = []
    /// What went in at each device and has not come out, as often as it went in.
    private var outstanding: [[[UInt8]: Int]] = [[:], [:]]

    private static let mostRecords = 2_000

    /// Notes a datagram that left a device.
    func record(_ datagram: SimulatedDevice.Sent) {
        if records.count == Self.mostRecords { records.removeFirst(Self.mostRecords / 2) }
        records.append(datagram)
    }

    /// Notes a packet that a device was given; what lies behind the size in its header does not count.
    func noteSent(_ packet: [UInt8], by device: Int) {
        guard let size = size(of: packet) else { return }
        outstanding[device][Array(packet[..<size]), default: 0] += 1
    }

    /// Notes a packet that came out of a device.
    func noteDelivery(_ packet: [UInt8], at device: Int) {
        guard failure == nil else { return }
        let other = 1 - device
        guard let count = outstanding[other][packet], count > 0 else {
            failure = "device \(device) delivers \(packet.count) bytes that nobody sent, or again"
            return
        }
        outstanding[other][packet] = count - 1
        let isIPv6 = packet[0] >> 4 == 6
        let address = Simulation.innerAddress(of: other, isIPv6: isIPv6)
        let expected = isIPv6 ? bytes(address.high) + bytes(address.low) : Array(bytes(address.high)[..<4])
        let start = isIPv6 ? 8 : 12
        if Array(packet[start..<start + expected.count]) != expected {
            failure = "device \(device) delivers a packet whose source address is not the other's"
        }
    }

    /// The size of a packet by its own header (RFC 791, RFC 8200), or `nil` if that does not fit.
    private func size(of packet: [UInt8]) -> Int? {
        guard packet.count >= 20 else { return nil }
        switch packet[0] >> 4 {
        case 4:
            let total = Int(packet[2]) << 8 | Int(packet[3])
            return total >= 20 && total <= packet.count ? total : nil
        case 6:
            let total = 40 + (Int(packet[4]) << 8 | Int(packet[5]))
            return total <= packet.count ? total : nil
        default: return nil
        }
    }

    private func bytes(_ word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
    }
}
