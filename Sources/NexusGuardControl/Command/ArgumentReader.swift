// SPDX-License-Identifier: MIT

/// Splits a command line into words and options; options may stand anywhere before a lone `--`.
struct ArgumentReader {
    /// The words that are no options, in their order.
    private(set) var words: [String] = []
    private var values: [String: [String]] = [:]
    private var flags: Set<String> = []

    /// Options with a value, such as `--pool`; they may come as `--pool VALUE` or `--pool=VALUE`.
    private static let valued: Set<String> = [
        "admin-url", "allowed-ips", "dns", "endpoint", "expires", "export-ca", "fault", "fault-file",
        "heartbeat-interval", "host-name", "interface", "keepalive", "listen", "listen-port", "log-level",
        "mtu",
        "name", "pool", "provisions-per-minute", "public-key", "server-address", "state-dir", "tls-cert",
        "tls-key",
    ]
    /// Options without a value.
    private static let unvalued: Set<String> = [
        "all", "allow-plain-answers", "allow-plain-http", "allow-unauthenticated", "forwards-in-heartbeats",
        "help", "http", "json",
        "no-preshared-keys", "version", "with-tunnel",
    ]

    /// Reads the arguments without the programme's name.
    ///
    /// - Throws: `UsageError`, which never repeats a value: it may be a secret that is in the wrong place.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        var takesOptions = true
        while let argument = rest.popFirst() {
            guard takesOptions, argument.hasPrefix("-"), argument != "-" else {
                words.append(argument)
                continue
            }
            if argument == "--" {
                takesOptions = false
                continue
            }
            if argument == "-h" {
                flags.insert("help")
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let shown = String(parts.first ?? "")
            let name = String(shown.dropFirst(2))
            guard shown.hasPrefix("--") else { throw UsageError("'\(shown)' is not an option") }
            if Self.valued.contains(name) {
                let value = parts.count > 1 ? String(parts[1]) : rest.popFirst()
                guard let value else { throw UsageError("\(shown) needs a value") }
                values[name, default: []].append(value)
            } else if Self.unvalued.contains(name) {
                guard parts.count == 1 else { throw UsageError("\(shown) takes no value") }
                flags.insert(name)
            } else {
                throw UsageError("'\(shown)' is not an option")
            }
        }
    }

    /// Whether an option without a value is there.
    func has(_ name: String) -> Bool { flags.contains(name) }

    /// All values of an option.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that may be there once.
    func one(_ name: String) throws(UsageError) -> String? {
        let values = all(name)
        guard values.count <= 1 else { throw UsageError("--\(name) may be given once") }
        return values.first
    }

    /// The value of an option, as `read` understands it.
    func one<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = try one(name) else { return nil }
        guard let value = read(text) else { throw UsageError("--\(name) must be \(expected), not '\(text)'") }
        return value
    }

    /// The items of an option that may be repeated and may have commas, as `read` understands them.
    func list<Value>(
        _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws(UsageError) -> [Value] {
        var result: [Value] = []
        for item in all(name).flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let text = String(item.drop { $0 == " " })
            guard let value = read(text) else {
                throw UsageError("--\(name) must be \(expected), not '\(text)'")
            }
            result.append(value)
        }
        return result
    }

    /// Refuses options that the command does not know.
    func check(_ command: String, knows names: Set<String>) throws(UsageError) {
        let common: Set<String> = ["help", "json", "state-dir"]
        let given = flags.union(values.keys)
        let unknown = given.subtracting(names).subtracting(common).sorted()
        if let name = unknown.first { throw UsageError("\(command) has no option --\(name)") }
    }
}
