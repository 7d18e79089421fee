// SPDX-License-Identifier: MIT

internal import Foundation

/// A folder that is removed with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let name = "agent-http-\(UInt64.random(in: 0...UInt64.max))"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    }

    /// The path of a file in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
