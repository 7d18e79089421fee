// SPDX-License-Identifier: MIT

import Foundation

/// The files under `Fixtures/`, found from where this source is.
enum Fixtures {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// The bytes of one file.
    static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appending(path: path)))
    }

    /// The text of one file.
    static func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// The names of the configuration files of a folder, sorted; empty when the folder is not there.
    static func configurations(_ folder: String) -> [String] {
        let path = root.appending(path: "configuration/\(folder)").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(".conf") }.sorted()
    }
}
