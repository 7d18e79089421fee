// SPDX-License-Identifier: MIT

internal import NexusGuardAgent

/// The address that opens the agent's page once; whoever has it operates the agent.
struct PageLink: Equatable {
    /// The address, of characters that neither a terminal nor HTML gives a meaning.
    let url: String
    /// The host without brackets.
    let host: String
    /// The port.
    let port: UInt16
    /// How many seconds it works.
    let expiresIn: Int

    /// Reads the daemon's answer.
    ///
    /// - Throws: `AgentError.configInvalid` that names the field, never with its value.
    init(parsing document: [UInt8]) throws(AgentError) {
        let fields = try JSONFields(parsing: document)
        let url = try fields.required("url", fields.text("url", limit: 1024))
        guard url.utf8.allSatisfy(Self.isHarmless), let (host, port) = Self.authority(of: url) else {
            throw fields.invalid("url", "is no address of a page")
        }
        self.url = url
        self.host = host
        self.port = port
        expiresIn = try fields.integer("expires_in", in: 0...86_400) ?? 0
    }

    /// Whether only this host reaches the page.
    var isLocal: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// The characters of RFC 3986 that are used here; no quotation mark, no ampersand, no angle bracket.
    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: Array("-._~:/?#[]=%".utf8).contains(byte)
        }
    }

    private static func authority(of url: String) -> (host: String, port: UInt16)? {
        let schemes = [("http://", UInt16(80)), ("https://", 443)]
        guard let (scheme, usual) = schemes.first(where: { url.hasPrefix($0.0) }) else { return nil }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        var host = authority
        var port: UInt16? = usual
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            host = authority[..<colon]
            port = UInt16(authority[authority.index(after: colon)...])
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let port, !host.isEmpty else { return nil }
        return (String(host), port)
    }
}
