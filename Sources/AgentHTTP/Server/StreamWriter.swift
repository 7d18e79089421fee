// SPDX-License-Identifier: MIT

internal import Synchronization

/// The sending end of a stream to one client.
///
/// Writes never wait: what a slow client has not read yet is kept up to the stream's limit, and beyond it the
/// oldest writes are dropped. A write is sent whole or not at all. Any thread may write.
public final class StreamWriter: Sendable {
    private let state: Mutex<State>
    private let limit: Int
    private let ping: [UInt8]?

    /// Creates a writer that nobody reads yet.
    init(_ stream: ServerStream, limit: Int) {
        state = Mutex(State(owner: Owner(lossMarker: stream.lossMarker, onClosed: stream.onClosed)))
        self.limit = stream.bufferLimit ?? limit
        ping = stream.ping
    }

    /// Queues bytes for the client; they are dropped when the stream is closed.
    public func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        state.withLock { state in
            guard !state.isClosed else { return }
            state.append(bytes, limit: limit)
            state.wake()
        }
    }

    /// Ends the stream after what was written so far; does nothing when it has ended.
    public func close() {
        state.withLock { state in
            state.isClosed = true
            state.wake()
        }
    }

    /// Whether the stream was closed by either side.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// How many writes were dropped so far because the client is slow.
    public var droppedCount: Int { state.withLock { $0.droppedCount } }

    /// What a reader gets.
    enum Taken: Equatable {
        /// So many bytes were copied, at least one.
        case bytes(Int)
        /// Nothing is there now; `pause` was called, and `resume` will be.
        case nothing
        /// Nothing is there, and nothing will come.
        case end
        /// The stream was given up, with or without something left.
        case abandoned
    }

    /// Copies the oldest bytes to the reader, or pauses it until there are some.
    ///
    /// - Parameters:
    ///   - pause: Called when there is nothing, before another thread can call `resume`.
    ///   - resume: Called once after `pause`, by the thread that writes or closes.
    func take(
        into buffer: UnsafeMutableRawBufferPointer, pause: () -> Void, resume: @escaping @Sendable () -> Void
    ) -> Taken {
        state.withLock { state in
            if state.isAbandoned { return .abandoned }
            if let lossMarker = state.owner?.lossMarker, state.lostCount > 0, state.sentOfFirst == 0 {
                state.insertMarker(lossMarker(state.lostCount))
            }
            let count = state.copy(to: buffer)
            state.waitingSince = state.byteCount > 0 ? .now : nil
            if count > 0 { return .bytes(count) }
            if state.isClosed { return .end }
            pause()
            state.resume = resume
            return .nothing
        }
    }

    /// Queues the stream's ping when nothing was written for an interval.
    ///
    /// - Returns: The moment of the next ping, or how long the client has taken nothing of what waits.
    func keepAlive(interval: Duration, at now: ContinuousClock.Instant) -> (
        next: ContinuousClock.Instant?, stalled: Duration
    ) {
        state.withLock { state in
            guard !state.isClosed || state.byteCount > 0 else { return (nil, .zero) }
            let stalled = state.waitingSince?.duration(to: now) ?? .zero
            if state.lastWrite.advanced(by: interval) <= now {
                // What waits already shows as well whether the client is there.
                if let ping, !ping.isEmpty, !state.isClosed, state.byteCount == 0 {
                    state.append(ping, limit: .max)
                    state.wake()
                }
                state.lastWrite = now
            }
            return (state.lastWrite.advanced(by: interval), stalled)
        }
    }

    /// Ends the stream at once and forgets what waits; the stream's owner is told once.
    ///
    /// The owner's functions are let go of: they may well hold this writer.
    func abandon() {
        let owner = state.withLock { state -> Owner? in
            state.isAbandoned = true
            state.isClosed = true
            state.clear()
            state.wake()
            return state.owner.take()
        }
        // Outside of the lock, because what goes with the functions may end in this writer.
        owner?.onClosed?()
    }

    /// The functions of the stream's owner.
    private struct Owner {
        let lossMarker: (@Sendable (Int) -> [UInt8])?
        let onClosed: (@Sendable () -> Void)?
    }

    /// What the lock protects.
    private struct State {
        /// `nil` once the stream was given up, which is what breaks the circle of writer and owner.
        var owner: Owner?
        /// The writes that wait, the oldest at `first`; earlier places are empty.
        var queue: [[UInt8]] = []
        var first = 0
        /// How much of the first write was sent.
        var sentOfFirst = 0
        /// The bytes that wait.
        var byteCount = 0
        var droppedCount = 0
        /// Dropped writes that no marker stands for yet.
        var lostCount = 0
        var isClosed = false
        var isAbandoned = false
        var lastWrite = ContinuousClock.now
        /// Since when bytes wait of which the client has taken none.
        var waitingSince: ContinuousClock.Instant?
        var resume: (@Sendable () -> Void)?

        init(owner: Owner) {
            self.owner = owner
        }

        mutating func wake() {
            resume.take()?()
        }

        mutating func append(_ bytes: [UInt8], limit: Int) {
            lastWrite = .now
            if waitingSince == nil { waitingSince = lastWrite }
            // A write that was sent in part must be finished, or the client could not find the next one's start.
            while byteCount + bytes.count > limit, dropOldest() {}
            queue.append(bytes)
            byteCount += bytes.count
        }

        private mutating func dropOldest() -> Bool {
            let place = sentOfFirst > 0 ? first + 1 : first
            guard place < queue.count else { return false }
            byteCount -= queue[place].count
            queue.remove(at: place)
            droppedCount += 1
            lostCount += 1
            return true
        }

        mutating func insertMarker(_ bytes: [UInt8]) {
            lostCount = 0
            guard !bytes.isEmpty else { return }
            queue.insert(bytes, at: first)
            byteCount += bytes.count
        }

        mutating func copy(to buffer: UnsafeMutableRawBufferPointer) -> Int {
            var copied = 0
            while first < queue.count, copied < buffer.count {
                // Where writes are missing, the marker comes before the next one.
                if sentOfFirst == 0, copied > 0, lostCount > 0 { break }
                let count = min(queue[first].count - sentOfFirst, buffer.count - copied)
                queue[first].withUnsafeBytes { bytes in
                    let part = UnsafeRawBufferPointer(rebasing: bytes[sentOfFirst..<sentOfFirst + count])
                    UnsafeMutableRawBufferPointer(rebasing: buffer[copied..<copied + count])
                        .copyMemory(from: part)
                }
                copied += count
                sentOfFirst += count
                if sentOfFirst == queue[first].count { removeFirst() }
            }
            byteCount -= copied
            return copied
        }

        private mutating func removeFirst() {
            queue[first] = []
            first += 1
            sentOfFirst = 0
            // Moving the rest only when it is the smaller part keeps the cost of each write constant.
            if first * 2 >= queue.count {
                queue.removeFirst(first)
                first = 0
            }
        }

        mutating func clear() {
            queue = []
            first = 0
            sentOfFirst = 0
            byteCount = 0
            lostCount = 0
            waitingSince = nil
        }
    }
}
