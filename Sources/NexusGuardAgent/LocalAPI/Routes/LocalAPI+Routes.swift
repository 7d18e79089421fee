// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore

extension LocalAPI {
    /// Does what a route is for.
    func respond(
        to request: ServerRequest, route: APIRoute, role: PeerRole
    ) async throws(APIError) -> ServerResponse {
        switch route {
        case .status:
            let snapshot = await control.snapshot
            return APIReply.json((role == .controller ? snapshot : snapshot.redacted).json())
        case .readLogs: return try readLogs(request)
        case .clearLogs:
            log.clear()
            return APIReply.empty
        case .tunnel: return try await changeTunnel(request)
        case .provision: return try await provision(request)
        case .deprovision:
            return try await change { (control) async throws(AgentError) in try await control.deprovision() }
        case .refresh:
            return try await change { (control) async throws(AgentError) in try await control.refresh() }
        case .reset:
            return try await change { (control) async throws(AgentError) in try await control.reset() }
        case .readSettings: return APIReply.json(await settingsDocument())
        case .writeSettings: return try await writeSettings(request)
        case .forwards: return APIReply.json(ForwardsJSON.document(await control.snapshot.forwards))
        case .traffic: return APIReply.json(await traffic.document())
        case .readConfig: return try await readConfig()
        case .previewConfig: return try await previewConfig(request)
        case .writeConfig: return try await applyConfig(request)
        case .exportConfig: return try await exportConfig(request)
        case .netcheck: return APIReply.json(await NetCheck(self).run().document)
        case .bugreport: return APIReply.json(await BugReport(self).document())
        case .hwid: return try await readHWID()
        case .pageLink: return try await makePageLink(request)
        case .metrics:
            return APIReply.text(
                Metrics.text(await control.snapshot), type: "text/plain; version=0.0.4; charset=utf-8")
        case .health, .events:
            // The answer of the state machine is the point: without one this request does not return.
            _ = await control.snapshot
            return APIReply.empty
        }
    }

    /// Changes something and shows the state afterwards.
    private func change(
        _ operation: (any AgentControl) async throws(AgentError) -> Void
    ) async throws(APIError) -> ServerResponse {
        do {
            try await operation(control)
        } catch {
            throw APIError(error)
        }
        return APIReply.json(await control.snapshot.json())
    }

    private func readLogs(_ request: ServerRequest) throws(APIError) -> ServerResponse {
        let after = try EventStream.position(of: request, instance: instance)
        var level = LogLevel.debug
        if let text = request.query("level") {
            guard let named = LogLevel(rawValue: text.uppercased()) else {
                throw .badRequest(field: "level", "level: is none of debug, info, warn, error")
            }
            level = named
        }
        var limit = LogStore.defaultCapacity
        if let text = request.query("limit") {
            guard let number = Int(text), number >= 0 else {
                throw .badRequest(field: "limit", "limit: is no number")
            }
            limit = min(number, limit)
        }
        // The number first: an entry that comes between the two is sent twice rather than not at all.
        let last = log.lastNumber
        let entries = log.getLogs(after: after, minimumLevel: level, limit: limit)
        return APIReply.json(
            LogJSON.document(entries, instance: instance, last: max(last, entries.last?.id ?? 0)))
    }

    private func changeTunnel(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let fields = try Self.fields(request)
        let (up, restart): (Bool?, Bool)
        do throws(AgentError) {
            up = try fields.bool("up")
            restart = try fields.bool("restart") ?? false
        } catch {
            throw APIError(error)
        }
        guard restart || up != nil else { throw .badRequest(field: "up", "up: is missing") }
        guard !(restart && up == false) else {
            throw .badRequest(field: "restart", "restart: cannot be combined with up: false")
        }
        return try await change { (control) async throws(AgentError) in
            if restart {
                try await control.restart()
            } else if up == true {
                try await control.up()
            } else {
                try await control.down()
            }
        }
    }

    private func provision(_ request: ServerRequest) async throws(APIError) -> ServerResponse {
        let fields = try Self.fields(request)
        let token: String?
        do throws(AgentError) {
            token = try fields.text("token", limit: 4096)
            guard token != "" else { throw fields.invalid("token", "is empty") }
        } catch {
            throw APIError(error)
        }
        return try await change { (control) async throws(AgentError) in
            try await control.provision(token: token)
        }
    }

    private func readHWID() async throws(APIError) -> ServerResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("schema", AgentSnapshot.currentSchema)
        do {
            writer.member("hwid", try await control.hwid)
        } catch {
            throw APIError(error)
        }
        writer.endObject()
        return APIReply.json(writer.finish())
    }

    /// The object that is a request's content; an empty content is an empty object.
    static func fields(_ request: ServerRequest) throws(APIError) -> JSONFields {
        do {
            return try JSONFields(
                parsing: request.body.isEmpty ? Array("{}".utf8) : request.body,
                limit: Self.largestContent)
        } catch {
            throw APIError(error)
        }
    }
}
