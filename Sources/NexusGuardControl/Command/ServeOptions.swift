// SPDX-License-Identifier: MIT

internal import AgentCommandLine
package import AgentCore
package import NexusGuard

/// How the server is run, as the command line says.
package struct ServeOptions: Sendable {
    /// An address and a port to listen on; port 0 takes a free one.
    package struct Listener: Hashable, Sendable {
        /// A numeric address.
        package let address: String
        /// The port.
        package let port: UInt16
    }

    /// How requests are protected on the way.
    package enum Transport: Hashable, Sendable {
        /// TLS with the certificate and key in these files, in PEM.
        case certificate(path: String, keyPath: String)
        /// TLS with a certificate that the server makes for these names and addresses.
        case development(hostNames: [String])
        /// None.
        case plain
    }

    /// Where to listen.
    package let listeners: [Listener]
    /// How requests are protected on the way.
    package let transport: Transport
    /// A file that the development certificate is copied to, for clients to trust.
    package let exportedAuthority: String?
    /// Where devices reach the server peer.
    package let endpoint: Endpoint
    /// Where devices' addresses come from.
    package let pools: [AddressPool]
    /// The name servers of devices.
    package let nameServers: [IPAddress]
    /// What devices send through the tunnel; `nil` stands for the pools.
    package let allowedIPs: [IPPrefix]?
    /// The MTU of devices.
    package let mtu: Int?
    /// The keepalive interval of devices in seconds.
    package let keepalive: UInt16?
    /// The interval of heartbeats.
    package let heartbeatInterval: Duration?
    /// A page for administrators.
    package let adminURL: String?
    /// Whether new keys come with a preshared key.
    package let usesPresharedKeys: Bool
    /// Whether heartbeats carry the forwards.
    package let sendsForwards: Bool
    /// Whether requests must prove who sends them.
    package let requiresAuthentication: Bool
    /// Whether heartbeats must ask for an encrypted answer.
    package let requiresEnvelope: Bool
    /// How many requests for an identity an address may send in a minute.
    package let provisionLimit: Int
    /// The key of a server peer elsewhere; `nil` when the server is the peer itself.
    package let publicKey: PublicKey?
    /// The interface of the server peer.
    package let interfaceName: String
    /// The UDP port of the server peer.
    package let listenPort: UInt16
    /// Faults for tests.
    package let faults: [Fault]
    /// A file with further faults.
    package let faultFile: String?
    /// The least important lines that are logged.
    package let logLevel: LogLevel

    /// Reads the options of `serve`.
    init(_ reader: Invocation) throws(UsageError) {
        listeners = try Self.listeners(reader)
        transport = try Self.transport(reader, listeners)
        exportedAuthority = try reader.one("export-ca")
        guard let endpoint = try reader.one("endpoint", "HOST:PORT", { try? Endpoint($0) }) else {
            throw .serve("--endpoint HOST:PORT is needed: where devices reach the WireGuard server")
        }
        self.endpoint = endpoint
        pools = try Self.pools(reader)
        let address = "an IP address"
        nameServers = try reader.list("dns", address) { try? IPAddress($0) }
        guard nameServers.count <= 4 else { throw .serve("--dns takes at most four addresses") }
        let prefixes = try reader.list("allowed-ips", "a prefix such as 10.0.0.0/8") { try? IPPrefix($0) }
        allowedIPs = prefixes.isEmpty ? nil : prefixes
        mtu = try reader.one("mtu", "from 576 to 65535") { Self.number($0, 576...65535) }
        if let mtu, mtu < 1280, pools.contains(where: \.isIPv6) {
            throw .serve("--mtu must be at least 1280 with an IPv6 pool")
        }
        keepalive = try reader.one("keepalive", "from 0 to 65535") { Self.number($0, 0...65535) }
            .map { UInt16($0) }
        heartbeatInterval = try reader.one("heartbeat-interval", "a time from 1s to 1h") { text in
            TimeSpan.parse(text).flatMap { HeartbeatResponse.intervals.contains($0) ? $0 : nil }
        }
        adminURL = try reader.one("admin-url", "an address with http:// or https://") { text in
            let isWeb = ["https://", "http://"].contains { text.hasPrefix($0) && text.count > $0.count }
            return isWeb && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
        usesPresharedKeys = !reader.has("no-preshared-keys")
        sendsForwards = reader.has("forwards-in-heartbeats")
        requiresAuthentication = !reader.has("allow-unauthenticated")
        requiresEnvelope = !reader.has("allow-plain-answers")
        provisionLimit =
            try reader.one("provisions-per-minute", "from 1 to 1000000") { Self.number($0, 1...1_000_000) }
            ?? 5
        publicKey = try Self.publicKey(reader)
        interfaceName =
            try reader.one("interface", "1 to 15 bytes without '/', ':' and white space") { text in
                let isName = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x3A }
                return (1...15).contains(text.utf8.count) && isName && text != "." && text != ".."
                    ? text : nil
            } ?? "ngcontrol0"
        listenPort =
            try reader.one("listen-port", "from 1 to 65535") { Self.number($0, 1...65535) }
            .map { UInt16($0) } ?? endpoint.port
        faults = try Self.faults(reader)
        faultFile = try reader.one("fault-file")
        logLevel =
            try reader.one("log-level", "debug, info, warn or error") { LogLevel(rawValue: $0.uppercased()) }
            ?? .info
    }

    private static func listeners(_ reader: Invocation) throws(UsageError) -> [Listener] {
        let texts = reader.all("listen").isEmpty ? ["127.0.0.1:8443"] : reader.all("listen")
        var listeners: [Listener] = []
        for text in texts {
            // Endpoints have no port 0, which here takes a free one.
            let isFree = text.hasSuffix(":0")
            let readable = isFree ? String(text.dropLast()) + "1" : text
            guard let endpoint = try? Endpoint(readable),
                case .address(let address, zone: nil) = endpoint.host
            else { throw .serve("--listen must be ADDRESS:PORT or [ADDRESS]:PORT, not '\(text)'") }
            listeners.append(Listener(address: address.description, port: isFree ? 0 : endpoint.port))
        }
        return listeners
    }

    private static func transport(
        _ reader: Invocation, _ listeners: [Listener]
    ) throws(UsageError) -> Transport {
        let certificate = try reader.one("tls-cert")
        let key = try reader.one("tls-key")
        let names = reader.all("host-name")
        if reader.has("http") {
            guard certificate == nil, key == nil, names.isEmpty, try reader.one("export-ca") == nil else {
                throw .serve("--http and the options of TLS exclude each other")
            }
            let open = listeners.first { listener in
                let address = try? IPAddress(listener.address)
                return address.map { !LoopbackAddress.contains($0) } ?? true
            }
            if let open, !reader.has("allow-plain-http") {
                throw .serve(
                    "\(open.address) is no loopback address: without TLS keys would cross the network in the "
                        + "clear (--allow-plain-http allows it)")
            }
            return .plain
        }
        guard !reader.has("allow-plain-http") else { throw .serve("--allow-plain-http needs --http") }
        switch (certificate, key) {
        case (let certificate?, let key?):
            guard names.isEmpty, try reader.one("export-ca") == nil else {
                throw .serve("--host-name and --export-ca are for the development certificate")
            }
            return .certificate(path: certificate, keyPath: key)
        case (nil, nil): return .development(hostNames: names)
        default: throw .serve("--tls-cert and --tls-key come together")
        }
    }

    private static func pools(_ reader: Invocation) throws(UsageError) -> [AddressPool] {
        var prefixes = try reader.list("pool", "a prefix such as 10.0.0.0/24") { try? IPPrefix($0) }
        if prefixes.isEmpty { prefixes = [try? IPPrefix("10.172.21.0/24")].compactMap { $0 } }
        let servers = try reader.list("server-address", "an IP address") { try? IPAddress($0) }
        for isIPv6 in [false, true] {
            guard prefixes.filter({ $0.address.isIPv6 == isIPv6 }).count <= 1 else {
                throw .serve("--pool takes one prefix of each family")
            }
            let own = servers.filter { $0.isIPv6 == isIPv6 }
            guard own.count <= 1, own.isEmpty || prefixes.contains(where: { $0.address.isIPv6 == isIPv6 })
            else {
                throw .serve("--server-address takes one address for each pool")
            }
        }
        do {
            var pools: [AddressPool] = []
            for prefix in prefixes.sorted(by: { !$0.address.isIPv6 && $1.address.isIPv6 }) {
                let server = servers.first { $0.isIPv6 == prefix.address.isIPv6 }
                pools.append(try AddressPool(network: prefix, serverAddress: server))
            }
            return pools
        } catch {
            throw .serve("--pool: \(error)")
        }
    }

    private static func publicKey(_ reader: Invocation) throws(UsageError) -> PublicKey? {
        let key = try reader.one("public-key", "a WireGuard public key in base64") {
            try? PublicKey(base64: $0)
        }
        if reader.has("with-tunnel") {
            guard key == nil else { throw .serve("--public-key and --with-tunnel exclude each other") }
            return nil
        }
        let ofTunnel = ["interface", "listen-port"].first { !reader.all($0).isEmpty }
        if let ofTunnel { throw .serve("--\(ofTunnel) needs --with-tunnel") }
        guard let key else {
            throw .serve("--with-tunnel, or --public-key of the WireGuard server elsewhere, is needed")
        }
        return key
    }

    private static func faults(_ reader: Invocation) throws(UsageError) -> [Fault] {
        var faults: [Fault] = []
        for text in reader.all("fault") {
            do {
                faults.append(try Fault(text))
            } catch {
                throw .serve(error.description)
            }
        }
        return faults
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
        return range.contains(number) ? number : nil
    }
}
