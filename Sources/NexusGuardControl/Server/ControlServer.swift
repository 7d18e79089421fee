// SPDX-License-Identifier: MIT

package import AgentCore
internal import AgentHTTP
internal import FoundationEssentials
internal import Glibc
internal import NexusGuard

/// The whole server: the state, the requests and, where asked for, the server peer.
package actor ControlServer {
    private let options: ServeOptions
    private let directory: String
    private let clock: ControlClock
    private let log: any LogSink

    private var lock: StateLock?
    private var servers: [HTTPServer] = []
    private var tunnel: ServerTunnel?
    private var network: ServerNetwork?
    /// Where the server listens, as URLs without a path; empty while it does not run.
    package private(set) var addresses: [String] = []

    /// Creates a server; nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - options: How it is run.
    ///   - directory: The state directory; made when it is missing.
    ///   - clock: The times.
    ///   - log: Gets what people should know.
    package init(options: ServeOptions, directory: String, clock: ControlClock = .system, log: any LogSink) {
        self.options = options
        self.directory = directory
        self.clock = clock
        self.log = log
    }

    /// Starts the server.
    ///
    /// - Parameter onEnd: Called with a sentence when the server peer ends by itself.
    /// - Throws: `ServeError`; nothing runs then.
    package func start(onEnd: @escaping @Sendable (String) -> Void) async throws(ServeError) {
        do throws(ServeError) {
            let store = try openStore()
            lock = try StateLock(directory: directory)
            try await checkAddresses(store)
            let publicKey = try await startTunnel(store, onEnd: onEnd)
            try startServers(service(store, publicKey: publicKey))
        } catch {
            await stop()
            throw error
        }
    }

    /// Ends the server: requests under way are answered first.
    package func stop() async {
        let running = servers
        servers = []
        addresses = []
        if !running.isEmpty { await DetachedThread.run { for server in running { server.stop() } } }
        network?.remove()
        await tunnel?.stop()
        network = nil
        tunnel = nil
        lock = nil
    }

    private func openStore() throws(ServeError) -> SQLiteStore {
        do {
            return try SQLiteStore(directory: directory, createsFile: true)
        } catch {
            throw .store(error)
        }
    }

    /// Refuses pools that devices from before do not belong to: their packets would go nowhere.
    private func checkAddresses(_ store: SQLiteStore) async throws(ServeError) {
        let devices: [DeviceRecord]
        do {
            devices = try await store.devices()
        } catch {
            throw .store(error)
        }
        for device in devices {
            let stray = device.addresses.first { address in
                !options.pools.contains { $0.offers(address) }
            }
            guard let stray else { continue }
            throw .failed(
                "device \(device.id) has the address \(stray), which is in no --pool or is the server's own: "
                    + "give the former pool, or revoke the device")
        }
    }

    // MARK: The server peer

    /// Starts the server peer if it is in this process.
    ///
    /// - Returns: The public key of the server peer, wherever that is.
    private func startTunnel(
        _ store: SQLiteStore, onEnd: @escaping @Sendable (String) -> Void
    ) async throws(ServeError) -> PublicKey {
        if let publicKey = options.publicKey { return publicKey }
        let privateKey = try await serverKey(store)
        let name = options.interfaceName
        let network = ServerNetwork(interfaceName: name, log: log)
        do {
            try network.claim()
        } catch {
            throw .host(error)
        }
        let mtu = options.mtu ?? TunnelOptions.defaultMTU
        let log = log
        let timestampFile = "\(directory)/\(name).tai64n"
        let tunnel = ServerTunnel(
            store: store, privateKey: privateKey, listenPort: options.listenPort, clock: clock, log: log
        ) { configuration in
            var options = TunnelOptions()
            options.mtu = mtu
            options.timestampFile = timestampFile
            options.logLevel = .debug
            options.logHandler = { level, text in
                log.add(level: level == .error ? .error : .debug, tag: "engine", message: text)
            }
            return Tunnel(name: name, configuration: configuration, options: options)
        }
        do {
            try await tunnel.start { onEnd("the interface \(name) was removed") }
        } catch {
            throw .tunnel(error)
        }
        self.tunnel = tunnel
        self.network = network
        do {
            try network.apply(
                pools: options.pools, privateKey: privateKey, endpoint: options.endpoint, mtu: mtu)
        } catch {
            throw .host(error)
        }
        let own = options.pools.map(\.serverInterfaceAddress.description).joined(separator: ", ")
        log.add(level: .info, tag: "tunnel", message: "interface \(name) is up with \(own)")
        return privateKey.publicKey
    }

    private func serverKey(_ store: SQLiteStore) async throws(ServeError) -> PrivateKey {
        let secret: SecretBytes
        do {
            secret = try await store.serverKey(orKeep: SecretBytes(randomByteCount: 32))
        } catch {
            throw .store(error)
        }
        guard let key = secret.withBytes({ try? PrivateKey(rawRepresentation: $0) }) else {
            throw .store(.damaged(path: "\(directory)/\(SQLiteStore.fileName)"))
        }
        return key
    }

    // MARK: Requests

    private func service(_ store: SQLiteStore, publicKey: PublicKey) -> ControlService {
        var settings = ControlSettings(
            pools: options.pools, serverPublicKey: publicKey, endpoint: options.endpoint,
            allowedIPs: options.allowedIPs)
        settings.nameServers = options.nameServers
        settings.mtu = options.mtu
        if let keepalive = options.keepalive { settings.keepalive = keepalive }
        settings.heartbeatInterval = options.heartbeatInterval
        settings.adminURL = options.adminURL
        settings.usesPresharedKeys = options.usesPresharedKeys
        settings.sendsForwards = options.sendsForwards
        settings.requiresAuthentication = options.requiresAuthentication
        settings.requiresEnvelope = options.requiresEnvelope
        settings.provisionLimit = options.provisionLimit
        settings.believesReports = tunnel == nil
        let log = log
        let faults = FaultPlan(
            options.faults, file: options.faultFile,
            onError: { log.add(level: .error, tag: "faults", message: $0) })
        let tunnel = tunnel
        return ControlService(
            store: store, settings: settings, faults: faults, clock: clock, log: log,
            peersChanged: { await tunnel?.reconcile() })
    }

    private func startServers(_ service: ControlService) throws(ServeError) {
        let identity = try identity()
        for listener in options.listeners {
            // One server for each listener, since a server knows the port of its first listener only.
            let server = HTTPServer(
                listeners: [.tcp(address: listener.address, port: listener.port, tls: identity)]
            ) { request in
                await service.reply(to: request)
            }
            do {
                try server.start()
            } catch {
                throw .http(error)
            }
            servers.append(server)
            let scheme = identity == nil ? "http" : "https"
            let host = listener.address.contains(":") ? "[\(listener.address)]" : listener.address
            addresses.append("\(scheme)://\(host):\(server.port ?? listener.port)")
        }
    }

    private func identity() throws(ServeError) -> TLSIdentity? {
        switch options.transport {
        case .plain: return nil
        case .certificate(let path, let keyPath):
            return try ServerIdentity.load(certificate: path, key: keyPath)
        case .development(let hostNames):
            let identity = try ServerIdentity.development(
                in: directory, names: hostNames.isEmpty ? usualNames : hostNames, now: clock.now(), log: log)
            if let path = options.exportedAuthority { try ServerIdentity.export(identity, to: path) }
            return identity
        }
    }

    /// The names by which a server without `--host-name` may be reached.
    private var usualNames: [String] {
        var names: Set<String> = ["localhost"]
        for listener in options.listeners where listener.address != "0.0.0.0" && listener.address != "::" {
            names.insert(listener.address)
        }
        var buffer = [CChar](repeating: 0, count: 256)
        let hasName = gethostname(&buffer, buffer.count - 1) == 0
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        if hasName, isName, !name.isEmpty { names.insert(name.lowercased()) }
        return names.sorted()
    }
}
