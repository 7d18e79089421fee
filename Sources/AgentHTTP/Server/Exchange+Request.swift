// SPDX-License-Identifier: MIT

internal import CMicroHTTPD

/// How a request is read and what is refused before any handler sees it.
extension Exchange {
    /// Whether the content of a request that is refused is read to its end, so that the client gets the answer.
    ///
    /// A client that still sends when the connection ends may lose an answer that has arrived already.
    var readsOn: Bool { receivedCount <= Self.discardLimit && refusal?.status == 413 && !isHopeless }

    /// Takes the header.
    func readHeader(of pointer: OpaquePointer, options: HTTPServerOptions) {
        hasHeader = true
        MHD_get_connection_values_n(
            pointer, .HEADER_KIND,
            { context, _, name, nameLength, value, valueLength in
                guard let context else { return .NO }
                let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                exchange.headers.append(
                    (Exchange.text(name, nameLength), Exchange.trimmed(Exchange.text(value, valueLength))))
                return .YES
            }, Unmanaged.passUnretained(self).toOpaque())
        bodyLimit = options.bodyLimitOf?(headers) ?? options.bodyLimit
        refusal = headerRefusal()
        guard refusal == nil, let length = declaredLength, length > bodyLimit else { return }
        refusal = Self.refusal(413, "the content is too large")
        isHopeless = length > Self.discardLimit || values(of: "Expect").isEmpty == false
    }

    /// Takes a piece of the content; returns whether the connection goes on.
    func take(_ content: UnsafeRawBufferPointer) -> Bool {
        receivedCount += content.count
        if receivedCount <= bodyLimit, refusal == nil {
            body.append(contentsOf: content)
            return true
        }
        if refusal == nil { refusal = Self.refusal(413, "the content is too large") }
        body = []
        return readsOn
    }

    /// The request for the handler; `nil` when the target is malformed, which was refused before.
    func request() -> ServerRequest? {
        guard let target = RequestTarget(target) else { return nil }
        defer { body = [] }
        return ServerRequest(
            method: method, path: target.path, query: target.query, headers: headers, body: body,
            peer: connection.peer, isTLS: connection.isTLS)
    }

    /// What is wrong with the header, as far as no handler can tell.
    private func headerRefusal() -> ServerResponse? {
        let encodings = values(of: "Transfer-Encoding")
        let lengths = values(of: "Content-Length")
        guard headers.allSatisfy({ HeaderFields.isToken($0.name) }), HeaderFields.isToken(method) else {
            return Self.refusal(400, "the header is malformed")
        }
        // Two opinions about where a request ends let one request hide within another.
        guard lengths.count + encodings.count <= 1, values(of: "Host").count <= 1 else {
            return Self.refusal(400, "the header contradicts itself")
        }
        guard encodings.allSatisfy({ $0.lowercased() == "chunked" }) else {
            return Self.refusal(501, "the transfer coding is not known here")
        }
        guard let target = RequestTarget(target) else { return Self.refusal(400, "the target is malformed") }
        // The target counts and not the field (RFC 9112, section 3.2.2): whoever checks the field must not be misled.
        guard let authority = target.authority else { return nil }
        let isSame = values(of: "Host").allSatisfy { $0.lowercased() == authority.lowercased() }
        return isSame ? nil : Self.refusal(400, "the header contradicts itself")
    }

    private var declaredLength: Int? {
        values(of: "Content-Length").first.map { Int($0) ?? .max }
    }

    private func values(of name: String) -> [String] {
        headers.filter { HeaderFields.isSame($0.name, name) }.map(\.value)
    }

    private static func refusal(_ status: Int, _ text: String) -> ServerResponse {
        ServerResponse(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array("\(text)\n".utf8))
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        String(
            decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length), as: UTF8.self)
    }

    /// The value without the white space around it, which libmicrohttpd leaves at the end.
    private static func trimmed(_ value: String) -> String {
        guard let last = value.utf8.last, last == 0x20 || last == 0x09 else { return value }
        return String(
            decoding: value.utf8.reversed().drop { $0 == 0x20 || $0 == 0x09 }.reversed(), as: UTF8.self)
    }

    /// How much content is read for the sake of an answer.
    private static let discardLimit = 1_048_576
}
