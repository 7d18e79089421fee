// SPDX-License-Identifier: MIT

internal import WireGuardConfiguration
internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// The bytes of one connection of the userspace interface.
///
/// The input is a byte that says how they are cut, then the bytes. However they are cut, the requests are the
/// same. A set operation is refused without a secret in the reason, or what a device then shows makes another
/// device show the same.
enum UAPICheck {
    static func failure(_ reader: inout ByteReader) -> String? {
        let cut = Int(reader.byte() & 31) + 1
        let bytes = reader.rest()
        let requests = requests(bytes, cut: bytes.count + 1)
        if self.requests(bytes, cut: cut) != requests { return "the requests depend on how they are cut" }
        for request in requests {
            if case .set(let body) = request, let failure = checkBody(body) { return failure }
        }
        // A body without the operation around it, so that it need not be found first.
        return checkBody(bytes)
    }

    /// A request, with its lines if it is a set operation.
    private enum Request: Equatable {
        case set([UInt8])
        case other(UAPIRequestReader.Request)
    }

    /// The requests in bytes that arrive `cut` at a time.
    private static func requests(_ bytes: [UInt8], cut: Int) -> [Request] {
        var reader = UAPIRequestReader(largestRequest: 4_096)
        var result: [Request] = []
        for start in stride(from: 0, to: bytes.count, by: cut) {
            let piece = Array(bytes[start..<min(start + cut, bytes.count)])
            reader.append(piece.span.bytes)
            while let request = reader.next() {
                result.append(request == .set ? .set(reader.withBody(copy)) : .other(request))
            }
        }
        return result
    }

    private static func checkBody(_ body: [UInt8]) -> String? {
        let change: ConfigurationChange
        do {
            change = try UAPISetParser.parse(body.span.bytes, resolvingZone: { _ in 7 })
        } catch {
            let isLeak = SecretSearch.leaks("\(error)", body, of: ["private_key", "preshared_key"])
            return isLeak ? "the reason shows a secret: \(error)" : nil
        }
        let first = shown(after: change)
        do {
            let again = shown(after: try UAPISetParser.parse(first.span.bytes, resolvingZone: { _ in 7 }))
            return again == first ? nil : "a device that gets what another one shows does not show it"
        } catch {
            return "what a device shows is refused: \(error)"
        }
    }

    /// What a device shows after a change, without what peers did.
    private static func shown(after change: ConfigurationChange) -> [UInt8] {
        let now = Instant(nanoseconds: 0)
        var device = Device(random: SeededRandom(seed: 1), wallClock: { VirtualWallClock().now }, mtu: 1_420)
        var outbox = Outbox()
        device.apply(change, at: now, into: &outbox)
        let text = UAPIGetWriter.write(device.snapshot(), zoneName: { _ in "zone" }).withBytes(copy)
        let doings = ["last_handshake_time_sec=", "last_handshake_time_nsec=", "rx_bytes=", "tx_bytes="]
        return Array(
            text.split(separator: UInt8(ascii: "\n")).filter { line in
                !doings.contains { line.starts(with: $0.utf8) }
            }.joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
