// SPDX-License-Identifier: MIT

internal import AgentCommandLine

extension Invocation {
    /// The value of an option that may be there once.
    func one(_ name: String) throws(UsageError) -> String? {
        let values = all(name)
        guard values.count <= 1 else { throw .other("--\(name) may be given once", path: path) }
        return values.first
    }

    /// The value of an option, as `read` understands it.
    func one<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = try one(name) else { return nil }
        guard let value = read(text) else { throw unreadable(text, of: name, expected) }
        return value
    }

    /// The items of an option that may be repeated and may have commas, as `read` understands them.
    func list<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(UsageError) -> [Value] {
        var result: [Value] = []
        for item in all(name).flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let text = String(item.drop { $0 == " " })
            guard let value = read(text) else { throw unreadable(text, of: name, expected) }
            result.append(value)
        }
        return result
    }

    private func unreadable(_ text: String, of name: String, _ expected: String) -> UsageError {
        .invalidValue(of: "--\(name)", expected: "\(expected), not '\(text)'", path: path)
    }
}

extension UsageError {
    /// What is wrong with the options of `serve`.
    static func serve(_ sentence: String) -> UsageError { .other(sentence, path: ["serve"]) }
}
