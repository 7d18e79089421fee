// SPDX-License-Identifier: MIT

import Foundation
import FuzzChecks
import Testing

@Suite("Inputs that the fuzzers start from or once failed at")
struct RegressionTests {
    /// `Fixtures/Regressions`, with a folder for each check.
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/Regressions")

    @Test("each keeps what its check asks for", arguments: FuzzCheck.allCases)
    func regressions(_ check: FuzzCheck) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appending(path: check.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let input = try Data(contentsOf: file)
            let failure = input.withUnsafeBytes { check.failure(for: $0) }
            #expect(failure == nil, "\(check.rawValue)/\(file.lastPathComponent)")
        }
    }

    @Test("inputs of chance keep what their check asks for", arguments: FuzzCheck.allCases)
    func chance(_ check: FuzzCheck) {
        var generator = Generator(state: 17)
        for round in 0..<200 {
            let input = (0..<round * 3).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 32) }
            let failure = input.withUnsafeBytes { check.failure(for: $0) }
            #expect(failure == nil, "\(check.rawValue), round \(round), seed 17")
        }
    }

    /// Random numbers with a seed (SplitMix64).
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}
