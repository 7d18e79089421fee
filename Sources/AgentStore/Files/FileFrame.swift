// SPDX-License-Identifier: MIT

internal import AgentCore

/// What stands around the content of each file: a digest, what it is, its version and its generation.
///
/// The file is one JSON object in one line and ends with a line feed:
///
///     {"sha256":"…","file":"tunnel","version":1,"generation":7,"content":{…}}
///     {"sha256":"…","file":"tunnel","version":1,"generation":7,"key":"…","nonce":"…","sealed":"…"}
///
/// The digest is over all that follows its own field, so that no flipped bit and no missing end goes
/// unnoticed. Fields come in this order and without spaces. This frame never changes; what may change with
/// the version is the content.
struct FileFrame {
    /// What a frame holds.
    enum Body {
        /// JSON.
        case clear(ErasedBuffer)
        /// JSON encrypted under a host key, with the tag at its end.
        case sealed(keyIdentifier: String, nonce: [UInt8], ciphertext: ErasedBuffer)
    }

    /// What kind of file it is, so that one is never taken for another.
    let kind: String
    /// The version of the content.
    let version: Int
    /// Rises with each save.
    let generation: UInt64
    /// The content.
    let body: Body

    /// Creates a frame.
    init(kind: String, version: Int, generation: UInt64, body: Body) {
        self.kind = kind
        self.version = version
        self.generation = generation
        self.body = body
    }

    /// Reads the bytes of a file; `nil` when they are not what was written.
    init?(parsing file: ErasedBuffer) {
        guard let frame = file.withBytes({ Self.parse($0) }) else { return nil }
        self = frame
    }

    /// The bytes of the file.
    func bytes() -> ErasedBuffer {
        let covered = ErasedBuffer()
        covered.append("\"file\":\"\(kind)\",\"version\":\(version),\"generation\":\(generation),")
        switch body {
        case .clear(let content):
            covered.append("\"content\":")
            covered.append(content)
        case .sealed(let keyIdentifier, let nonce, let ciphertext):
            covered.append("\"key\":\"\(keyIdentifier)\",\"nonce\":\"")
            nonce.withUnsafeBytes { covered.append(hexadecimal: $0) }
            covered.append("\",\"sealed\":\"")
            ciphertext.withBytes { covered.append(base64: $0) }
            covered.append("\"")
        }
        covered.append("}\n")
        let file = ErasedBuffer(capacity: covered.count + 128)
        file.append("{\"sha256\":\"\(Hexadecimal.text(covered.withBytes { StoreSodium.sha256($0) }))\",")
        file.append(covered)
        return file
    }

    private static func parse(_ file: UnsafeRawBufferPointer) -> FileFrame? {
        var cursor = ByteCursor(file)
        guard cursor.take("{\"sha256\":\""), let digest = cursor.takeToQuote(), cursor.take(","),
            digest.elementsEqual(Hexadecimal.text(StoreSodium.sha256(cursor.rest)).utf8),
            cursor.take("\"file\":\""), let kind = cursor.takeToQuote(),
            cursor.take(",\"version\":"), let version = cursor.takeNumber().flatMap({ Int(exactly: $0) }),
            cursor.take(",\"generation\":"), let generation = cursor.takeNumber(), cursor.take(","),
            let body = parseBody(&cursor)
        else { return nil }
        return FileFrame(
            kind: String(decoding: kind, as: UTF8.self), version: version, generation: generation, body: body)
    }

    private static func parseBody(_ cursor: inout ByteCursor) -> Body? {
        if cursor.take("\"content\":") {
            guard let content = cursor.take(cursor.rest.count - 2), cursor.take("}\n") else { return nil }
            return .clear(ErasedBuffer(content))
        }
        guard cursor.take("\"key\":\""), let key = cursor.takeToQuote(),
            cursor.take(",\"nonce\":\""), let nonceText = cursor.takeToQuote(),
            let nonce = ErasedBuffer.decoded(hexadecimal: nonceText),
            cursor.take(",\"sealed\":\""), let sealed = cursor.takeToQuote(),
            let ciphertext = ErasedBuffer.decoded(base64: sealed), cursor.take("}\n"), cursor.rest.isEmpty
        else { return nil }
        return .sealed(
            keyIdentifier: String(decoding: key, as: UTF8.self), nonce: nonce.array(), ciphertext: ciphertext)
    }
}
