// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

extension SimulatedDevice {
    /// The handshake initiations that left.
    var initiations: [Sent] { sent.filter { $0.bytes.first == 1 } }

    /// The handshake responses that left.
    var responses: [Sent] { sent.filter { $0.bytes.first == 2 } }

    /// The cookie replies that left.
    var cookieReplies: [Sent] { sent.filter { $0.bytes.first == 3 } }

    /// The transport data that left, keepalives included.
    var transportData: [Sent] { sent.filter { $0.bytes.first == 4 } }

    /// The keepalives that left.
    var keepalives: [Sent] { sent.filter { $0.bytes.first == 4 && $0.bytes.count == 32 } }

    /// The tags of the inner packets that came out.
    var deliveredTags: [UInt64] { delivered.map { InnerPacket.tag(of: $0.packet) } }
}

/// An instant so many seconds after the start.
func seconds(_ count: Double) -> Instant {
    Instant(nanoseconds: Int64(count * 1_000_000_000))
}

extension Instant {
    /// Seconds since the start, for messages and comparisons.
    var inSeconds: Double { Double(nanoseconds) / 1_000_000_000 }
}

/// The seeds of tests that depend on chance.
let seeds: [UInt64] = [1, 2, 3, 0xFEED, 0x1234_5678_9ABC_DEF0]

extension Simulation {
    /// Takes a device down and up again, so that it has no keys and its next packet starts a handshake.
    func restart(_ device: SimulatedDevice) {
        device.withDevice(at: now) { device, outbox in
            device.setUp(false, at: now, into: &outbox)
            device.setUp(true, at: now, into: &outbox)
        }
    }
}
