// SPDX-License-Identifier: MIT

import AgentCore
import Foundation
import Harness
import Testing

@Suite("JSON")
struct JSONTests {
    private static func parse(_ text: String) throws(AgentError) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    @Test(
        "what the grammar does not have is refused, with the place and not the text",
        arguments: [
            "", " ", "{", "[", "\"", "\"abc", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "[1", "[1,",
            "[1,]",
            "[,1]", "{,}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\" 1}", "{1:2}", "[1 2]", "tru", "True",
            "nul",
            "nan", "NaN", "Infinity", "-", "+1", "01", "-01", "1.", ".5", "1.e3", "1e", "1e+", "0x10",
            "1_000",
            "1 2", "{} {}", "[]]", "}", "\"\t\"", "\"\n\"", "\"\u{1}\"", "\"\\x\"", "\"\\\"", "\"\\u12\"",
            "\"\\u12G4\"", "\"\\uD800\"", "\"\\uD800x\"", "\"\\uD800\\u0041\"", "\"\\uDC00\"",
            "\"\\uDC00\\uD800\"",
            "\"\\uD83D\\\"", "// c\n1", "/**/1", "\u{FEFF}{}", "1e400", "-1e999", "\u{A0}1", "[1]x",
            "\"a\" \"b\"",
            "\"\\u+123\"", "1\u{0}",
        ])
    func refused(_ text: String) {
        let error = #expect(throws: AgentError.self) { try Self.parse(text) }
        guard case .configInvalid("JSON", let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("byte ") || reason.contains("bytes"))
    }

    @Test(
        "invalid UTF-8 is refused anywhere",
        arguments: [[0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]]
            as [[UInt8]])
    func invalidUTF8(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(throws: AgentError.configInvalid(field: "JSON", reason: "is not UTF-8")) {
            try JSONValue(parsing: [quote] + bytes + [quote])
        }
    }

    @Test("a name that comes twice is refused, also when it is escaped")
    func duplicates() {
        for text in ["{\"key\":1,\"key\":1}", "{\"key\":1,\"k\\u0065y\":2}", "[{\"key\":{},\"key\":{}}]"] {
            #expect(throws: AgentError.configInvalid(field: "key", reason: "is given twice")) {
                try Self.parse(text)
            }
        }
        #expect(throws: AgentError.configInvalid(field: "(unknown field)", reason: "is given twice")) {
            try Self.parse("{\"a-b c\":1,\"a-b c\":2}")
        }
    }

    @Test("nesting and size are bounded")
    func bounds() throws {
        let deep = JSONValue.deepestNesting
        _ = try Self.parse(String(repeating: "[", count: deep) + String(repeating: "]", count: deep))
        #expect(throws: AgentError.self) {
            try Self.parse(String(repeating: "[", count: deep + 1) + String(repeating: "]", count: deep + 1))
        }
        // Far deeper than any stack: refused before it is reached.
        #expect(throws: AgentError.self) { try Self.parse(String(repeating: "[", count: 60_000)) }
        #expect(throws: AgentError.self) { try Self.parse(String(repeating: "{\"a\":", count: 12_000)) }
        let longest = JSONValue.largestDocument
        _ = try Self.parse("\"" + String(repeating: "a", count: longest - 2) + "\"")
        #expect(throws: AgentError.self) {
            try Self.parse("\"" + String(repeating: "a", count: longest - 1) + "\"")
        }
        #expect(throws: AgentError.self) { try Self.parse(String(repeating: "1", count: 65)) }
    }

    @Test("values are read as they are written")
    func values() throws {
        func string(_ text: String) throws -> String? {
            guard case .string(let value) = try Self.parse(text) else { return nil }
            return value.string
        }
        #expect(try string("\"\"") == "")
        #expect(try string(" \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\" ") == "a\"\\/\u{8}\u{C}\n\r\t")
        #expect(try string("\"\\u00e9\\u4e2D\\uD83D\\uDD11\"") == "é中🔑")
        #expect(try string("\"é中🔑\u{7F}\"") == "é中🔑\u{7F}")
        #expect(try string("\"\\u0000\"") == "\0")
        func integer(_ text: String) throws -> Int64? {
            guard case .integer(let value) = try Self.parse(text) else { return nil }
            return value
        }
        #expect(try integer("0") == 0)
        #expect(try integer("-0") == 0)
        #expect(try integer("9223372036854775807") == .max)
        #expect(try integer("-9223372036854775808") == .min)
        #expect(try integer("9223372036854775808") == nil)
        #expect(try integer("1.0") == nil)
        guard case .number(let number) = try Self.parse("-12.5e-1") else {
            Issue.record("not a number")
            return
        }
        #expect(number == -1.25)
    }

    @Test("of mutated documents none is taken that Foundation refuses", arguments: 0..<8 as Range<UInt64>)
    func mutations(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let document = try Sample.json(["deep": [[1, -2.5e3, NSNull(), true, "\u{1F511}\n\\"]]])
        let alphabet = Array("{}[]\",:\\u0123456789eE+-.tfn \t\n\u{1}".utf8) + [0x80, 0xC3, 0xFF]
        var taken = 0
        for _ in 0..<3000 {
            var bytes = document
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: place)
                default: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
                }
            }
            guard (try? JSONValue(parsing: bytes)) != nil else { continue }
            taken += 1
            let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            #expect(other != nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(taken > 0)
    }

    @Test("what is written, Foundation reads back", arguments: 0..<20 as Range<UInt64>)
    func writer(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var texts: [String] = ["", "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é中🔑"]
        for _ in 0..<20 {
            let scalars = (0..<10).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
            }
            texts.append(String(String.UnicodeScalarView(scalars)))
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("list")
        writer.beginArray()
        for text in texts { writer.value(text) }
        writer.endArray()
        writer.member("yes", true)
        writer.member("number", Int.min)
        writer.name("none")
        writer.null()
        writer.name("empty")
        writer.beginArray()
        writer.endArray()
        writer.name("bytes")
        writer.hexadecimal(Array(UInt8.min...UInt8.max).span.bytes)
        writer.endObject()
        struct Content: Decodable, Equatable {
            let list: [String]
            let yes: Bool
            let number: Int
            let none: String?
            let empty: [Int]
            let bytes: String
        }
        let content = try JSONDecoder().decode(Content.self, from: Data(writer.finish()))
        let digits = (0...255).map { String(format: "%02x", $0) }.joined()
        #expect(
            content
                == Content(list: texts, yes: true, number: .min, none: nil, empty: [], bytes: digits))
    }
}
