// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol

/// Reads a configuration file line by line, in place: no `String` is made of a line that holds a secret.
struct ConfigurationFileParser {
    /// A `[Peer]` section that is being read.
    struct PeerSection {
        let line: Int
        var publicKey: PublicKey?
        var presharedKey: PresharedKey?
        var allowedIPs: [IPPrefix] = []
        var endpoint: Endpoint?
        var persistentKeepalive: UInt16 = 0
    }

    /// The number of the line that is being read.
    var line = 0
    /// What is odd so far.
    var warnings: [ConfigurationFileWarning] = []
    /// The line of the `[Interface]` section.
    private var interfaceLine: Int?
    var privateKey: PrivateKey?
    /// Everything of `[Interface]` but its key, which is put in at the end.
    var listenPort: UInt16 = 0
    var firewallMark: UInt32 = 0
    var interface = InterfaceValues()
    /// The peer that is being read; `nil` in `[Interface]` and before the first section.
    var peer: PeerSection?
    private var peers: [PeerConfiguration] = []
    private var linesOfPeers: [PublicKey: Int] = [:]
    /// The line that gave a prefix to a peer last.
    var linesOfPrefixes: [IPPrefix: Int] = [:]

    /// What `wg-quick` reads and the tunnel itself does not need.
    struct InterfaceValues {
        var addresses: [InterfaceAddress] = []
        var nameServers: [IPAddress] = []
        var searchDomains: [String] = []
        var mtu: Int?
        var table = ConfigurationFile.Table.automatic
        var preUp: [String] = []
        var postUp: [String] = []
        var preDown: [String] = []
        var postDown: [String] = []
        var savesConfiguration = false
    }

    /// Reads a whole file.
    static func parse(_ text: RawSpan) throws(ConfigurationFileError) -> ConfigurationFile {
        var parser = ConfigurationFileParser()
        let hasMark =
            text.byteCount >= 3 && text.byte(0) == 0xEF && text.byte(1) == 0xBB && text.byte(2) == 0xBF
        var start = hasMark ? 3 : 0
        while start < text.byteCount {
            let end = text.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? text.byteCount
            parser.line += 1
            try parser.readLine(text.extracting(text.trimmed(start..<end)))
            start = end + 1
        }
        try parser.closePeer()
        return try parser.finish()
    }

    /// Reads one line, which has no white space at its ends.
    private mutating func readLine(_ text: RawSpan) throws(ConfigurationFileError) {
        guard text.firstIndex(of: 0) == nil else {
            throw error("(no key)", "the line holds a zero byte, which no text does")
        }
        let contentEnd = text.firstIndex(of: UInt8(ascii: "#")) ?? text.byteCount
        let content = text.extracting(text.trimmed(0..<contentEnd))
        guard content.byteCount > 0 else { return }
        if content.byte(0) == UInt8(ascii: "[") {
            try openSection(content)
            return
        }
        guard let equals = content.firstIndex(of: UInt8(ascii: "=")) else {
            throw error("(no key)", "the line is neither a section nor key = value")
        }
        let name = content.extracting(content.trimmed(0..<equals))
        guard let key = ConfigurationFileKey(name) else {
            throw error(QuotedText.key(name), "is not a key of \(peer == nil ? "[Interface]" : "[Peer]")")
        }
        guard interfaceLine != nil || peer != nil else {
            throw error(key.rawValue, "stands before the first section")
        }
        guard key.isOfPeer == (peer != nil) else {
            throw error(key.rawValue, "belongs to \(key.isOfPeer ? "[Peer]" : "[Interface]")")
        }
        // A comment cannot follow a command, since the shell has its own use for the sign.
        let valueEnd = key.isHook ? text.byteCount : content.byteCount
        let value = text.extracting(text.trimmed(equals + 1..<valueEnd))
        guard value.byteCount > 0 else {
            guard key.isList else { throw error(key.rawValue, "has no value") }
            warn(key, key == .allowedIPs ? "has no value, which gives the peer no addresses" : "has no value")
            return
        }
        if key.isOfPeer {
            try readPeerValue(key, value)
        } else {
            try readInterfaceValue(key, value)
        }
    }

    /// Begins the section of a line such as `[Peer]`.
    private mutating func openSection(_ text: RawSpan) throws(ConfigurationFileError) {
        let isClosed = text.byte(text.byteCount - 1) == UInt8(ascii: "]") && text.byteCount >= 2
        let name = text.extracting(isClosed ? text.trimmed(1..<text.byteCount - 1) : 0..<0)
        if name.isEqual(ignoringCase: "Peer") {
            try closePeer()
            peer = PeerSection(line: line)
        } else if name.isEqual(ignoringCase: "Interface") {
            if let interfaceLine {
                throw error("[Interface]", "comes a second time; the first one is in line \(interfaceLine)")
            }
            try closePeer()
            interfaceLine = line
        } else {
            throw error("(no key)", "the line is neither [Interface] nor [Peer]")
        }
    }

    /// Ends the section of a peer, if one is open.
    private mutating func closePeer() throws(ConfigurationFileError) {
        guard let section = peer.take() else { return }
        guard let publicKey = section.publicKey else {
            throw ConfigurationFileError(line: section.line, key: "[Peer]", reason: "has no PublicKey")
        }
        if let first = linesOfPeers.updateValue(section.line, forKey: publicKey) {
            throw ConfigurationFileError(
                line: section.line, key: "[Peer]",
                reason: "has the same PublicKey as the peer in line \(first)")
        }
        peers.append(
            PeerConfiguration(
                publicKey: publicKey, presharedKey: section.presharedKey, allowedIPs: section.allowedIPs,
                endpoint: section.endpoint, persistentKeepalive: section.persistentKeepalive))
    }

    /// Puts the values together once every line is read.
    private consuming func finish() throws(ConfigurationFileError) -> ConfigurationFile {
        guard let interfaceLine else {
            throw ConfigurationFileError(line: max(line, 1), key: "[Interface]", reason: "is missing")
        }
        guard let privateKey else {
            throw ConfigurationFileError(line: interfaceLine, key: "[Interface]", reason: "has no PrivateKey")
        }
        var file = ConfigurationFile(
            tunnel: TunnelConfiguration(
                privateKey: privateKey, listenPort: listenPort, firewallMark: firewallMark, peers: peers),
            addresses: interface.addresses, nameServers: interface.nameServers,
            searchDomains: interface.searchDomains, mtu: interface.mtu, table: interface.table,
            preUp: interface.preUp, postUp: interface.postUp, preDown: interface.preDown,
            postDown: interface.postDown, savesConfiguration: interface.savesConfiguration)
        file.warnings = warnings
        return file
    }

    /// An error in the line that is being read.
    func error(_ key: String, _ reason: String) -> ConfigurationFileError {
        ConfigurationFileError(line: line, key: key, reason: reason)
    }

    /// Notes a warning about the line that is being read.
    mutating func warn(_ key: ConfigurationFileKey, _ reason: String) {
        warnings.append(ConfigurationFileWarning(line: line, key: key.rawValue, reason: reason))
    }
}
