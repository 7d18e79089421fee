// SPDX-License-Identifier: MIT

import Foundation

/// A directory that goes with its owner.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/nexusguard-control.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = template.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the directory.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file in the directory.
    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }

    /// The bytes of a file in the directory.
    func bytes(of name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    /// The permission bits of a file in the directory.
    func mode(of name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return (attributes[.posixPermissions] as? Int) ?? -1
    }
}
