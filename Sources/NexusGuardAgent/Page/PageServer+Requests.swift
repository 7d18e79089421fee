// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore

extension PageServer {
    /// Answers one request of a browser.
    func reply(to request: ServerRequest) async -> ServerReply {
        do throws(APIError) {
            return try await answer(request)
        } catch {
            return .response(error.response)
        }
    }

    private func answer(_ request: ServerRequest) async throws(APIError) -> ServerReply {
        guard let listener else { return .drop }
        try listener.hosts.checkHost(request)
        let isRead = request.method == "GET" || request.method == "HEAD"
        guard request.path.hasPrefix("/api/") else {
            guard isRead else {
                try listener.hosts.checkOrigin(request)
                throw .methodNotAllowed(["GET", "HEAD"])
            }
            if request.path == "/healthz" { return .response(APIReply.empty) }
            guard let file = files.file(at: request.path) else { throw .notFound }
            return .response(PageFiles.response(file, to: request))
        }
        try listener.hosts.checkOrigin(request)
        try RequestChecks.checkContent(request)
        switch request.path {
        case Self.loginPath:
            if isRead { return .response(loginKinds()) }
            guard request.method == "POST" else { throw .methodNotAllowed(["GET", "HEAD", "POST"]) }
            return .response(try await login(request))
        case Self.logoutPath:
            guard request.method == "POST" else { throw .methodNotAllowed(["POST"]) }
            let (digest, _) = try session(of: request)
            await end(digest, because: "logged out")
            return .response(APIReply.empty)
        default: return try await forward(request)
        }
    }

    // MARK: Letting in

    /// What opens a session here besides a link; nothing of it is a secret.
    private func loginKinds() -> ServerResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("password", access?.password != nil)
        writer.endObject()
        return APIReply.json(writer.finish())
    }

    private func login(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let fields = try LocalAPI.fields(request)
        let (link, password): (JSONText?, JSONText?)
        do throws(AgentError) {
            (link, password) = (try fields.secret("link"), try fields.secret("password"))
        } catch {
            throw APIError(error)
        }
        switch (link, password) {
        case (let link?, nil): return try await login(link: link, request)
        case (nil, let password?): return try await login(password: password, request)
        default: throw .badRequest(field: "link", "link: either it or a password must be given")
        }
    }

    private func login(link: JSONText, _ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let isReadOnly: Bool
        do throws(PageTable.LinkRefusal) {
            isReadOnly = try table.useLink(PageDigest(of: link.string), at: now)
        } catch {
            // What was never a link is no news: anybody could fill the log with it.
            log(error == .unknown ? .debug : .warn, request, "a link was refused: \(error)")
            throw Self.refusal(error)
        }
        return await begin(isReadOnly: isReadOnly, passwordStamp: nil, for: request)
    }

    private func login(
        password: JSONText, _ request: ServerRequest
    ) async throws(APIError) -> ServerResponse {
        guard let right = access?.password else {
            throw APIError(
                status: 401, code: "password-unset", message: "no password is set here; ask for a link")
        }
        guard case .network(let address, _) = request.peer else { throw .forbidden }
        if let pause = gate.pause(of: address, at: now) { throw .tooManyGuesses(pause) }
        guard right.isRight(password) else {
            let pause = gate.noteWrong(address, at: now)
            log(.warn, request, "a password was wrong\(pause == nil ? "" : "; the next ones have to wait")")
            throw APIError(status: 401, code: "password-wrong", message: "the password is wrong")
        }
        gate.noteRight(address)
        return await begin(isReadOnly: false, passwordStamp: right.stamp, for: request)
    }

    private func begin(
        isReadOnly: Bool, passwordStamp: String?, for request: ServerRequest
    ) async -> ServerResponse {
        let session = PageSecret.make()
        let digest = PageDigest(of: session)
        let former = table.addSession(
            digest, isReadOnly: isReadOnly, passwordStamp: passwordStamp, at: now)
        if let former { await end(former, because: "there are too many") }
        let looksOnly = isReadOnly || access?.settings.isReadOnly == true
        log(.info, request, "session \(digest.name) has begun\(looksOnly ? ", read-only" : "")")
        save()
        await update()
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        writer.member("session", session)
        writer.member("read_only", looksOnly)
        writer.member("idle_timeout", Int(PageTable.idleLimit.components.seconds))
        writer.endObject()
        return APIReply.json(writer.finish())
    }

    private static func refusal(_ reason: PageTable.LinkRefusal) -> APIError {
        switch reason {
        case .used:
            APIError(status: 401, code: "link-used", message: "this link was used before; ask for a new one")
        case .expired:
            APIError(status: 401, code: "link-expired", message: "this link is too old; ask for a new one")
        case .unknown:
            APIError(status: 401, code: "link-unknown", message: "this link is not known; ask for a new one")
        }
    }

    // MARK: Sessions

    /// The session that a request names, which this uses.
    private func session(of request: ServerRequest) throws(APIError) -> (PageDigest, PageTable.Session) {
        guard let digest = PageSessionList.session(in: request.headers),
            let session = table.useSession(digest, at: now)
        else { throw .sessionEnded }
        return (digest, session)
    }

    /// Has the local interface answer, as it does an operator.
    private func forward(_ request: ServerRequest) async throws(APIError) -> ServerReply {
        let (digest, session) = try session(of: request)
        guard !APIRoute.allCases.contains(where: { $0.isLocalOnly && $0.path == request.path }) else {
            throw .notFound
        }
        let route = try APIRoute.find(method: request.method, path: request.path)
        let looksOnly = session.isReadOnly || access?.settings.isReadOnly == true
        if looksOnly, route.method != "GET" { throw .readOnly }
        if route.isChange { log(.info, request, "\(request.method) \(request.path), session \(digest.name)") }
        let reply = try await api.serve(request, route: route, role: .controller)
        guard case .stream(let stream) = reply, request.method != "HEAD" else { return reply }
        return try bind(stream, to: digest)
    }

    /// Makes a stream end with its session.
    private func bind(_ stream: ServerStream, to digest: PageDigest) throws(APIError) -> ServerReply {
        guard let (number, handle) = addStream(of: digest) else {
            throw APIError(
                status: 503, code: "too-many-streams", message: "too many streams of events are open",
                headers: ["Retry-After": "5"])
        }
        var stream = stream
        let (attach, onClosed) = (stream.attach, stream.onClosed)
        stream.attach = { writer in
            handle.take(writer)
            attach(writer)
        }
        stream.onClosed = { [weak self] in
            handle.forget()
            onClosed?()
            Task { await self?.removeStream(number, of: digest) }
        }
        return .stream(stream)
    }

    private func log(_ level: LogLevel, _ request: ServerRequest, _ message: String) {
        guard case .network(let address, _) = request.peer else { return }
        api.log.add(level: level, tag: "page", message: "\(message) (\(address))")
    }

    private static let loginPath = "/api/v1/ui/login"
    private static let logoutPath = "/api/v1/ui/logout"
}

extension APIError {
    /// The request names no session that goes on.
    static let sessionEnded = APIError(
        status: 401, code: "session-ended", message: "there is no such session, or it has ended",
        headers: ["WWW-Authenticate": "Bearer"])

    /// Too many passwords were wrong.
    static func tooManyGuesses(_ pause: Duration) -> APIError {
        let seconds = max(1, pause.components.seconds + (pause.components.attoseconds > 0 ? 1 : 0))
        return APIError(
            status: 429, code: "too-many-guesses",
            message: "too many passwords were wrong; wait \(seconds) s",
            headers: ["Retry-After": "\(seconds)"])
    }

    /// The session may only look.
    static let readOnly = APIError(
        status: 403, code: "read-only", message: "this session may look and change nothing")
}
