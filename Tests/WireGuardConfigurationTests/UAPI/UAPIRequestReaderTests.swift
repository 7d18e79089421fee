// SPDX-License-Identifier: MIT

import Testing
import WireGuardConfiguration
import WireGuardCrypto

@Suite("UAPI request reader")
struct UAPIRequestReaderTests {
    /// Feeds pieces to a reader and lists what comes out; a set operation as its lines.
    private func requests(_ pieces: [String], limit: Int = UAPIRequestReader.largestRequest) -> [String] {
        var reader = UAPIRequestReader(largestRequest: limit)
        var result: [String] = []
        for piece in pieces {
            let bytes = Array(piece.utf8)
            reader.append(bytes.span.bytes)
            while let request = reader.next() {
                switch request {
                case .get: result.append("get")
                case .set:
                    result.append(
                        "set:"
                            + reader.withBody { body in
                                body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                            })
                case .refused(let status): result.append("refused \(status.rawValue)")
                }
            }
        }
        return result
    }

    @Test("pipelined requests come out one by one, each with its own lines")
    func pipelined() {
        #expect(
            requests(["get=1\n\nset=1\na=1\nb=2\n\nset=1\n\nget=1\n\n"])
                == ["get", "set:a=1\nb=2\n", "set:", "get"])
    }

    @Test("requests that come byte by byte, or cut in two anywhere, give the same")
    func pieces() {
        let text = "set=1\nprivate_key=1\r\n\r\nget=1\n\nset=1\nx=1\n\n"
        let whole = requests([text])
        #expect(whole == ["set:private_key=1\r\n", "get", "set:x=1\n"])
        #expect(requests(text.utf8.map { String(decoding: [$0], as: UTF8.self) }) == whole)
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let halves = [bytes[..<cut], bytes[cut...]].map { String(decoding: $0, as: UTF8.self) }
            #expect(requests(halves) == whole)
        }
    }

    @Test(
        "anything but a get or set line is refused once, and what follows is ignored",
        arguments: [
            "x", "\n", "get=2\n\n", "get=1\r\n\r\n", "set=0\n\n", "get=1\nx=1\n\n", "GET=1\n\n", "set\n",
            "s\n\n",
        ])
    func malformed(text: String) {
        #expect(requests([text, "get=1\n\n"]) == ["refused -22"])
    }

    @Test("a request above the limit is refused before its end, and one at the limit is taken")
    func limit() {
        let body = String(repeating: "a", count: 92) + "\n"
        #expect(requests(["set=1\n" + body + "\n"], limit: 100) == ["set:" + body])
        #expect(requests(["set=1\na" + body + "\n"], limit: 100) == ["refused -7"])
        #expect(
            requests(["set=1\n" + String(repeating: "a", count: 96), "\n\n"], limit: 100) == ["refused -7"])
    }

    @Test("a request without its end is noticed and not given")
    func partial() {
        var reader = UAPIRequestReader()
        let isPartialBefore = reader.hasPartialRequest
        let bytes = Array("get=1\n\nset=1\nlisten_port=1\n".utf8)
        reader.append(bytes.span.bytes)
        let requests = [reader.next(), reader.next()]
        let isPartialAfter = reader.hasPartialRequest
        let empty = reader.withBody { $0.byteCount }
        #expect(requests == [.get, nil])
        #expect(!isPartialBefore && isPartialAfter && empty == 0)
    }

    @Test("a hundred thousand small requests at once are read without trouble")
    func many() {
        #expect(requests([String(repeating: "get=1\n\n", count: 100_000)]).count == 100_000)
    }
}
