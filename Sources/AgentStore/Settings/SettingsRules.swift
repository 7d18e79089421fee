// SPDX-License-Identifier: MIT

internal import AgentCore
internal import NexusGuard

/// What each setting keeps to, wherever it comes from.
enum SettingsRules {
    /// The most bytes of a text.
    static let longestText = 2048

    /// Checks each value.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field.
    static func check(_ settings: AgentConfig) throws(AgentError) {
        if let url = settings.serverURL {
            if let reason = fault(ofServerURL: url, allowsPlainHTTP: settings.allowsPlainHTTP) {
                throw .configInvalid(field: "serverURL", reason: reason)
            }
        }
        if let reason = fault(ofInterfaceName: settings.interfaceName) {
            throw .configInvalid(field: "interfaceName", reason: reason)
        }
        if let path = settings.certificateAuthorityFile, let reason = fault(ofPath: path) {
            throw .configInvalid(field: "certificateAuthorityFile", reason: reason)
        }
    }

    /// What is wrong with the address of a control server; `nil` when nothing is.
    static func fault(ofServerURL url: String, allowsPlainHTTP: Bool) -> String? {
        guard url.utf8.count <= longestText else { return "has more than \(longestText) bytes" }
        // No blank, quotation mark or control character may come into a request line or a header.
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) }) else {
            return "has characters that an address cannot have"
        }
        let isPlain = url.lowercased().hasPrefix("http://")
        guard isPlain || url.lowercased().hasPrefix("https://") else {
            return "does not begin with https://"
        }
        let rest = url.dropFirst(isPlain ? 7 : 8)
        guard !rest.contains("?"), !rest.contains("#") else { return "must not have a query or a fragment" }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@") else { return "must not hold a user name or a password" }
        guard let host = host(of: authority) else { return "names no host, or a wrong port" }
        if isPlain, !allowsPlainHTTP, !isLoopback(host) {
            return "is plain HTTP to another host, which hands keys to everyone on the way; use https://"
        }
        return nil
    }

    /// What is wrong with the name of an interface; `nil` when nothing is.
    ///
    /// The kernel refuses the same (`dev_valid_name`); `%` makes it number interfaces itself.
    static func fault(ofInterfaceName name: String) -> String? {
        guard (1...15).contains(name.utf8.count) else { return "has not 1 to 15 bytes" }
        guard name != ".", name != ".." else { return "is no name" }
        guard name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"/:%".utf8.contains($0) }) else {
            return "has characters that the name of an interface cannot have"
        }
        return nil
    }

    /// What is wrong with the path of a file; `nil` when nothing is.
    static func fault(ofPath path: String) -> String? {
        guard path.hasPrefix("/") else { return "is not an absolute path" }
        guard path.utf8.count <= longestText, ShownText.isPlain(path) else {
            return "is not the path of a file"
        }
        return nil
    }

    /// The host of `host`, `host:port` or `[address]:port`, without brackets.
    private static func host(of authority: Substring) -> Substring? {
        var host = authority
        var port: Substring?
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
            guard let address = try? IPAddress(host), address.isIPv6 else { return nil }
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        if let port {
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port), number > 0
            else { return nil }
        }
        return host.isEmpty ? nil : host
    }

    private static func isLoopback(_ host: Substring) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = try? IPAddress(host) else { return false }
        return isLoopback(address)
    }

    /// Whether an address leads to this host alone.
    static func isLoopback(_ address: IPAddress) -> Bool {
        let loopbacks = [
            IPPrefix(address: IPAddress(ipv4: 0x7F00_0000), length: 8),
            IPPrefix(address: IPAddress(ipv6High: 0, low: 1), length: 128),
        ]
        return loopbacks.contains { $0?.contains(address) == true }
    }
}
