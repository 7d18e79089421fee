// SPDX-License-Identifier: MIT

import Testing
import WireGuardCrypto
import WireGuardProtocol

@Suite("MessageKind and message layouts")
struct MessageKindTests {
    /// A datagram of a type and size, its other bytes distinct.
    private func message(type: UInt8, byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { $0 == 0 ? type : $0 < 4 ? 0 : UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    }

    @Test("each type has its own exact size, and transport data at least 32 bytes")
    func sizes() {
        for byteCount in 0...400 {
            for type in UInt8(0)...UInt8(255) {
                let expected: MessageKind? =
                    switch (type, byteCount) {
                    case (1, 148): .handshakeInitiation
                    case (2, 92): .handshakeResponse
                    case (3, 64): .cookieReply
                    case (4, 32...): .transportData
                    default: nil
                    }
                let kind = datagram(message(type: type, byteCount: byteCount)) { MessageKind.of($0) }
                #expect(kind == expected, "type \(type), \(byteCount) bytes")
            }
        }
        #expect(MessageKind.of(UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
    }

    @Test("a nonzero reserved byte makes every message unknown")
    func reservedBytes() {
        for (type, byteCount) in [(1, 148), (2, 92), (3, 64), (4, 32), (4, 1_452)] {
            for index in 1...3 {
                for bit in 0..<8 {
                    var bytes = message(type: UInt8(type), byteCount: byteCount)
                    bytes[index] ^= 1 << UInt8(bit)
                    #expect(
                        datagram(bytes) { MessageKind.of($0) } == nil,
                        "type \(type), byte \(index), bit \(bit)")
                }
            }
        }
    }

    @Test("no parser reads a message of another type or size")
    func parsersRefuse() {
        for byteCount in 0...160 {
            for type in UInt8(0)...5 {
                let bytes = message(type: type, byteCount: byteCount)
                let isRead = datagram(bytes) {
                    [
                        HandshakeInitiation($0) != nil, HandshakeResponse($0) != nil, CookieReply($0) != nil,
                        TransportData($0) != nil,
                    ]
                }
                let expected = [
                    type == 1 && byteCount == 148, type == 2 && byteCount == 92, type == 3 && byteCount == 64,
                    type == 4 && byteCount >= 32,
                ]
                #expect(isRead == expected, "type \(type), \(byteCount) bytes")
            }
        }
    }

    @Test("an initiation has its fields at the offsets of the paper, and writing gives the bytes read")
    func initiation() throws {
        let bytes = message(type: 1, byteCount: 148)
        let parsed = try #require(datagram(bytes) { HandshakeInitiation($0) })
        #expect(parsed.senderIndex == number(bytes, 4))
        #expect(try parsed.ephemeral == PublicKey(rawRepresentation: Array(bytes[8..<40])))
        #expect(parsed.encryptedStatic.indices.map { parsed.encryptedStatic[$0] } == Array(bytes[40..<88]))
        #expect(
            parsed.encryptedTimestamp.indices.map { parsed.encryptedTimestamp[$0] } == Array(bytes[88..<116]))
        var output = [UInt8](repeating: 0xEE, count: 148)
        written(&output) { parsed.writeBody(into: $0) }
        #expect(output == Array(bytes[..<116]) + [UInt8](repeating: 0xEE, count: 32))
    }

    @Test("a response has its fields at the offsets of the paper, and writing gives the bytes read")
    func response() throws {
        let bytes = message(type: 2, byteCount: 92)
        let parsed = try #require(datagram(bytes) { HandshakeResponse($0) })
        #expect(parsed.senderIndex == number(bytes, 4))
        #expect(parsed.receiverIndex == number(bytes, 8))
        #expect(try parsed.ephemeral == PublicKey(rawRepresentation: Array(bytes[12..<44])))
        #expect(parsed.encryptedNothing.indices.map { parsed.encryptedNothing[$0] } == Array(bytes[44..<60]))
        var output = [UInt8](repeating: 0xEE, count: 92)
        written(&output) { parsed.writeBody(into: $0) }
        #expect(output == Array(bytes[..<60]) + [UInt8](repeating: 0xEE, count: 32))
    }

    @Test("a cookie reply has its fields at the offsets of the paper, and writing gives the bytes read")
    func cookieReply() throws {
        let bytes = message(type: 3, byteCount: 64)
        let parsed = try #require(datagram(bytes) { CookieReply($0) })
        #expect(parsed.receiverIndex == number(bytes, 4))
        #expect(parsed.nonce.indices.map { parsed.nonce[$0] } == Array(bytes[8..<32]))
        #expect(parsed.encryptedCookie.indices.map { parsed.encryptedCookie[$0] } == Array(bytes[32..<64]))
        var output = [UInt8](repeating: 0, count: 64)
        written(&output) { parsed.write(into: $0) }
        #expect(output == bytes)
    }

    @Test(
        "transport data has index and counter at the offsets of the paper, and writing gives the bytes read")
    func transportData() throws {
        let bytes = message(type: 4, byteCount: 48)
        let parsed = try #require(datagram(bytes) { TransportData($0) })
        #expect(parsed.receiverIndex == number(bytes, 4))
        #expect(parsed.counter == UInt64(number(bytes, 8)) | UInt64(number(bytes, 12)) << 32)
        var output = [UInt8](repeating: 0xEE, count: 32)
        written(&output) { parsed.writeHeader(into: $0) }
        #expect(output == Array(bytes[..<16]) + [UInt8](repeating: 0xEE, count: 16))
    }

    /// The little-endian number at an offset.
    private func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
