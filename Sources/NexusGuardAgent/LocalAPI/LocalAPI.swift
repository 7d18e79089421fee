// SPDX-License-Identifier: MIT

public import AgentCore
public import AgentHTTP
public import AgentStore
internal import Synchronization

/// The agent's interface for programs of this host: HTTP and JSON on a unix socket.
///
/// Everybody may connect; who the peer is decides what it may see and do.
public final class LocalAPI: Sendable {
    /// How the interface is set up.
    public struct Options: Sendable {
        /// The path of the socket.
        public var socketPath: String
        /// The permissions of the socket.
        public var socketMode: UInt32
        /// The group whose members operate the agent.
        public var operatorGroup: String
        /// How the way to the control server is tried by `netcheck`; `nil` leaves that part out.
        public var transport: (any HTTPTransport)?
        /// The options of such a request.
        public var transportOptions: HTTPClientOptions
        /// Called with the settings in force after each change of them.
        public var settingsChanged: (@Sendable (AgentConfig) -> Void)?
        /// Tells the time.
        var clock: any AgentClock = SystemAgentClock()

        /// Creates options with the defaults of the daemon.
        public init(socketPath: String = LocalAPI.defaultSocketPath) {
            self.socketPath = socketPath
            socketMode = 0o666
            operatorGroup = "nexusguard"
            transport = nil
            transportOptions = HTTPClientOptions()
            settingsChanged = nil
        }
    }

    /// Where the socket is unless the command line says otherwise.
    public static let defaultSocketPath = "/run/nexusguard/agent.sock"

    /// The most bytes of a request: an import, in which JSON may write each byte with two.
    static let largestContent = 2 * WireGuardConfigImport.largestText + 4096

    /// The agent.
    let control: any AgentControl
    /// The log.
    let log: LogStore
    /// How it was set up.
    let options: Options
    /// What went through the tunnel of late.
    let traffic: TrafficRecorder
    /// Names this run, since numbers of log entries begin anew with each.
    let instance: String
    private let policy: Mutex<PeerPolicy>
    private let server = Mutex<HTTPServer?>(nil)
    private let linkMaker = Mutex<LinkMaker?>(nil)

    /// Makes a link to the page.
    typealias LinkMaker =
        @Sendable (_ isReadOnly: Bool, _ address: PageAddress?) async throws(APIError) -> String

    /// Creates the interface of an agent; it listens after `start()`.
    public init(control: any AgentControl, log: LogStore, options: Options) {
        self.control = control
        self.log = log
        self.options = options
        traffic = TrafficRecorder(control: control, clock: options.clock)
        var random = SystemRandomNumberGenerator()
        instance = Hexadecimal.text((0..<4).map { _ in UInt8.random(in: 0...255, using: &random) })
        policy = Mutex(PeerPolicy(groupName: options.operatorGroup))
    }

    /// Listens on the socket.
    ///
    /// - Throws: `HTTPServerError`, when the socket cannot be made or another daemon has it.
    public func start() throws(HTTPServerError) {
        var serverOptions = HTTPServerOptions()
        serverOptions.bodyLimit = Self.largestContent
        let server = HTTPServer(
            listeners: [.unix(path: options.socketPath, mode: options.socketMode)], options: serverOptions
        ) { [weak self] request in
            await self?.reply(to: request) ?? .drop
        }
        try server.start()
        self.server.withLock { $0 = server }
        Task { await traffic.start() }
    }

    /// Ends all requests and streams, and removes the socket.
    public func stop() {
        let server = self.server.withLock { server in
            defer { server = nil }
            return server
        }
        Task { await traffic.stop() }
        server?.stop()
    }

    /// Looks the group of operators up again.
    public func reload() {
        let fresh = PeerPolicy(groupName: options.operatorGroup)
        policy.withLock { $0 = fresh }
    }

    /// Sets what makes links to the page.
    func setLinkMaker(_ maker: LinkMaker?) {
        linkMaker.withLock { $0 = maker }
    }

    /// What makes links to the page; `nil` without a page.
    var pageLinkMaker: LinkMaker? { linkMaker.withLock { $0 } }

    /// Answers one request.
    func reply(to request: ServerRequest) async -> ServerReply {
        do throws(APIError) {
            return try await answer(request)
        } catch {
            return .response(error.response)
        }
    }

    private func answer(_ request: ServerRequest) async throws(APIError) -> ServerReply {
        guard let role = policy.withLock({ $0 }).role(of: request.peer) else { throw .forbidden }
        try RequestChecks.checkHost(request)
        let route = try APIRoute.find(method: request.method, path: request.path)
        guard role >= route.role else { throw .forbidden }
        try RequestChecks.checkContent(request)
        if route.isChange { noteChange(request) }
        return try await serve(request, route: route, role: role)
    }

    /// Does what a route is for, for somebody who may ask for it.
    func serve(
        _ request: ServerRequest, route: APIRoute, role: PeerRole
    ) async throws(APIError) -> ServerReply {
        switch route {
        case .events:
            let after = try EventStream.position(of: request, instance: instance)
            let stream = EventStream(
                control: control, log: log, traffic: traffic, instance: instance, role: role, after: after)
            return .stream(stream.serverStream())
        default: return .response(try await respond(to: request, route: route, role: role))
        }
    }

    /// Notes who asked for a change; nothing of the content, which may be a secret.
    private func noteChange(_ request: ServerRequest) {
        guard case .unix(let user, _, let process, _) = request.peer else { return }
        log.add(
            level: .info, tag: "api",
            message: "\(request.method) \(request.path) by user \(user), process \(process)")
    }
}
