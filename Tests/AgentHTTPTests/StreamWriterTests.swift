// SPDX-License-Identifier: MIT

internal import Synchronization
internal import Testing

@testable internal import AgentHTTP

@Suite("The buffer of a stream")
struct StreamWriterTests {
    /// Reads a writer as the server does.
    private final class Reader: Sendable {
        let writer: StreamWriter
        private let counts = Counts()

        /// How often the writer had nothing for the reader.
        var pauses: Int { counts.pauses.load(ordering: .relaxed) }
        /// How often the writer had the reader go on.
        var resumptions: Int { counts.resumptions.load(ordering: .relaxed) }

        /// Apart from the reader: a writer that nobody closes keeps what it is to call.
        private final class Counts: Sendable {
            let pauses = Atomic(0)
            let resumptions = Atomic(0)
        }

        init(_ stream: ServerStream, limit: Int) {
            writer = StreamWriter(stream, limit: limit)
        }

        /// What one read of so many bytes brings.
        func take(_ count: Int) -> (StreamWriter.Taken, String) {
            var buffer = [UInt8](repeating: 0, count: count)
            let taken = buffer.withUnsafeMutableBytes { bytes in
                writer.take(
                    into: bytes, pause: { counts.pauses.add(1, ordering: .relaxed) },
                    resume: { [counts] in counts.resumptions.add(1, ordering: .relaxed) })
            }
            guard case .bytes(let length) = taken else { return (taken, "") }
            return (taken, String(decoding: buffer[..<length], as: UTF8.self))
        }

        /// Everything that is there.
        func takeAll(_ count: Int = 7) -> String {
            var text = ""
            while true {
                let (taken, part) = take(count)
                guard case .bytes = taken else { return text }
                text += part
            }
        }
    }

    private static func stream(
        marker: (@Sendable (Int) -> [UInt8])? = nil, ping: [UInt8]? = nil,
        onClosed: (@Sendable () -> Void)? = nil
    ) -> ServerStream {
        ServerStream(ping: ping, lossMarker: marker, onClosed: onClosed) { _ in }
    }

    @Test("writes come out in order, whatever the size of reads", arguments: [1, 3, 10, 1000])
    func order(size: Int) {
        let reader = Reader(Self.stream(), limit: 100_000)
        var expected = ""
        for number in 0..<500 {
            let text = String(repeating: "\(number),", count: number % 5)
            reader.writer.write(Array(text.utf8))
            expected += text
        }
        #expect(reader.takeAll(size) == expected)
        #expect(reader.writer.droppedCount == 0)
    }

    @Test("a reader without bytes pauses once and is resumed once")
    func pausing() {
        let reader = Reader(Self.stream(), limit: 100)
        #expect(reader.take(10) == (.nothing, ""))
        #expect(reader.pauses == 1)
        reader.writer.write([])
        #expect(reader.resumptions == 0)
        reader.writer.write(Array("a".utf8))
        reader.writer.write(Array("b".utf8))
        #expect(reader.resumptions == 1)
        #expect(reader.take(10) == (.bytes(2), "ab"))
        #expect(reader.pauses == 1)
    }

    @Test("beyond the limit the oldest whole writes go, and a marker stands in their place")
    func dropping() {
        let reader = Reader(Self.stream { Array("[\($0)]".utf8) }, limit: 10)
        for letter in ["aaaa", "bbbb", "cccc", "dddd"] { reader.writer.write(Array(letter.utf8)) }
        #expect(reader.writer.droppedCount == 2)
        #expect(reader.takeAll() == "[2]ccccdddd")
        for letter in ["eeee", "ffff", "gggg"] { reader.writer.write(Array(letter.utf8)) }
        #expect(reader.writer.droppedCount == 3)
        #expect(reader.takeAll() == "[1]ffffgggg")
    }

    @Test("a write that was sent in part is finished, and the marker comes after it")
    func partialWrite() {
        let reader = Reader(Self.stream { Array("[\($0)]".utf8) }, limit: 10)
        for letter in ["aaaa", "bbbb"] { reader.writer.write(Array(letter.utf8)) }
        #expect(reader.take(1) == (.bytes(1), "a"))
        for letter in ["cccc", "dddd"] { reader.writer.write(Array(letter.utf8)) }
        #expect(reader.takeAll(100) == "aaa[2]dddd")
    }

    @Test("a single write larger than the limit is sent all the same")
    func largeWrite() {
        let reader = Reader(Self.stream { Array("[\($0)]".utf8) }, limit: 10)
        reader.writer.write(Array("aaaa".utf8))
        reader.writer.write(Array(String(repeating: "b", count: 30).utf8))
        #expect(reader.takeAll() == "[1]" + String(repeating: "b", count: 30))
    }

    @Test("without a marker the gap is silent")
    func silentGap() {
        let reader = Reader(Self.stream(), limit: 3)
        for letter in ["a", "b", "c", "d"] { reader.writer.write(Array(letter.utf8)) }
        #expect(reader.takeAll() == "bcd")
    }

    @Test("closing lets what was written out first, and takes nothing more")
    func closing() {
        let reader = Reader(Self.stream(), limit: 100)
        reader.writer.write(Array("ab".utf8))
        reader.writer.close()
        reader.writer.write(Array("c".utf8))
        #expect(reader.writer.isClosed)
        #expect(reader.take(1) == (.bytes(1), "a"))
        #expect(reader.take(5) == (.bytes(1), "b"))
        #expect(reader.take(5) == (.end, ""))
        #expect(reader.pauses == 0)
    }

    @Test("closing and giving up resume a reader that pauses; the owner is told once")
    func ending() {
        let closedCount = Mutex(0)
        let reader = Reader(Self.stream(onClosed: { closedCount.withLock { $0 += 1 } }), limit: 100)
        #expect(reader.take(5) == (.nothing, ""))
        reader.writer.close()
        reader.writer.close()
        #expect(reader.resumptions == 1)
        #expect(reader.take(5) == (.end, ""))
        #expect(closedCount.withLock { $0 } == 0)
        reader.writer.abandon()
        reader.writer.abandon()
        #expect(closedCount.withLock { $0 } == 1)
        #expect(reader.take(5) == (.abandoned, ""))
    }

    /// An owner that holds the writer, and is held by the functions that the writer has of it.
    private final class Owner: Sendable {
        let writer = Mutex<StreamWriter?>(nil)
        let closedCount = Atomic(0)
    }

    @Test("a writer that was given up is freed together with an owner that holds it")
    func circle() {
        weak var writer: StreamWriter?
        weak var owner: Owner?
        do {
            let circle = Owner()
            let stream = Self.stream(
                marker: { Array("[\($0)\(circle.writer.withLock { $0 == nil })]".utf8) },
                onClosed: { circle.closedCount.add(1, ordering: .relaxed) })
            let made = StreamWriter(stream, limit: 100)
            circle.writer.withLock { $0 = made }
            made.write(Array("a".utf8))
            made.close()
            // What was written is still to be sent, so the stream has not ended yet.
            #expect(circle.closedCount.load(ordering: .relaxed) == 0)
            made.abandon()
            made.abandon()
            #expect(circle.closedCount.load(ordering: .relaxed) == 1)
            (writer, owner) = (made, circle)
        }
        #expect(writer == nil)
        #expect(owner == nil)
    }

    @Test("the owner's function may use the writer that ends")
    func reentrance() {
        let owner = Owner()
        let writer = StreamWriter(
            Self.stream(onClosed: {
                owner.writer.withLock { $0 }?.write([1])
                owner.writer.withLock { $0 }?.close()
                owner.closedCount.add(1, ordering: .relaxed)
            }), limit: 100)
        owner.writer.withLock { $0 = writer }
        writer.abandon()
        #expect(owner.closedCount.load(ordering: .relaxed) == 1)
    }

    @Test("a ping is written after an interval of silence, and not while something waits")
    func ping() throws {
        let reader = Reader(Self.stream(ping: Array("p".utf8)), limit: 100)
        let interval = Duration.seconds(15)
        let start = ContinuousClock.now
        let next = try #require(reader.writer.keepAlive(interval: interval, at: start).next)
        #expect(next <= start + interval)
        #expect(reader.takeAll() == "")
        _ = reader.writer.keepAlive(interval: interval, at: start + interval)
        #expect(reader.takeAll() == "p")
        reader.writer.write(Array("a".utf8))
        let (_, stalled) = reader.writer.keepAlive(interval: interval, at: start + .seconds(3600))
        #expect(stalled > .seconds(3000))
        #expect(reader.takeAll() == "a")
        #expect(reader.writer.keepAlive(interval: interval, at: start + .seconds(7200)).stalled == .zero)
        reader.writer.close()
        #expect(reader.takeAll() == "p")
        #expect(reader.writer.keepAlive(interval: interval, at: start + .seconds(9000)).next == nil)
    }
}
