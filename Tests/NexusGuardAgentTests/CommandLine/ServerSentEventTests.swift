// SPDX-License-Identifier: MIT

import Synchronization
import Testing

@testable internal import nexusguard

@Suite("server-sent events, as the command reads them")
struct ServerSentEventTests {
    private func events(_ text: String, pieces: Int) -> [ServerSentEvent] {
        let found = Mutex<[ServerSentEvent]>([])
        let parser = ServerSentEventParser { event in found.withLock { $0.append(event) } }
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            parser.feed(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        return found.withLock { $0 }
    }

    @Test("events are found wherever the stream is cut", arguments: [1, 2, 3, 7, 4096])
    func pieces(size: Int) {
        let text = """
            : ping

            id: 1f.7
            event: log
            data: {"a":1}

            data:plain
            data: second line

            event: empty

            id: 9
            event:snapshot\r
            data:  spaced\r
            retry: 5\r
            unknown\r
            \r
            event: unfinished
            data: x
            """
        #expect(
            events(text, pieces: size) == [
                ServerSentEvent(identifier: "1f.7", name: "log", data: Array(#"{"a":1}"#.utf8)),
                ServerSentEvent(identifier: nil, name: "message", data: Array("plain\nsecond line".utf8)),
                ServerSentEvent(identifier: "9", name: "snapshot", data: Array(" spaced".utf8)),
            ])
    }
}
