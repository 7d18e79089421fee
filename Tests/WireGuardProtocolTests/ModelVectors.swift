// SPDX-License-Identifier: MIT

import Foundation

/// Reads a file of known answers.
enum ModelVectors {
    /// Decodes `Fixtures/vectors/<name>`.
    static func load<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appendingPathComponent("Fixtures/vectors/\(name)"))
        return try JSONDecoder().decode(type, from: data)
    }
}
