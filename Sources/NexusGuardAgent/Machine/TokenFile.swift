// SPDX-License-Identifier: MIT

internal import AgentCore
internal import FoundationEssentials

/// Reads the file in which an administrator gives a token.
enum TokenFile {
    /// The token in a file, without the blanks and line ends around it.
    ///
    /// - Returns: `nil` when there is no such file or nothing in it.
    /// - Throws: `AgentError.configInvalid` for a file that cannot be read or holds no token.
    static func read(_ path: String) throws(AgentError) -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .configInvalid(field: "token_file", reason: "\(path) cannot be read")
        }
        guard data.count <= 4_096, let text = String(validating: data, as: UTF8.self) else {
            throw .configInvalid(field: "token_file", reason: "\(path) is not the file of a token")
        }
        var token = text[...]
        while token.last?.isWhitespace == true { token.removeLast() }
        while token.first?.isWhitespace == true { token.removeFirst() }
        guard !token.isEmpty else { return nil }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .configInvalid(field: "token_file", reason: "\(path) holds more than one word")
        }
        return String(token)
    }
}
