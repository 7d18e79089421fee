// SPDX-License-Identifier: MIT

internal import WireGuardCrypto

/// Cuts the bytes of one connection of the cross-platform userspace interface into requests.
///
/// A client may send several requests, one behind the other, and may send each in pieces of any size. Use: `append`
/// what was read, then call `next` until it gives `nil`. The bytes hold private keys, so they are erased as soon as
/// the request is done.
package struct UAPIRequestReader: ~Copyable {
    /// One request.
    package enum Request: Hashable, Sendable {
        /// Answer with the state of the device.
        case get
        /// Apply the lines that `withBody` gives.
        case set
        /// Answer with this status and close the connection: what follows cannot be told apart any more.
        case refused(UAPIStatus)
    }

    /// The most bytes of one request: 64 MiB, room for 250,000 peers. A larger one is refused with E2BIG.
    package static let largestRequest = 64 << 20

    private let limit: Int
    private var buffer = SecretBuffer(capacity: 4096)
    /// The bytes of the request that `next` gave last; they go when `next` is called again.
    private var currentByteCount = 0
    /// Where the lines of that request end, if it is a set operation.
    private var bodyEnd = operationByteCount
    /// How far the search for the empty line has come.
    private var lineStart = operationByteCount
    private var searched = operationByteCount
    private var isClosed = false

    /// Creates the reader of a new connection.
    package init(largestRequest: Int = Self.largestRequest) {
        limit = largestRequest
    }

    /// Adds bytes that the client sent; after a refusal they are ignored.
    package mutating func append(_ bytes: RawSpan) {
        guard !isClosed else { return }
        buffer.append(bytes)
    }

    /// Whether a request has begun and not ended: a client that closes the connection now leaves it undone.
    ///
    /// Such a request is never applied, since its end may be missing.
    package var hasPartialRequest: Bool { buffer.byteCount > currentByteCount }

    /// Erases the last request and gives the next one, or `nil` while it is not complete.
    package mutating func next() -> Request? {
        buffer.removeFirst(currentByteCount)
        currentByteCount = 0
        guard !isClosed else { return nil }
        let operation = buffer.withBytes { Self.operation($0) }
        switch operation {
        case .none: return nil
        case .refused(let status): return refuse(status)
        case .get:
            guard buffer.byteCount > Self.operationByteCount else { return nil }
            guard buffer.withBytes({ $0.byte(Self.operationByteCount) == UInt8(ascii: "\n") }) else {
                return refuse(.invalid)
            }
            currentByteCount = Self.operationByteCount + 1
            return .get
        case .set:
            let isComplete = findEmptyLine()
            let byteCount = isComplete ? currentByteCount : buffer.byteCount
            guard byteCount <= limit else { return refuse(.tooLarge) }
            return isComplete ? .set : nil
        }
    }

    /// Calls `body` with the lines of the set operation that `next` gave last.
    package borrowing func withBody<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let end = currentByteCount == 0 ? Self.operationByteCount : bodyEnd
        let isThere = end <= buffer.byteCount
        return try buffer.withBytes { (bytes) throws(Failure) in
            try body(isThere ? bytes.extracting(Self.operationByteCount..<end) : bytes.extracting(0..<0))
        }
    }

    /// Looks for the empty line, from where the last search ended; notes where the request ends if it is there.
    private mutating func findEmptyLine() -> Bool {
        let from = (searched: searched, lineStart: lineStart)
        let found = buffer.withBytes { bytes -> (isComplete: Bool, end: Int, lineStart: Int) in
            var start = from.lineStart
            var index = from.searched
            while let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: index) {
                let isEmpty = end == start || end == start + 1 && bytes.byte(start) == UInt8(ascii: "\r")
                if isEmpty { return (true, end + 1, start) }
                start = end + 1
                index = start
            }
            return (false, bytes.byteCount, start)
        }
        guard found.isComplete else {
            searched = found.end
            lineStart = found.lineStart
            return false
        }
        bodyEnd = found.lineStart
        currentByteCount = found.end
        searched = Self.operationByteCount
        lineStart = Self.operationByteCount
        return true
    }

    /// Ends the connection's requests.
    private mutating func refuse(_ status: UAPIStatus) -> Request {
        isClosed = true
        currentByteCount = 0
        buffer.removeAll()
        return .refused(status)
    }

    /// Tells the operation by the first line, as soon as it can be told.
    private static func operation(_ bytes: RawSpan) -> Request? {
        let count = min(bytes.byteCount, operationByteCount)
        guard count == operationByteCount else {
            for index in 0..<count {
                let byte = bytes.byte(index)
                let isPossible =
                    index == 0 ? byte == UInt8(ascii: "g") || byte == UInt8(ascii: "s") : byte != 10
                guard isPossible else { return .refused(.invalid) }
            }
            return nil
        }
        let first = bytes.extracting(0..<count)
        if first.isEqual(to: "get=1\n") { return .get }
        if first.isEqual(to: "set=1\n") { return .set }
        return .refused(.invalid)
    }

    /// The number of bytes of `get=1` or `set=1` with its line end.
    private static let operationByteCount = 6
}
