// SPDX-License-Identifier: MIT

/// Why a command line makes no sense.
///
/// No case holds the value of an option: a token given by mistake must not reach the screen or a log.
package enum UsageError: Error, Equatable, CustomStringConvertible {
    /// No command is named; `choices` are those that there are, where they are few.
    case missingCommand(path: [String], choices: [String])
    /// The command does not exist, or is not repeated because it may be a secret; perhaps another one was meant.
    case unknownCommand(String?, path: [String], suggestion: String?)
    /// The option does not exist for this command.
    case unknownOption(String, path: [String])
    /// The option needs a value.
    case missingValue(option: String, path: [String])
    /// The option takes no value.
    case surplusValue(option: String, path: [String])
    /// An argument is missing.
    case missingArgument(String, path: [String])
    /// There is an argument too many; `nil` when it must not be repeated.
    case surplusArgument(String?, path: [String])
    /// A value is none of those that are possible; the text says what is.
    case invalidValue(of: String, expected: String, path: [String])
    /// Two options exclude each other.
    case conflict(String, String, path: [String])
    /// A sentence of the command itself.
    case other(String, path: [String])

    /// One sentence that names the command and the culprit.
    package var description: String {
        path.isEmpty ? sentence : "\(path.joined(separator: " ")): \(sentence)"
    }

    /// The same, and where help is.
    package func description(of program: String) -> String {
        "\(description); see '\(([program] + path).joined(separator: " ")) --help'"
    }

    private var path: [String] {
        switch self {
        case .missingCommand(let path, _), .unknownCommand(_, let path, _), .unknownOption(_, let path),
            .missingValue(_, let path), .surplusValue(_, let path), .missingArgument(_, let path),
            .surplusArgument(_, let path), .invalidValue(_, _, let path), .conflict(_, _, let path),
            .other(_, let path):
            path
        }
    }

    private var sentence: String {
        switch self {
        case .missingCommand(_, let choices):
            choices.isEmpty ? "a command is missing" : "one of \(choices.joined(separator: ", ")) is missing"
        case .unknownCommand(nil, _, _): "there is no such command (not shown, it may be a secret)"
        case .unknownCommand(let name?, _, nil): "'\(name)' is not a command"
        case .unknownCommand(let name?, _, let suggestion?):
            "'\(name)' is not a command; did you mean '\(suggestion)'?"
        case .unknownOption(let option, _): "'\(option)' is not an option here"
        case .missingValue(let option, _): "\(option) needs a value"
        case .surplusValue(let option, _): "\(option) takes no value"
        case .missingArgument(let name, _): "\(name) is missing"
        case .surplusArgument(let text?, _): "'\(text)' is one argument too many"
        case .surplusArgument(nil, _): "there is one argument too many (not shown, it may be a secret)"
        case .invalidValue(let name, let expected, _): "\(name) must be \(expected)"
        case .conflict(let first, let second, _): "\(first) and \(second) exclude each other"
        case .other(let sentence, _): sentence
        }
    }
}
