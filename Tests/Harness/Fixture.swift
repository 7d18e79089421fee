// SPDX-License-Identifier: MIT

internal import Foundation

/// The files under `Fixtures/`, found from where this source is.
package enum Fixture {
    /// Decodes a file of JSON.
    package static func load<Content: Decodable>(
        _ path: String, as type: Content.Type = Content.self
    ) throws -> Content {
        try JSONDecoder().decode(type, from: Data(bytes(path)))
    }

    /// The bytes of a file.
    package static func bytes(_ path: String) throws -> [UInt8] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return [UInt8](try Data(contentsOf: root.appending(path: "Fixtures").appending(path: path)))
    }

    /// The bytes of pairs of hexadecimal digits; none when it is no such text, which no test expects.
    package static func hex(_ text: String) -> [UInt8] { HexBytes(text)?.bytes ?? [] }
}
