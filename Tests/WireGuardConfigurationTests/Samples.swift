// SPDX-License-Identifier: MIT

import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

/// Inputs that several suites share.
enum Samples {
    /// The key text of peers A, B and C: 64 hexadecimal digits that differ in every byte.
    static let hexA = String(repeating: "a1", count: 32)
    static let hexB = String(repeating: "b2", count: 32)
    static let hexC = String(repeating: "c3", count: 32)
    /// A private key and a preshared key whose text must never be repeated.
    static let hexSecret = String(repeating: "5e", count: 31) + "4f"
    static let hexPreshared = String(repeating: "9d", count: 32)

    /// A generator of known sequence (SplitMix64), for tests that can be repeated.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }

        /// So many random bytes.
        mutating func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 24) }
        }

        /// A random prefix of either family.
        mutating func prefix() -> IPPrefix {
            let address =
                Bool.random(using: &self)
                ? IPAddress(ipv4: UInt32(truncatingIfNeeded: next()))
                : IPAddress(ipv6High: next(), low: Bool.random(using: &self) ? 0 : next())
            let length = Int.random(in: 0...address.bitCount, using: &self)
            return IPPrefix(address: address, length: length) ?? IPPrefix.everything
        }
    }

    /// The lines of a get or set answer.
    static func text(_ buffer: borrowing SecretBuffer) -> String {
        buffer.withBytes { bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Reads a set operation; interfaces `eth0` and `wlan0` have the indices 2 and 3.
    static func parse(_ text: String) throws(UAPIError) -> ConfigurationChange {
        let bytes = Array(text.utf8)
        return try UAPISetParser.parse(bytes.span.bytes, resolvingZone: { ["eth0": 2, "wlan0": 3][$0] })
    }

    /// The error of a set operation that is refused, or `nil` if it is accepted.
    static func error(_ text: String) -> UAPIError? {
        do {
            _ = try parse(text)
            return nil
        } catch {
            return error
        }
    }
}

extension IPPrefix {
    /// All IPv4 addresses.
    static let everything: IPPrefix = {
        guard let prefix = IPPrefix(address: IPAddress(ipv4: 0), length: 0) else {
            preconditionFailure("0.0.0.0/0 is a prefix")
        }
        return prefix
    }()
}
