// SPDX-License-Identifier: MIT

internal import CMicroHTTPD
internal import Glibc

/// Turns the answers of handlers into those of libmicrohttpd.
enum ServerReplies {
    /// An answer to be queued and then released.
    struct Response {
        let status: Int
        let pointer: OpaquePointer
    }

    /// Makes the answer; `nil` when the connection is to be closed without one.
    ///
    /// - Parameters:
    ///   - writer: The writer of a stream; `nil` for the answer to `HEAD`.
    ///   - further: The header fields of answers that have none of the same name.
    ///   - closes: Whether the connection ends with this answer.
    static func response(
        _ reply: ServerReply, writer: StreamWriter?, further: [(name: String, value: String)], closes: Bool,
        on connection: OpaquePointer
    ) -> Response? {
        func finished(_ pointer: OpaquePointer?, _ response: ServerResponse) -> Response? {
            let rest = further.filter { HeaderFields.first($0.name, in: response.headers) == nil }
            var response = response
            response.headers += rest
            return Self.finished(pointer, response, closes: closes)
        }
        switch reply {
        case .drop: return nil
        case .response(let response):
            let content = isSensible(response) ? response : failure
            return finished(whole(content.body), content)
        case .truncated(let response, let count):
            let content = isSensible(response) ? response : failure
            return finished(part(content.body, upTo: count), content)
        case .stream(let stream):
            let response = ServerResponse(status: 200, headers: stream.headers)
            guard isSensible(response) else {
                writer?.abandon()
                return finished(whole(failure.body), failure)
            }
            let body = writer.map { open($0, on: connection) } ?? whole([])
            return finished(body, response)
        }
    }

    /// What is sent in place of an answer that cannot be sent as it is.
    private static let failure = ServerResponse(
        status: 500, headers: [("Content-Type", "text/plain; charset=utf-8")],
        body: Array("the answer cannot be sent\n".utf8))

    private static func isSensible(_ response: ServerResponse) -> Bool {
        (200..<600).contains(response.status)
            && response.headers.allSatisfy { HeaderFields.isToken($0.name) && HeaderFields.isValue($0.value) }
    }

    private static func finished(
        _ pointer: OpaquePointer?, _ response: ServerResponse, closes: Bool
    ) -> Response? {
        guard let pointer else { return nil }
        for (name, value) in response.headers where !value.isEmpty {
            // These two say how the content is sent, which is libmicrohttpd's decision.
            if ["Content-Length", "Transfer-Encoding"].contains(where: { HeaderFields.isSame($0, name) }) {
                continue
            }
            guard MHD_add_response_header(pointer, name, value) == .YES else {
                MHD_destroy_response(pointer)
                return nil
            }
        }
        if closes { MHD_add_response_header(pointer, "Connection", "close") }
        return Response(status: response.status, pointer: pointer)
    }

    private static func whole(_ body: [UInt8]) -> OpaquePointer? {
        body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
    }

    /// Content that ends before the length that was announced.
    private static func part(_ body: [UInt8], upTo count: Int) -> OpaquePointer? {
        guard count < body.count else { return whole(body) }
        let content = Unmanaged.passRetained(Content(body, sentCount: max(count, 0)))
        return MHD_create_response_from_callback(
            UInt64(body.count), blockSize,
            { context, position, buffer, room in
                guard let context, let buffer else { return ng_mhd_end_with_error }
                let content = Unmanaged<Content>.fromOpaque(context).takeUnretainedValue()
                let count = min(room, content.bytes.count - Int(position))
                guard count > 0 else { return ng_mhd_end_with_error }
                UnsafeMutableRawBufferPointer(start: buffer, count: room)
                    .copyBytes(from: content.bytes[Int(position)..<Int(position) + count])
                return count
            }, content.toOpaque(), { $0.map { Unmanaged<Content>.fromOpaque($0).release() } })
    }

    private final class Content: Sendable {
        let bytes: ArraySlice<UInt8>

        init(_ body: [UInt8], sentCount: Int) {
            bytes = body.prefix(sentCount)
        }
    }

    /// Content that is read from a writer for as long as there is any.
    private static func open(_ writer: StreamWriter, on connection: OpaquePointer) -> OpaquePointer? {
        let source = Unmanaged.passRetained(Source(writer: writer, connection: connection))
        return MHD_create_response_from_callback(
            ng_mhd_size_unknown, blockSize,
            { context, _, buffer, room in
                guard let context, let buffer else { return ng_mhd_end_with_error }
                let source = Unmanaged<Source>.fromOpaque(context).takeUnretainedValue()
                return source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
            }, source.toOpaque(), { $0.map { Unmanaged<Source>.fromOpaque($0).release() } })
    }

    /// A writer and the connection that reads it. The pointer is valid as long as libmicrohttpd calls.
    private final class Source: @unchecked Sendable {
        private let writer: StreamWriter
        private let connection: OpaquePointer

        init(writer: StreamWriter, connection: OpaquePointer) {
            self.writer = writer
            self.connection = connection
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            // While it is suspended, the connection stays, so a writer may resume it at any time.
            let taken = writer.take(
                into: buffer, pause: { MHD_suspend_connection(connection) },
                resume: { MHD_resume_connection(self.connection) })
            switch taken {
            case .bytes(let count): return count
            case .nothing: return 0
            case .end: return ng_mhd_end_of_stream
            case .abandoned: return ng_mhd_end_with_error
            }
        }
    }

    private static let blockSize = 16_384
}
