// SPDX-License-Identifier: MIT

internal import Glibc
internal import NexusGuardAgent

/// Why an input could not be read; never holds any of it.
enum InputError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be opened or read.
    case unreadable(path: String, errno: Int32)
    /// There is more than is allowed.
    case tooLong(path: String)
    /// Nobody can be asked.
    case noTerminal
    /// The user ended the question.
    case cancelled
    /// The two answers differ.
    case different

    /// One sentence.
    var description: String {
        switch self {
        case .unreadable(let path, let number): "\(path) cannot be read: \(String(cString: strerror(number)))"
        case .tooLong(let path): "\(path) is too long"
        case .noTerminal: "there is no terminal to ask on"
        case .cancelled: "cancelled"
        case .different: "the two are not the same"
        }
    }
}

/// Reads tokens, passphrases and configurations, none of which is ever an argument.
enum SecretInput {
    private static let longestLine = 4096
    private static let longestContent = 524_288

    /// The first line of a file, without white space at its ends.
    static func firstLine(ofFile path: String) throws(InputError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_mode & (S_IRGRP | S_IROTH) != 0
        {
            StandardStream.writeError("warning: \(path) can be read by others")
        }
        return try firstLine(of: descriptor, name: path)
    }

    /// The first line of standard input.
    static func firstLineOfStandardInput() throws(InputError) -> [UInt8] {
        try firstLine(of: STDIN_FILENO, name: "standard input")
    }

    /// A whole file, or standard input; a terminal shows nothing of what is typed or pasted.
    static func content(ofFile path: String?) throws(InputError) -> [UInt8] {
        guard let path else {
            if StandardStream.isTerminal(STDIN_FILENO) {
                return try HiddenInput.read(
                    "Paste the configuration, then press Ctrl-D (nothing is shown):\n", until: .endOfInput,
                    limit: longestContent)
            }
            return try all(of: STDIN_FILENO, name: "standard input", limit: longestContent)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
        defer { close(descriptor) }
        return try all(of: descriptor, name: path, limit: longestContent)
    }

    /// Asks on the terminal without showing the answer; reads standard input where that is no terminal.
    static func ask(_ prompt: String) throws(InputError) -> [UInt8] {
        guard StandardStream.isTerminal(STDIN_FILENO) else { return try firstLineOfStandardInput() }
        return trimmed(try HiddenInput.read(prompt, until: .endOfLine, limit: longestLine))
    }

    /// Asks twice, for what must not have a slip of the finger in it.
    static func askTwice(_ prompt: String) throws(InputError) -> [UInt8] {
        guard StandardStream.isTerminal(STDIN_FILENO) else { return try firstLineOfStandardInput() }
        let first = try ask(prompt)
        var second = try ask("Once more: ")
        defer { second.erase() }
        guard first == second else { throw .different }
        return first
    }

    /// An object with one or two members that are texts; `nil` ones are left out.
    static func document(
        _ name: String, _ value: [UInt8]?, _ otherName: String = "", _ other: [UInt8]? = nil
    ) -> [UInt8] {
        var result: [UInt8] = []
        // Growing would leave copies behind; a byte takes at most six.
        result.reserveCapacity(6 * ((value?.count ?? 0) + (other?.count ?? 0)) + 64)
        result.append(UInt8(ascii: "{"))
        for (name, value) in [(name, value), (otherName, other)] {
            guard let value else { continue }
            if result.count > 1 { result.append(UInt8(ascii: ",")) }
            result += "\"\(name)\":\"".utf8
            for byte in value { append(byte, to: &result) }
            result.append(UInt8(ascii: "\""))
        }
        result.append(UInt8(ascii: "}"))
        return result
    }

    private static func append(_ byte: UInt8, to result: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            result.append(UInt8(ascii: "\\"))
            result.append(byte)
        case ..<0x20, 0x7f:
            result += "\\u00".utf8
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        default: result.append(byte)
        }
    }

    private static func firstLine(of descriptor: Int32, name: String) throws(InputError) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(longestLine + 1)
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: name, errno: errno) }
            if count == 0 || byte == UInt8(ascii: "\n") { return trimmed(line) }
            line.append(byte)
            guard line.count <= longestLine else {
                line.erase()
                throw .tooLong(path: name)
            }
        }
    }

    private static func all(of descriptor: Int32, name: String, limit: Int) throws(InputError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(limit + 4096)
        var buffer = [UInt8](repeating: 0, count: 4096)
        defer { buffer.erase() }
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: name, errno: errno) }
            if count == 0 { return result }
            result += buffer[..<count]
            guard result.count <= limit else {
                result.erase()
                throw .tooLong(path: name)
            }
        }
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        defer { bytes.erase() }
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
        let start = bytes.prefix { isSpace($0) }.count
        var end = bytes.count
        while end > start, isSpace(bytes[end - 1]) { end -= 1 }
        return Array(bytes[start..<end])
    }
}
