// SPDX-License-Identifier: MIT

/// Looks for the values of secret keys in what a program says about a text.
enum SecretSearch {
    /// Shorter values are no secret that anybody could use, and stand in messages by chance.
    private static let shortestSecret = 12

    /// Whether `message` holds the value of a line of `text` whose key, in any case, is one of `names`.
    ///
    /// A value that stands in a line of another key as well may come from there, and does not count.
    static func leaks(_ message: String, _ text: [UInt8], of names: [String]) -> Bool {
        let message = Array(message.utf8)
        var secrets: [[UInt8]] = []
        var others: [ArraySlice<UInt8>] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
                others.append(line)
                continue
            }
            let key = trimmed(line[..<equals]).map { (65...90).contains($0) ? $0 + 32 : $0 }
            if names.contains(where: { $0.utf8.elementsEqual(key) }) {
                secrets.append(Array(trimmed(line[(equals + 1)...])))
            } else {
                others.append(line)
            }
        }
        return secrets.contains { secret in
            secret.count >= shortestSecret && contains(message, secret)
                && !others.contains { contains(Array($0), secret) }
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
        let rest = bytes.drop(while: isSpace)
        return rest.prefix(upTo: rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex)
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { bytes[$0...].starts(with: part) }
    }
}
