// SPDX-License-Identifier: MIT

public import AgentCore
internal import AgentHTTP
internal import AgentHost
public import AgentStore
internal import Glibc
internal import Synchronization

/// Why the agent cannot run on this host; one sentence.
public struct AgentServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
}

/// The whole agent of a host, put together: stores, tunnel, state machine and local interface.
public final class AgentService: Sendable {
    /// Where everything is.
    public struct Options: Sendable {
        /// What must be remembered.
        public var stateDirectory: String
        /// What stands in for it, and where the socket is by default.
        public var runtimeDirectory: String
        /// The administrator's settings.
        public var configurationFile: String
        /// The path of the socket.
        public var socketPath: String
        /// The least important level that is logged; `nil` leaves it to the administrator.
        public var logLevel: LogLevel?
        /// A file with the token of a new device, which comes before the administrator's.
        public var tokenFile: String?
        /// What of the page the command line says, in place of the administrator's file.
        public var page = PageSettings()
        /// An interval of heartbeats in place of the server's; for tests of very many of them alone, out of reach of
        /// programs that embed the agent and of every setting.
        package var heartbeatInterval: Duration?

        /// Creates options.
        public init(
            stateDirectory: String, runtimeDirectory: String, configurationFile: String, socketPath: String,
            logLevel: LogLevel? = nil, tokenFile: String? = nil
        ) {
            self.stateDirectory = stateDirectory
            self.runtimeDirectory = runtimeDirectory
            self.configurationFile = configurationFile
            self.socketPath = socketPath
            self.logLevel = logLevel
            self.tokenFile = tokenFile
        }
    }

    /// The agent.
    public var control: any AgentControl { manager }
    /// The log.
    public let log: LogStore

    private let options: Options
    private let directory: StateDirectory
    private let manager: AgentManager
    private let api: LocalAPI
    private let page: PageServer
    private let persistence: LogPersistence

    /// Opens the stores, undoes what an earlier run left on the host, and prepares everything.
    ///
    /// - Throws: When another daemon uses the state directory, when a file of the administrator is malformed, or
    ///   when the host lacks what the agent needs.
    public init(_ options: Options) throws(AgentServiceError) {
        self.options = options
        var pageOptions = PageServer.Options()
        do throws(AgentError) {
            let administrator = try AdministratorSettings(contentsOf: options.configurationFile)
            pageOptions.settings = administrator.page.replaced(by: options.page)
            try pageOptions.settings.check()
            log = LogStore(
                minimumLevel: Self.logLevel(options, administrator), mirrorsToStandardError: true)
            Self.makeDirectory(options.runtimeDirectory)
            directory = try StateDirectory(
                path: options.stateDirectory, fallback: options.runtimeDirectory,
                hostKeyFile: administrator.hostKeyFile, log: log)
            try directory.lock()
            let settingsStore = SettingsStore(directory: directory)
            let settings = administrator.applied(to: try settingsStore.loadConfig() ?? AgentConfig())
            let place = directory.isDegraded ? options.runtimeDirectory : options.stateDirectory
            let host = try Self.host(options, isDegraded: directory.isDegraded, log: log)
            var tunnelOptions = TunnelManager.Options(interfaceName: settings.interfaceName)
            tunnelOptions.timestampFile = "\(place)/tunnel.tai64n"
            tunnelOptions.endpointFile = "\(place)/endpoint.json"
            manager = AgentManager(
                directory: directory, settings: settingsStore, secrets: SecretStore(directory: directory),
                administrator: administrator, tokenFile: options.tokenFile,
                tunnel: try TunnelManager(options: tunnelOptions, host: host, log: log),
                network: Self.watch(ignoring: settings.interfaceName, log: log), log: log)
            persistence = LogPersistence(log: log, directory: directory)
            persistence.apply(settings)
        } catch {
            throw AgentServiceError(description: error.description)
        }
        var apiOptions = LocalAPI.Options(socketPath: options.socketPath)
        apiOptions.transport = HTTPClient()
        apiOptions.transportOptions.socketMark = FirewallMark.value
        apiOptions.settingsChanged = { [persistence] in persistence.apply($0) }
        api = LocalAPI(control: manager, log: log, options: apiOptions)
        pageOptions.store = PageStore(directory: directory)
        let page = PageServer(api: api, options: pageOptions)
        self.page = page
        api.setLinkMaker { [weak page] (isReadOnly, address) async throws(APIError) in
            guard let page else { throw .pageUnavailable("the agent ends") }
            return try await page.makeLink(isReadOnly: isReadOnly, listeningOn: address)
        }
    }

    /// Starts the agent, and listens.
    public func start() async throws(AgentServiceError) {
        if let interval = options.heartbeatInterval { await manager.fixHeartbeatInterval(interval) }
        do throws(AgentError) {
            try await manager.startAgent()
        } catch {
            throw AgentServiceError(description: error.description)
        }
        do throws(HTTPServerError) {
            try api.start()
        } catch {
            await manager.stopAgent()
            throw AgentServiceError(description: error.description)
        }
        await page.start()
    }

    /// Takes the tunnel down, undoes every change to the host, and ends.
    public func stop() async {
        await manager.stopAgent()
        await page.stop()
        api.stop()
        log.stopPersisting()
    }

    /// Reads the administrator's settings and the group of operators again.
    public func reload() async {
        api.reload()
        do throws(AgentError) {
            let administrator = try AdministratorSettings(contentsOf: options.configurationFile)
            let pageSettings = administrator.page.replaced(by: options.page)
            try pageSettings.check()
            log.minimumLevel = Self.logLevel(options, administrator)
            await manager.reload(administrator: administrator)
            persistence.apply(await manager.settings)
            await page.apply(pageSettings)
        } catch {
            log.add(level: .error, tag: "settings", message: "not read again: \(error.description)")
        }
    }

    private static func logLevel(_ options: Options, _ administrator: AdministratorSettings) -> LogLevel {
        options.logLevel ?? administrator.logLevel ?? .info
    }

    /// The host's network, with what an earlier run left undone.
    ///
    /// The journal counts for one boot, so that the runtime directory serves where the other cannot be written.
    private static func host(
        _ options: Options, isDegraded: Bool, log: LogStore
    ) throws(AgentError) -> HostNetwork {
        let storage = FileJournalStorage(
            directory: options.stateDirectory, fallback: options.runtimeDirectory)
        let host = HostNetwork(storage: storage, log: log)
        do throws(HostError) {
            try host.replay()
            return host
        } catch {
            guard isDegraded, case .journal = error else { throw .tunnelInitFailed(error.description) }
            log.add(level: .warn, tag: "host", message: "no journal of an earlier run: \(error)")
        }
        // A disk that cannot even be read: what the rules and routes show is undone all the same.
        let substitute = HostNetwork(
            storage: FileJournalStorage(directory: options.runtimeDirectory), log: log)
        do throws(HostError) {
            try substitute.replay()
            return substitute
        } catch {
            throw .tunnelInitFailed(error.description)
        }
    }

    /// Without the watch the agent still works, and learns of changes by its heartbeats alone.
    private static func watch(ignoring interface: String, log: LogStore) -> (any NetworkWatching)? {
        do throws(HostError) {
            return try NetworkWatch(ignoredInterfaces: [interface])
        } catch {
            log.add(level: .warn, tag: "network", message: "cannot be watched: \(error.description)")
            return nil
        }
    }

    /// Makes the runtime directory, which is empty after each start of the host; others may reach the socket.
    private static func makeDirectory(_ path: String) {
        if mkdir(path, 0o755) == 0 { chmod(path, 0o755) }
    }
}

/// Keeps the log in a file while the settings say so.
private final class LogPersistence: Sendable {
    private let log: LogStore
    private let directory: StateDirectory
    private let isOn = Mutex(false)

    init(log: LogStore, directory: StateDirectory) {
        self.log = log
        self.directory = directory
    }

    func apply(_ settings: AgentConfig) {
        isOn.withLock { isOn in
            guard isOn != settings.persistsLog else { return }
            isOn = settings.persistsLog
            guard isOn else {
                log.stopPersisting()
                return
            }
            do throws(AgentError) {
                try log.startPersisting(in: directory)
            } catch {
                log.add(level: .warn, tag: "log", message: "not kept in a file: \(error.description)")
            }
        }
    }
}
