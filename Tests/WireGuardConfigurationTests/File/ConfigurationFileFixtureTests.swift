// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto
import WireGuardProtocol

@Suite("Configuration file samples")
struct ConfigurationFileFixtureTests {
    @Test("the samples are there")
    func present() {
        #expect(Fixtures.configurations("good").count >= 6)
        #expect(Fixtures.configurations("bad").count >= 60)
    }

    @Test(
        "every good file is read, and reads the same after it is written",
        arguments: Fixtures.configurations("good"))
    func good(name: String) throws {
        let bytes = try Fixtures.bytes("configuration/good/\(name)")
        let file = try ConfigurationFile(parsing: bytes.span.bytes)
        let again = try ConfigurationFile(parsing: file.text)
        #expect(again.text == file.text)
        Samples.expectSame(again, file, "\(name)")
    }

    @Test("what wg showconf prints is written back byte for byte")
    func showconf() throws {
        let text = try Fixtures.text("configuration/good/showconf.conf")
        #expect(try ConfigurationFile(parsing: text).text == text)
    }

    @Test(
        "every bad file is refused with its line, key and reason, without a secret",
        arguments: Fixtures.configurations("bad"))
    func bad(name: String) throws {
        let bytes = try Fixtures.bytes("configuration/bad/\(name)")
        let text = String(decoding: bytes, as: UTF8.self)
        let first = try #require(text.split(separator: "\n").first)
        let parts = first.dropFirst("# line ".count).split(separator: ":", maxSplits: 2).map {
            $0.drop { $0 == " " }
        }
        try #require(parts.count == 3)
        let error = try #require(Samples.fileError(bytes), "\(name) is accepted")
        #expect(error.line == Int(parts[0]), "\(error)")
        #expect(error.key == String(parts[1]), "\(error)")
        #expect(error.reason.contains(parts[2]), "\(error)")
        // Any word of the file long enough for a key must not be in the message.
        let shown = error.description + String(reflecting: error)
        for word in text.split(whereSeparator: { $0.isWhitespace || $0 == "#" }) where word.utf8.count >= 40 {
            #expect(!shown.contains(word.dropFirst(8).prefix(16)), "\(error)")
        }
    }

    @Test(
        "a file cut short at any byte is read or refused, and never crashes",
        arguments: ["wg-quick.conf", "windows.conf"])
    func truncation(name: String) throws {
        let bytes = try Fixtures.bytes("configuration/good/\(name)")
        var refused = 0
        for count in 0..<bytes.count {
            let part = Array(bytes[..<count])
            do {
                _ = try ConfigurationFile(parsing: part.span.bytes)
            } catch {
                refused += 1
                #expect(error.line >= 1 && !error.reason.isEmpty)
            }
        }
        #expect(refused > bytes.count / 4)
    }

    @Test(
        "a file with any one byte changed is read or refused, and never crashes",
        arguments: [1, 2, 3] as [UInt64])
    func corruption(seed: UInt64) throws {
        var generator = Samples.Generator(seed: seed)
        let bytes = try Fixtures.bytes("configuration/good/wg-quick.conf")
        for _ in 0..<500 {
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                in: 0...255, using: &generator)
            guard let file = try? ConfigurationFile(parsing: changed.span.bytes) else { continue }
            #expect(throws: Never.self, "seed \(seed)") { try ConfigurationFile(parsing: file.text) }
        }
    }
}
