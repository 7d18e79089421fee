// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials

/// What went through the tunnel up to one moment.
struct TrafficSample: Equatable, Sendable {
    /// The moment.
    var time: Date
    /// Bytes received since the tunnel was made.
    var received: UInt64
    /// Bytes sent since the tunnel was made.
    var sent: UInt64
    /// Seconds since the last handshake; `nil` before the first.
    var handshakeAge: Int?

    /// What a snapshot says at a moment; `nil` without a tunnel.
    init?(_ snapshot: AgentSnapshot, at time: Date) {
        guard let tunnel = snapshot.tunnel else { return nil }
        self.time = time
        received = tunnel.receivedByteCount
        sent = tunnel.sentByteCount
        handshakeAge = tunnel.lastHandshake.map { handshake in
            // The wall time may have gone back since, or far ahead.
            Int(min(max(time.timeIntervalSince(handshake), 0), 1e9))
        }
    }

    /// The sample as an object.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("time", RFC3339.text(time))
        writer.member("received", Int(clamping: received))
        writer.member("sent", Int(clamping: sent))
        writer.name("handshakeAge")
        if let handshakeAge {
            writer.value(handshakeAge)
        } else {
            writer.null()
        }
        writer.endObject()
    }

    /// The document of an event.
    var document: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }
}
