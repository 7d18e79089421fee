// SPDX-License-Identifier: MIT

package import AgentCommandLine
package import AgentCore
package import NexusGuard

/// What a command line asks for.
package enum ControlCommand: Sendable {
    /// Prints how it is used: all of it, or one command.
    case help([String])
    /// Prints the version.
    case version
    /// Prints a completion script.
    case completion(CompletionShell)
    /// Runs the server.
    case serve(ServeOptions)
    /// Makes a token and prints it, once and never again.
    case tokenNew(name: String?, validity: Duration?)
    /// Lists the tokens.
    case tokenList
    /// Takes a token back.
    case tokenRevoke(String)
    /// Lists the devices; with those that were revoked, or without.
    case deviceList(includesRevoked: Bool)
    /// Shows one device.
    case deviceShow(String)
    /// Takes a device's identity.
    case deviceRevoke(String)
    /// Gives a device new keys with its next heartbeat.
    case rotateKeys(String)
    /// Adds a forward; `targetAddress` is the device's own when it is absent.
    case forwardAdd(
        device: String, transportProtocol: PortForward.TransportProtocol, publicPort: UInt16,
        targetAddress: IPAddress?, targetPort: UInt16)
    /// Removes a forward.
    case forwardRemove(PortForward.TransportProtocol, publicPort: UInt16)
    /// Lists the forwards of one device or of all.
    case forwardList(String?)
}

/// A command line, read.
package struct ControlInvocation: Sendable {
    /// What to do.
    package let command: ControlCommand
    /// The directory of the server's state.
    package let stateDirectory: String
    /// Whether results are JSON.
    package let isJSON: Bool

    /// Where the state is unless the command line or the service manager says otherwise.
    package static let defaultStateDirectory = "/var/lib/nexusguard-control"

    /// Reads the arguments without the programme's name.
    ///
    /// - Parameter environment: Gives the value of a variable.
    /// - Throws: `UsageError`.
    package init(
        _ arguments: [String], environment: (String) -> String? = { _ in nil }
    ) throws(UsageError) {
        let invocation = try ArgumentParser(root: ControlCommandTree.root).parse(arguments)
        isJSON = invocation.has("json")
        let managed = environment("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        stateDirectory = try invocation.one("state-dir") ?? managed ?? Self.defaultStateDirectory
        guard !stateDirectory.isEmpty else { throw .other("--state-dir is empty", path: invocation.path) }
        if invocation.wantsHelp {
            command = .help(invocation.path)
        } else if invocation.has("version") {
            command = .version
        } else {
            command = try Self.command(invocation)
        }
    }

    /// The parser has let only commands of the table through, with as many arguments as they take.
    private static func command(_ invocation: Invocation) throws(UsageError) -> ControlCommand {
        let arguments = invocation.arguments
        switch (invocation.path.first, invocation.path.dropFirst().first) {
        case ("serve", _): return .serve(try ServeOptions(invocation))
        case ("rotate-keys", _): return .rotateKeys(arguments[0])
        case ("completion", _): return .completion(CompletionShell(rawValue: arguments[0]) ?? .bash)
        case ("token", "new"): return try newToken(invocation)
        case ("token", "list"): return .tokenList
        case ("token", _):
            // A token in a command line is in the list of processes: better refused than half accepted.
            guard arguments[0].utf8.count <= 16 else {
                throw .other("it takes the ID of a token, which 'token list' shows", path: invocation.path)
            }
            return .tokenRevoke(arguments[0])
        case ("device", "list"): return .deviceList(includesRevoked: invocation.has("all"))
        case ("device", "show"): return .deviceShow(arguments[0])
        case ("device", _): return .deviceRevoke(arguments[0])
        case ("forward", "add"):
            let (address, port) = try target(arguments[3], invocation)
            return .forwardAdd(
                device: arguments[0], transportProtocol: try transportProtocol(arguments[1], invocation),
                publicPort: try Self.port(arguments[2], "PUBLIC_PORT", invocation), targetAddress: address,
                targetPort: port)
        case ("forward", "rm"):
            return .forwardRemove(
                try transportProtocol(arguments[0], invocation),
                publicPort: try port(arguments[1], "PUBLIC_PORT", invocation))
        case ("forward", _): return .forwardList(arguments.first)
        default: throw .missingCommand(path: invocation.path, choices: [])
        }
    }

    private static func newToken(_ invocation: Invocation) throws(UsageError) -> ControlCommand {
        let name = try invocation.one("name", "1 to 64 printable bytes") { text in
            (1...64).contains(text.utf8.count) && ShownText.isPlain(text) ? text : nil
        }
        let validity = try invocation.one("expires", "a time such as 30m, 24h or 7d") { text in
            TimeSpan.parse(text).flatMap { $0 > .zero ? $0 : nil }
        }
        return .tokenNew(name: name, validity: validity)
    }

    private static func transportProtocol(
        _ text: String, _ invocation: Invocation
    ) throws(UsageError) -> PortForward.TransportProtocol {
        guard let value = PortForward.TransportProtocol(rawValue: text.lowercased()) else {
            throw .invalidValue(
                of: "PROTOCOL", expected: "tcp or udp, not \(ShownText.value(text))", path: invocation.path)
        }
        return value
    }

    private static func port(
        _ text: some StringProtocol, _ name: String, _ invocation: Invocation
    ) throws(UsageError) -> UInt16 {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text), port > 0 else {
            throw .invalidValue(
                of: name, expected: "from 1 to 65535, not \(ShownText.value(text))", path: invocation.path)
        }
        return port
    }

    /// Reads `PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`.
    private static func target(
        _ text: String, _ invocation: Invocation
    ) throws(UsageError) -> (IPAddress?, UInt16) {
        guard text.contains(":") else { return (nil, try port(text, "TARGET", invocation)) }
        guard let endpoint = try? Endpoint(text), case .address(let address, zone: nil) = endpoint.host else {
            throw .invalidValue(
                of: "TARGET",
                expected: "PORT, ADDRESS:PORT or [ADDRESS]:PORT, not \(ShownText.value(text))",
                path: invocation.path)
        }
        return (address, endpoint.port)
    }
}
