// SPDX-License-Identifier: MIT

import Harness
import Testing
import WireGuardCrypto
import WireGuardProtocol

@Suite("Macs and cookies")
struct CookieTests {
    /// The content of `macs_and_cookies.json`.
    struct Content: Decodable {
        struct MAC1: Decodable {
            let receiver_public: HexBytes
            let body: HexBytes
            let mac1: HexBytes
        }
        struct MAC2: Decodable {
            let cookie: HexBytes
            let body_and_mac1: HexBytes
            let mac2: HexBytes
        }
        struct Cookie: Decodable {
            let secret: HexBytes
            let ip: String
            let port: UInt16
            let cookie: HexBytes
        }
        struct Reply: Decodable {
            let replier_public: HexBytes
            let secret: HexBytes
            let ip: String
            let port: UInt16
            let cookie: HexBytes
            let receiver_index: UInt32
            let mac1: HexBytes
            let nonce: HexBytes
            let cookie_reply: HexBytes
        }
        struct BadReply: Decodable {
            let replier_public: HexBytes
            let mac1: HexBytes
            let cookie_reply: HexBytes
            let reason: String
        }
        let mac1: [MAC1]
        let mac2: [MAC2]
        let cookies: [Cookie]
        let cookie_replies: [Reply]
        let bad_cookie_replies: [BadReply]
    }

    /// Hash(label || public key), from the paper.
    private func labelled(_ label: String, _ key: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: 32)
        var span = output.mutableSpan
        var target = span.mutableBytes
        BLAKE2s.hash((Array(label.utf8) + key).span.bytes, into: &target)
        return output
    }

    /// Mac(key, message), from the paper.
    private func mac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var state = BLAKE2s(key: key.span.bytes, outputByteCount: 16)
        state.update(message.span.bytes)
        var output = [UInt8](repeating: 0, count: 16)
        var span = output.mutableSpan
        var target = span.mutableBytes
        state.finalize(into: &target)
        return output
    }

    /// A cookie reply made from the paper's formula.
    private func reply(_ cookie: [UInt8], from replier: [UInt8], mac1: [UInt8], index: UInt32 = 0) -> [UInt8]
    {
        let nonce = (0..<24).map { UInt8($0) }
        var sealed = [UInt8](repeating: 0, count: 32)
        var span = sealed.mutableSpan
        var target = span.mutableBytes
        XChaCha20Poly1305.seal(
            cookie.span.bytes, key: SecretKey(labelled("cookie--", replier)), nonce: nonce.span.bytes,
            associatedData: mac1.span.bytes, into: &target)
        return [3, 0, 0, 0, 0, 0, 0, 0] + nonce + sealed
    }

    /// An initiation to `receiver` with a valid mac1 and its mac2 under `cookie`, or zero.
    private func initiation(to receiver: PublicKey, cookie: [UInt8]? = nil, index: UInt32 = 9) -> [UInt8] {
        var message = [UInt8](repeating: 0x33, count: 116)
        message.replaceSubrange(0..<4, with: [1, 0, 0, 0])
        for offset in 0..<4 { message[4 + offset] = UInt8(truncatingIfNeeded: index >> UInt32(8 * offset)) }
        let key = receiver.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
        message += mac(labelled("mac1----", key), message)
        return message + (cookie.map { mac($0, message) } ?? [UInt8](repeating: 0, count: 16))
    }

    @Test("mac1 and mac2 of the vectors are written, mac2 with the cookie of a reply")
    func writtenMACs() throws {
        let content = try Fixture.load("vectors/macs_and_cookies.json", as: Content.self)
        check(content.mac1.count == content.mac2.count)
        for (first, second) in zip(content.mac1, content.mac2) {
            let remote = RemoteIdentity(publicKey: try first.receiver_public.publicKey(), local: nil)
            var jar = CookieJar()
            let count = first.body.bytes.count
            var message = first.body.bytes + [UInt8](repeating: 0xEE, count: 32)
            written(&message) {
                MessageMACs.write($0, bodyByteCount: count, remote: remote, cookies: &jar, at: .seconds(1))
            }
            check(message == first.body.bytes + first.mac1.bytes + [UInt8](repeating: 0, count: 16))
            check(first.body.bytes + first.mac1.bytes == second.body_and_mac1.bytes)
            let answer = reply(second.cookie.bytes, from: first.receiver_public.bytes, mac1: first.mac1.bytes)
            let isTaken = datagram(answer) { jar.consume($0, remote: remote, at: .seconds(1)) }
            check(isTaken)
            written(&message) {
                MessageMACs.write($0, bodyByteCount: count, remote: remote, cookies: &jar, at: .seconds(2))
            }
            check(message == second.body_and_mac1.bytes + second.mac2.bytes)
        }
    }

    @Test("the macs of whole handshakes come out, with and without a cookie")
    func handshakeMACs() throws {
        for vector in try HandshakeVectors.load() {
            let inputs = vector.inputs
            for (message, peer, cookie) in [
                (vector.initiation.bytes, inputs.responder_static_public, inputs.initiation_cookie.bytes),
                (vector.response.bytes, inputs.initiator_static_public, inputs.response_cookie.bytes),
            ] {
                let remote = RemoteIdentity(publicKey: try peer.publicKey(), local: nil)
                let count = message.count - 32
                var jar = CookieJar()
                var output = Array(message[..<count]) + [UInt8](repeating: 0xEE, count: 32)
                for _ in 0..<2 {
                    written(&output) {
                        MessageMACs.write(
                            $0, bodyByteCount: count, remote: remote, cookies: &jar, at: .seconds(0))
                    }
                    guard !cookie.isEmpty else { break }
                    let answer = reply(cookie, from: peer.bytes, mac1: Array(message[count..<(count + 16)]))
                    _ = datagram(answer) { jar.consume($0, remote: remote, at: .seconds(0)) }
                }
                check(output == message, "\(vector.name), \(message.count) bytes")
            }
        }
    }

    @Test("a cookie is used for 120 s and no longer, and a reply only once")
    func cookieAge() throws {
        let receiver = PrivateKey().publicKey
        let key = receiver.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
        let remote = RemoteIdentity(publicKey: receiver, local: nil)
        let cookie = (0..<16).map { UInt8($0 * 3) }
        var jar = CookieJar()
        func send(_ jar: inout CookieJar, at now: Instant) -> [UInt8] {
            var message = initiation(to: receiver)
            written(&message) {
                MessageMACs.write($0, bodyByteCount: 116, remote: remote, cookies: &jar, at: now)
            }
            return message
        }
        let plain = initiation(to: receiver)
        let answer = reply(cookie, from: key, mac1: Array(plain[116..<132]))
        check(!datagram(answer) { jar.consume($0, remote: remote, at: .seconds(0)) }, "nothing was sent")
        check(send(&jar, at: .seconds(0)) == plain)
        check(datagram(answer) { jar.consume($0, remote: remote, at: .seconds(1)) })
        check(!datagram(answer) { jar.consume($0, remote: remote, at: .seconds(50)) }, "used twice")
        let full = initiation(to: receiver, cookie: cookie)
        check(send(&jar, at: .seconds(1)) == full)
        check(send(&jar, at: .seconds(120.999)) == full)
        check(send(&jar, at: .seconds(121)) == plain)
    }

    @Test("replies that are forged, altered or of the wrong size are ignored, and the true one still counts")
    func badReplies() throws {
        let content = try Fixture.load("vectors/macs_and_cookies.json", as: Content.self)
        check(content.bad_cookie_replies.count == 10)
        for bad in content.bad_cookie_replies {
            // The jar learns a mac1 only from a message that it sends, so the message is replaced here: what it
            // remembers must be the mac1 of the vector.
            let remote = RemoteIdentity(publicKey: try bad.replier_public.publicKey(), local: nil)
            var jar = CookieJar()
            jar.remember(mac1: bad.mac1.bytes)
            let isTaken = datagram(bad.cookie_reply.bytes) {
                jar.consume($0, remote: remote, at: .seconds(0))
            }
            check(!isTaken, "\(bad.reason)")
            let cookie = [UInt8](repeating: 5, count: 16)
            let answer = reply(cookie, from: bad.replier_public.bytes, mac1: bad.mac1.bytes)
            check(datagram(answer) { jar.consume($0, remote: remote, at: .seconds(0)) }, "\(bad.reason)")
        }
        for good in content.cookie_replies {
            let remote = RemoteIdentity(publicKey: try good.replier_public.publicKey(), local: nil)
            var jar = CookieJar()
            jar.remember(mac1: good.mac1.bytes)
            check(datagram(good.cookie_reply.bytes) { jar.consume($0, remote: remote, at: .seconds(0)) })
            let receiver = remote.publicKey
            var message = initiation(to: receiver)
            written(&message) {
                MessageMACs.write($0, bodyByteCount: 116, remote: remote, cookies: &jar, at: .seconds(0))
            }
            check(message == initiation(to: receiver, cookie: good.cookie.bytes))
        }
    }

    @Test("mac1 is checked over every bit of the message before it, for this host only")
    func mac1() {
        let local = LocalIdentity(PrivateKey())
        let checker = CookieChecker()
        let message = initiation(to: local.publicKey)
        check(datagram(message) { checker.isMAC1Valid($0, local: local) })
        check(!datagram(message) { checker.isMAC1Valid($0, local: LocalIdentity(PrivateKey())) })
        for bit in 0..<(8 * 132) {
            var changed = message
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            check(!datagram(changed) { checker.isMAC1Valid($0, local: local) }, "bit \(bit)")
        }
        for count in 0..<148 {
            let short = Array(message.prefix(count))
            check(!datagram(short) { checker.isMAC1Valid($0, local: local) }, "\(count) bytes")
        }
    }

    @Test("the cookies of the vectors are demanded from their sources")
    func checkedCookies() throws {
        let local = LocalIdentity(PrivateKey())
        for vector in try Fixture.load("vectors/macs_and_cookies.json", as: Content.self).cookies {
            var checker = CookieChecker()
            let source = SocketAddress(address: try IPAddress(vector.ip), port: vector.port)
            giveOut(&checker, secret: vector.secret.bytes, to: source, local, at: .seconds(0))
            let message = initiation(to: local.publicKey, cookie: vector.cookie.bytes)
            check(datagram(message) { checker.isMAC2Valid($0, from: source, at: .seconds(1)) }, "\(source)")
            let zero = initiation(to: local.publicKey)
            check(!datagram(zero) { checker.isMAC2Valid($0, from: source, at: .seconds(1)) }, "\(source)")
        }
    }

    /// Makes the checker draw a secret by writing one reply.
    private func giveOut(
        _ checker: inout CookieChecker, secret: [UInt8], to source: SocketAddress, _ local: LocalIdentity,
        at now: Instant
    ) {
        let random = ScriptedRandomSource(secret + [UInt8](repeating: 1, count: 24))
        var output = [UInt8](repeating: 0, count: 64)
        let message = initiation(to: local.publicKey)
        written(&output) { reply in
            datagram(message) {
                checker.writeReply(to: $0, from: source, local: local, random: random, at: now, into: reply)
            }
        }
        check(output[..<8] == [3, 0, 0, 0, 9, 0, 0, 0])
    }

    @Test("mac2 is good for one address and port, until the secret is 120 s old")
    func mac2Binding() throws {
        let local = LocalIdentity(PrivateKey())
        var checker = CookieChecker()
        let secret = (0..<32).map { UInt8($0) }
        let source = SocketAddress(address: try IPAddress("192.0.2.7"), port: 4_000)
        let message = initiation(
            to: local.publicKey, cookie: mac(secret, [192, 0, 2, 7, UInt8(4_000 >> 8), UInt8(4_000 & 255)]))
        func isValid(
            _ checker: borrowing CookieChecker, _ message: [UInt8], _ source: SocketAddress, _ time: Double
        ) -> Bool {
            datagram(message) { checker.isMAC2Valid($0, from: source, at: .seconds(time)) }
        }
        check(!isValid(checker, message, source, 0), "no secret yet")
        giveOut(&checker, secret: secret, to: source, local, at: .seconds(0))
        check(isValid(checker, message, source, 1))
        check(!isValid(checker, message, SocketAddress(address: source.address, port: 4_001), 1))
        check(!isValid(checker, message, SocketAddress(address: try IPAddress("192.0.2.8"), port: 4_000), 1))
        check(
            !isValid(
                checker, message, SocketAddress(address: try IPAddress("::ffff:192.0.2.7"), port: 4_000), 1))
        for bit in 0..<(8 * 148) {
            var changed = message
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            check(!isValid(checker, changed, source, 1), "bit \(bit)")
        }
        // Within 120 s a further reply draws no new secret: the script would be too short otherwise.
        var output = [UInt8](repeating: 0, count: 64)
        let nonceOnly = ScriptedRandomSource([UInt8](repeating: 2, count: 24))
        written(&output) { reply in
            datagram(message) {
                checker.writeReply(
                    to: $0, from: source, local: local, random: nonceOnly, at: .seconds(119.9), into: reply)
            }
        }
        check(isValid(checker, message, source, 119.9))
        check(!isValid(checker, message, source, 120), "the secret is too old")
        giveOut(&checker, secret: secret.reversed(), to: source, local, at: .seconds(120))
        check(!isValid(checker, message, source, 121), "another secret")
    }

    @Test("a reply is bound to its message and gives the peer the cookie that is then demanded")
    func roundTrip() throws {
        let local = LocalIdentity(PrivateKey())
        let remote = RemoteIdentity(publicKey: local.publicKey, local: nil)
        let source = SocketAddress(address: try IPAddress("2001:db8::5"), port: 51_820)
        for (kind, count) in [(UInt8(1), 116), (UInt8(2), 60)] {
            var checker = CookieChecker()
            var jar = CookieJar()
            var message = [UInt8](repeating: 0x44, count: count + 32)
            message.replaceSubrange(0..<8, with: [kind, 0, 0, 0, 0xD1, 0xC2, 0xB3, 0xA4])
            written(&message) {
                MessageMACs.write($0, bodyByteCount: count, remote: remote, cookies: &jar, at: .seconds(0))
            }
            check(datagram(message) { checker.isMAC1Valid($0, local: local) })
            var answer = [UInt8](repeating: 0, count: 64)
            written(&answer) { reply in
                datagram(message) {
                    checker.writeReply(
                        to: $0, from: source, local: local, random: SystemRandomSource(), at: .seconds(0),
                        into: reply)
                }
            }
            check(datagram(answer) { CookieReply($0)?.receiverIndex } == 0xA4B3_C2D1)
            check(datagram(answer) { jar.consume($0, remote: remote, at: .seconds(0)) })
            check(!datagram(message) { checker.isMAC2Valid($0, from: source, at: .seconds(1)) })
            written(&message) {
                MessageMACs.write($0, bodyByteCount: count, remote: remote, cookies: &jar, at: .seconds(1))
            }
            check(datagram(message) { checker.isMAC2Valid($0, from: source, at: .seconds(1)) })
        }
    }
}

extension CookieJar {
    /// Remembers mac1 from an array.
    fileprivate mutating func remember(mac1 bytes: [UInt8]) {
        var mac1 = [16 of UInt8](repeating: 0)
        for index in mac1.indices { mac1[index] = bytes[index] }
        remember(mac1: mac1)
    }
}
