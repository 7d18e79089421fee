// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
public import WireGuardProtocol

/// A configuration file with `[Interface]` and `[Peer]` sections, as `wg setconf` and `wg-quick` read it.
///
/// The tunnel itself uses `tunnel`; the other values describe the interface around it, and are for whoever sets it
/// up. Keys, sections and values are those of `wg(8)` and `wg-quick(8)`, in any case. A file is taken whole or
/// refused whole.
///
/// Where readers differ, this one does the following. A second `[Interface]` section and a public key that comes
/// twice are refused. A single value given twice counts as it was given last, as for `wg`. An empty `AllowedIPs`,
/// `Address` or `DNS` is an empty list, and a preshared key of zeros is none; both give a warning.
public struct ConfigurationFile: Sendable {
    /// Which routing table gets the routes to the allowed IPs.
    public enum Table: Hashable, Sendable {
        /// The main table, with policy routing when a peer may have every address.
        case automatic
        /// No routes are made.
        case off
        /// The table of this number.
        case number(UInt32)
    }

    /// The keys and peers of the tunnel.
    public var tunnel: TunnelConfiguration
    /// The addresses of the interface.
    public var addresses: [InterfaceAddress]
    /// The name servers to use while the tunnel is up.
    public var nameServers: [IPAddress]
    /// The domains to search for short names while the tunnel is up.
    public var searchDomains: [String]
    /// The largest packet of the interface in bytes; `nil` leaves the choice to the engine.
    public var mtu: Int?
    /// Which routing table gets the routes.
    public var table: Table
    /// Commands to run before the interface is set up, in order; `%i` stands for its name.
    public var preUp: [String]
    /// Commands to run after the interface is set up.
    public var postUp: [String]
    /// Commands to run before the interface is taken down.
    public var preDown: [String]
    /// Commands to run after the interface is taken down.
    public var postDown: [String]
    /// Whether the file is written anew from the running state when the interface is taken down.
    public var savesConfiguration: Bool
    /// What is odd in the file that was read.
    public internal(set) var warnings: [ConfigurationFileWarning] = []

    /// Creates a configuration from its parts.
    public init(
        tunnel: TunnelConfiguration, addresses: [InterfaceAddress] = [], nameServers: [IPAddress] = [],
        searchDomains: [String] = [], mtu: Int? = nil, table: Table = .automatic, preUp: [String] = [],
        postUp: [String] = [], preDown: [String] = [], postDown: [String] = [],
        savesConfiguration: Bool = false
    ) {
        self.tunnel = tunnel
        self.addresses = addresses
        self.nameServers = nameServers
        self.searchDomains = searchDomains
        self.mtu = mtu
        self.table = table
        self.preUp = preUp
        self.postUp = postUp
        self.preDown = preDown
        self.postDown = postDown
        self.savesConfiguration = savesConfiguration
    }

    /// Reads the text of a configuration file out of a buffer, which the caller can erase afterwards.
    ///
    /// - Parameter text: UTF-8, with or without a byte order mark, with line ends of either kind.
    /// - Throws: `ConfigurationFileError` for the first line that is refused.
    public init(parsing text: RawSpan) throws(ConfigurationFileError) {
        self = try ConfigurationFileParser.parse(text)
    }

    /// Reads the text of a configuration file.
    ///
    /// The text stays in memory as long as the `String` does, and with it the private key; to avoid that, read the
    /// file into a buffer of your own and use the other initialiser.
    ///
    /// - Throws: `ConfigurationFileError` for the first line that is refused.
    public init(parsing text: String) throws(ConfigurationFileError) {
        var text = text
        text.makeContiguousUTF8()
        try unsafe self.init(parsing: text.utf8.span.bytes)
    }

    /// The text of the file, with the private key in it.
    public var text: String {
        var buffer = SecretBuffer()
        ConfigurationFileWriter.write(self, to: &buffer)
        return buffer.withBytes { $0.string }
    }
}
