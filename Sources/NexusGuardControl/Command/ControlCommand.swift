// SPDX-License-Identifier: MIT

package import AgentCore
package import NexusGuard

/// What a command line asks for.
package enum ControlCommand: Sendable {
    /// Prints how it is used: all of it, or one command.
    case help(String?)
    /// Prints the version.
    case version
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
        let reader = try ArgumentReader(arguments)
        isJSON = reader.has("json")
        let managed = environment("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        stateDirectory = try reader.one("state-dir") ?? managed ?? Self.defaultStateDirectory
        guard !stateDirectory.isEmpty else { throw UsageError("--state-dir is empty") }
        if reader.has("version") {
            command = .version
        } else if reader.has("help") || reader.words.first == "help" {
            let words = reader.words.first == "help" ? Array(reader.words.dropFirst()) : reader.words
            command = .help(words.isEmpty ? nil : words.joined(separator: " "))
        } else {
            command = try Self.command(reader)
        }
    }

    private static func command(_ reader: ArgumentReader) throws(UsageError) -> ControlCommand {
        let words = reader.words
        switch words.first {
        case nil: throw UsageError("a command is missing")
        case "serve":
            try reader.check("serve", knows: ServeOptions.optionNames)
            try count(words, 1, "serve")
            return .serve(try ServeOptions(reader))
        case "rotate-keys":
            try reader.check("rotate-keys", knows: [])
            try count(words, 2, "rotate-keys DEVICE")
            return .rotateKeys(words[1])
        case "token": return try token(words, reader)
        case "device": return try device(words, reader)
        case "forward": return try forward(words, reader)
        case let word?: throw UsageError("there is no command '\(ShownText.plain(word, limit: 32))'")
        }
    }

    private static func token(
        _ words: [String], _ reader: ArgumentReader
    ) throws(UsageError) -> ControlCommand {
        switch words.dropFirst().first {
        case "new":
            try reader.check("token new", knows: ["name", "expires"])
            try count(words, 2, "token new")
            let name = try reader.one("name", "1 to 64 printable bytes") { text in
                (1...64).contains(text.utf8.count) && ShownText.isPlain(text) ? text : nil
            }
            let validity = try reader.one("expires", "a time such as 30m, 24h or 7d") { text in
                DurationText.parse(text).flatMap { $0 > .zero ? $0 : nil }
            }
            return .tokenNew(name: name, validity: validity)
        case "list":
            try reader.check("token list", knows: [])
            try count(words, 2, "token list")
            return .tokenList
        case "revoke":
            try reader.check("token revoke", knows: [])
            try count(words, 3, "token revoke ID")
            // A token in a command line is in the list of processes: better refused than half accepted.
            guard words[2].utf8.count <= 16 else {
                throw UsageError(
                    "token revoke takes the ID of a token, which `token list` shows, not the token")
            }
            return .tokenRevoke(words[2])
        default: throw UsageError("token takes new, list or revoke")
        }
    }

    private static func device(
        _ words: [String], _ reader: ArgumentReader
    ) throws(UsageError) -> ControlCommand {
        switch words.dropFirst().first {
        case "list":
            try reader.check("device list", knows: ["all"])
            try count(words, 2, "device list")
            return .deviceList(includesRevoked: reader.has("all"))
        case "show":
            try reader.check("device show", knows: [])
            try count(words, 3, "device show DEVICE")
            return .deviceShow(words[2])
        case "revoke":
            try reader.check("device revoke", knows: [])
            try count(words, 3, "device revoke DEVICE")
            return .deviceRevoke(words[2])
        default: throw UsageError("device takes list, show or revoke")
        }
    }

    private static func forward(
        _ words: [String], _ reader: ArgumentReader
    ) throws(UsageError) -> ControlCommand {
        try reader.check("forward", knows: [])
        switch words.dropFirst().first {
        case "add":
            try count(words, 6, "forward add DEVICE PROTOCOL PUBLIC_PORT TARGET")
            let (address, port) = try target(words[5])
            return .forwardAdd(
                device: words[2], transportProtocol: try transportProtocol(words[3]),
                publicPort: try Self.port(words[4], "PUBLIC_PORT"), targetAddress: address, targetPort: port)
        case "rm":
            try count(words, 4, "forward rm PROTOCOL PUBLIC_PORT")
            return .forwardRemove(
                try transportProtocol(words[2]), publicPort: try port(words[3], "PUBLIC_PORT"))
        case "list":
            guard (2...3).contains(words.count) else {
                throw UsageError("the form is: forward list [DEVICE]")
            }
            return .forwardList(words.count == 3 ? words[2] : nil)
        default: throw UsageError("forward takes add, rm or list")
        }
    }

    private static func count(
        _ words: [String], _ expected: Int, _ form: String
    ) throws(UsageError) {
        guard words.count == expected else { throw UsageError("the form is: \(form)") }
    }

    private static func transportProtocol(
        _ text: String
    ) throws(UsageError) -> PortForward.TransportProtocol {
        guard let value = PortForward.TransportProtocol(rawValue: text.lowercased()) else {
            throw UsageError("PROTOCOL must be tcp or udp, not \(ShownText.value(text))")
        }
        return value
    }

    private static func port(_ text: some StringProtocol, _ name: String) throws(UsageError) -> UInt16 {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text), port > 0 else {
            throw UsageError("\(name) must be from 1 to 65535, not \(ShownText.value(text))")
        }
        return port
    }

    /// Reads `PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`.
    private static func target(_ text: String) throws(UsageError) -> (IPAddress?, UInt16) {
        guard text.contains(":") else { return (nil, try port(text, "TARGET")) }
        guard let endpoint = try? Endpoint(text), case .address(let address, zone: nil) = endpoint.host else {
            throw UsageError(
                "TARGET must be PORT, ADDRESS:PORT or [ADDRESS]:PORT, not \(ShownText.value(text))")
        }
        return (address, endpoint.port)
    }
}
