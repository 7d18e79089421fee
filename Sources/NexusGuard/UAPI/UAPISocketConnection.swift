// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import WireGuardConfiguration
internal import WireGuardCrypto
internal import WireGuardProtocol

/// One client of the control socket, with the bytes that came from it and those on the way to it.
///
/// No request is read while an answer waits to be taken, so a client that does not read holds one answer at
/// most.
final class UAPISocketConnection {
    /// What the connection waits for next.
    enum Interest: Hashable {
        /// A request, or the rest of one.
        case request
        /// Room for the rest of an answer.
        case room
        /// Nothing: it is over.
        case end
    }

    /// The connected socket, nonblocking; owned.
    let descriptor: Int32
    /// What the connection waits for.
    private(set) var interest = Interest.request
    private var reader = UAPIRequestReader()
    private var answer = SecretBuffer(capacity: 64)
    /// Whether nothing more is read: the client has said all, or what it says makes no sense.
    private var hasEnded = false

    /// The number of reads of one turn, so that other clients get theirs.
    private static let readsPerTurn = 16

    /// Takes over a connected socket.
    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reads, answers and writes as far as that goes without waiting.
    ///
    /// - Parameter scratch: Memory to read into; erased before return.
    func proceed(_ operations: UAPIOperations, scratch: UnsafeMutableRawBufferPointer) {
        interest = advance(operations, scratch)
    }

    private func advance(_ operations: UAPIOperations, _ scratch: UnsafeMutableRawBufferPointer) -> Interest {
        var reads = 0
        while true {
            guard flush() else { return .end }
            guard answer.byteCount == 0 else { return .room }
            if let request = reader.next() {
                carryOut(request, operations)
                continue
            }
            if hasEnded { return .end }
            guard reads < Self.readsPerTurn, let count = receive(into: scratch) else { return .request }
            reads += 1
            guard count >= 0 else { return .end }
            if count == 0 {
                hasEnded = true
                // What the client began and did not end is not applied.
                if reader.hasPartialRequest { UAPIReply.append(.brokenProtocol, to: &answer) }
            }
        }
    }

    /// Answers one request.
    private func carryOut(_ request: UAPIRequestReader.Request, _ operations: UAPIOperations) {
        switch request {
        case .get:
            switch operations.get() {
            case .snapshot(let snapshot):
                answer = UAPIGetWriter.write(snapshot, zoneName: InterfaceIndex.name)
                UAPIReply.append(.success, to: &answer)
            case .refused(let status): UAPIReply.append(status, to: &answer)
            }
        case .set: UAPIReply.append(operations.set(with: reader), to: &answer)
        case .refused(let status):
            UAPIReply.append(status, to: &answer)
            hasEnded = true
        }
    }

    /// Reads once: the number of bytes, 0 at the end of the stream, negative on failure, `nil` when there
    /// are none.
    private func receive(into scratch: UnsafeMutableRawBufferPointer) -> Int? {
        let count = SystemCall.orNegativeErrno { recv(descriptor, scratch.baseAddress, scratch.count, 0) }
        if count == -Int(EAGAIN) { return nil }
        guard count > 0 else { return count }
        reader.append(UnsafeRawBufferPointer(rebasing: scratch[..<count]).bytes)
        if let start = scratch.baseAddress { explicit_bzero(start, count) }
        return count
    }

    /// Writes what the socket takes; false when the client is gone.
    private func flush() -> Bool {
        while answer.byteCount > 0 {
            let count = answer.withBytes { bytes in
                bytes.withUnsafeBytes { source in
                    SystemCall.orNegativeErrno {
                        send(descriptor, source.baseAddress, source.count, linux_msg_nosignal)
                    }
                }
            }
            if count == -Int(EAGAIN) { return true }
            guard count > 0 else { return false }
            answer.removeFirst(count)
        }
        return true
    }

    deinit {
        SystemCall.close(descriptor)
    }
}
