// SPDX-License-Identifier: MIT

public import NexusGuard

/// Where the agent's page listens: an address of this host and, where one is given, a port.
public struct PageAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address.
    public let address: IPAddress
    /// The port; `nil` leaves it to the agent, and 0 takes a free one.
    public let port: UInt16?

    /// Takes an address and a port.
    public init(address: IPAddress, port: UInt16?) {
        self.address = address
        self.port = port
    }

    /// Reads `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]:PORT` or `localhost`; `nil` for any other text.
    public init?(_ text: String) {
        var host = text[...]
        var port: Substring?
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
            host = host[..<end].dropFirst()
            guard host.contains(":") else { return nil }
        } else if host.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
            let colon = host.firstIndex(of: ":") ?? host.endIndex
            port = host[colon...].dropFirst()
            host = host[..<colon]
        }
        if let port {
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port) else {
                return nil
            }
            self.port = number
        } else {
            self.port = nil
        }
        if host.lowercased() == "localhost" {
            address = IPAddress(ipv4: 0x7F00_0001)
        } else if let address = try? IPAddress(host) {
            self.address = address
        } else {
            return nil
        }
    }

    /// Whether only programs of this host reach it.
    public var isLoopback: Bool { SettingsRules.isLoopback(address) }

    /// Whether it stands for every address of this host.
    public var isEveryAddress: Bool {
        address == IPAddress(ipv4: 0) || address == IPAddress(ipv6High: 0, low: 0)
    }

    /// The address as it stands in a URL, with brackets around one of IPv6.
    public var host: String { address.isIPv6 ? "[\(address)]" : "\(address)" }

    /// The form that is read.
    public var description: String { port.map { "\(host):\($0)" } ?? host }
}
