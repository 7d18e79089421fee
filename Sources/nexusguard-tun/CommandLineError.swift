// SPDX-License-Identifier: MIT

/// Why the arguments or the environment make no sense.
enum CommandLineError: Error, Equatable, CustomStringConvertible {
    /// No interface is named.
    case missingName
    /// There is more than one name.
    case surplusArgument(String)
    /// The option does not exist.
    case unknownOption(String)
    /// The variable's value is not the number of a descriptor.
    case invalidDescriptor(variable: String, value: String)
    /// There is no such way to share the processors.
    case invalidScheduling(String)

    /// One sentence that names the culprit.
    var description: String {
        switch self {
        case .missingName: "the name of the interface is missing; see nexusguard-tun --help"
        case .surplusArgument(let text): "'\(text)' is one argument too many; see nexusguard-tun --help"
        case .unknownOption(let text): "'\(text)' is not an option; see nexusguard-tun --help"
        case .invalidDescriptor(let variable, let value):
            "\(variable) is '\(value)', not the number of a descriptor"
        case .invalidScheduling(let value): "NEXUSGUARD_SCHEDULING is '\(value)', not 'ahead' or 'shared'"
        }
    }
}
