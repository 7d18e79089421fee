// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import FoundationEssentials

/// The faults that meet one request.
struct InjectedFaults {
    private let kinds: [Fault.Kind]

    /// Takes faults.
    init(_ kinds: [Fault.Kind] = []) {
        self.kinds = kinds
    }

    /// How much later the answer comes.
    var delay: Duration? {
        let delays = kinds.compactMap { kind in if case .delay(let delay) = kind { delay } else { nil } }
        return delays.isEmpty ? nil : delays.reduce(.zero, +)
    }

    /// How many heartbeats of a device there are to one with new keys.
    var rotateEvery: Int? {
        kinds.lazy.compactMap { kind in if case .rotateEvery(let count) = kind { count } else { nil } }.first
    }

    /// What is sent instead of carrying the request out.
    var replyInPlace: ServerReply? {
        if kinds.contains(.drop) { return .drop }
        let retryAfter = kinds.lazy.compactMap { kind in
            if case .retryAfter(let value) = kind { value } else { nil }
        }.first
        for kind in kinds {
            switch kind {
            case .status(let status): return .response(Self.plain(status, retryAfter: retryAfter))
            case .redirect(let location):
                let response = ServerResponse(
                    status: 302, headers: [(name: "Location", value: location)])
                return .response(response)
            case .html: return .response(Self.page)
            case .garbage: return .response(.json(CryptoManager.randomBytes(512)))
            case .oversize(let count):
                let frame = (Array(#"{"padding":""#.utf8), Array(#""}"#.utf8))
                return .response(
                    .json(frame.0 + [UInt8](repeating: UInt8(ascii: "x"), count: count) + frame.1))
            default: break
            }
        }
        return retryAfter.map { .response(Self.plain(503, retryAfter: $0)) }
    }

    /// What is sent of the answer to a request that was carried out.
    func spoil(_ response: ServerResponse) -> ServerReply {
        if kinds.contains(.dropAfter) { return .drop }
        if kinds.contains(.truncate) { return .truncated(response, after: response.body.count / 2) }
        return .response(response)
    }

    /// Changes a configuration before it is written.
    func alter(_ config: inout WireGuardConfig) {
        if kinds.contains(.otherDevice) { config.deviceID = UUID().uuidString.lowercased() }
    }

    /// Changes a configuration after it was written.
    func alter(_ json: [UInt8]) -> [UInt8] {
        let names = kinds.compactMap { kind in if case .badField(let name) = kind { name } else { nil } }
        guard !names.isEmpty, case .object(let members)? = try? JSONValue(parsing: json) else { return json }
        var writer = JSONWriter(capacity: json.count + 64)
        writer.beginObject()
        for name in members.keys.sorted() where !names.contains(name) {
            writer.name(name)
            write(members[name] ?? .null, to: &writer)
        }
        for name in names { writer.member(name, "\u{1}nonsense") }
        writer.endObject()
        return writer.finish()
    }

    /// The key of an encrypted answer.
    func envelopeKey(_ key: ProvisioningKey) -> ProvisioningKey {
        guard kinds.contains(.wrongKey) else { return key }
        return CryptoManager.deriveKey(token: RegistrationToken.make(), hwid: "")
    }

    /// Changes an encrypted answer.
    func alter(envelope: String) -> String {
        guard kinds.contains(.wrongTag), var bytes = Base64.bytes(envelope), !bytes.isEmpty else {
            return envelope
        }
        bytes[bytes.count - 1] ^= 1
        return Base64.text(bytes)
    }

    private func write(_ value: JSONValue, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let flag): writer.value(flag)
        case .integer(let number): writer.value(Int(number))
        case .number(let number): writer.value(Int(number))
        case .string(let text): writer.value(text.string)
        case .array(let values):
            writer.beginArray()
            for value in values { write(value, to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.name(name)
                write(value, to: &writer)
            }
            writer.endObject()
        }
    }

    private static func plain(_ status: Int, retryAfter: String?) -> ServerResponse {
        var response = Refusal(status: status, code: "fault", message: "a fault was asked for").response
        if let retryAfter { response.headers.append((name: "Retry-After", value: retryAfter)) }
        return response
    }

    private static let page = ServerResponse(
        status: 200, headers: [(name: "Content-Type", value: "text/html; charset=utf-8")],
        body: Array(
            """
            <!DOCTYPE html>
            <html><head><title>Welcome</title></head>
            <body><form action="/login" method="post"><input name="user"><button>Log in</button></form></body></html>

            """.utf8))
}
