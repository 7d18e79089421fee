// SPDX-License-Identifier: MIT

import Foundation

/// The files under `Fixtures/`, found from where this source is.
enum Fixture {
    /// Decodes one file.
    static func load<Content: Decodable>(_ path: String, as type: Content.Type = Content.self) throws
        -> Content
    {
        try JSONDecoder().decode(type, from: Data(bytes(path)))
    }

    /// The bytes of one file.
    static func bytes(_ path: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return [UInt8](try Data(contentsOf: root.appending(path: "Fixtures").appending(path: path)))
    }

    /// The bytes of pairs of hexadecimal digits.
    static func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// A small generator with a seed (SplitMix64), so that a failing run can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Starts from a seed.
    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// So many bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }
}
