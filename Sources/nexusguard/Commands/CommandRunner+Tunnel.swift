// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent

extension CommandRunner {
    /// Brings the tunnel up.
    func up(_ options: WaitOptions) async throws(ClientError) -> ExitCode {
        try await change(Self.body("up", true), options)
    }

    /// Takes the tunnel down and brings it up again.
    func restart(_ options: WaitOptions) async throws(ClientError) -> ExitCode {
        try await change(Self.body("restart", true), options)
    }

    /// Takes the tunnel down.
    func down() async throws(ClientError) -> ExitCode {
        let document = try await client.send("POST", "/api/v1/tunnel", body: Self.body("up", false))
        return try showState(document)
    }

    /// Contacts the server.
    func refresh() async throws(ClientError) -> ExitCode {
        try showState(try await client.send("POST", "/api/v1/refresh"))
    }

    private func change(_ body: [UInt8], _ options: WaitOptions) async throws(ClientError) -> ExitCode {
        let document = try await client.send("POST", "/api/v1/tunnel", body: body)
        let snapshot = try AgentClient.snapshot(document)
        if let code = Self.dead(snapshot) {
            return fail(code, Self.sentence(of: snapshot), code: snapshot.reason?.code ?? "failed")
        }
        guard options.waits else { return try showState(document) }
        return await wait(for: .connected, timeout: options.timeout, givesUp: true)
    }

    /// Shows the state after a change.
    func showState(_ document: [UInt8]) throws(ClientError) -> ExitCode {
        guard !isJSON else { return show(document: document) }
        let text = StatusText(try AgentClient.snapshot(document), style: style, now: Date())
        return show(lines: [text.headline] + text.health)
    }

    // MARK: Status

    /// Shows the state once.
    func status() async throws(ClientError) -> ExitCode {
        let document = try await client.get("/api/v1/status")
        guard !isJSON else { return show(document: document) }
        return show(
            lines: StatusText(try AgentClient.snapshot(document), style: style, now: Date()).lines)
    }

    /// Tests a condition.
    func check(_ condition: StatusCheck) async throws(ClientError) -> ExitCode {
        let holds: Bool
        var state = ""
        switch condition {
        case .live:
            do throws(ClientError) {
                _ = try await client.get("/healthz")
                holds = true
            } catch {
                guard case .silent = error else { throw error }
                holds = false
            }
        case .ready:
            let snapshot = try await client.snapshot()
            holds = snapshot.state == .connected
            state = snapshot.state.rawValue
        }
        if isJSON {
            let detail = state.isEmpty ? "" : #","state":"\#(state)""#
            show(#"{"schema":1,"\#(condition.rawValue)":\#(holds)\#(detail)}"# + "\n")
        } else {
            let suffix = state.isEmpty || holds ? "" : " (\(state))"
            show((holds ? condition.rawValue : "not \(condition.rawValue)\(suffix)") + "\n")
        }
        return holds ? .success : .conditionFalse
    }

    // MARK: Waiting

    /// Waits until the agent is in a state.
    ///
    /// - Parameter givesUp: Whether a state that only the user or the server can end ends the wait too.
    func wait(for goal: WaitGoal, timeout: Duration?, givesUp: Bool = false) async -> ExitCode {
        let outcome = await Waiter(client: client).wait(timeout: timeout) { snapshot in
            goal.isReached(in: snapshot) || (givesUp && Self.dead(snapshot) != nil)
        }
        switch outcome {
        case .reached(let snapshot):
            if !goal.isReached(in: snapshot), let code = Self.dead(snapshot) {
                return fail(code, Self.sentence(of: snapshot), code: snapshot.reason?.code ?? "failed")
            }
            return (try? showState(snapshot.json())) ?? .failure
        case .timedOut(let snapshot?):
            return fail(
                .timedOut, "not \(goal.rawValue) in time: \(Self.sentence(of: snapshot))", code: "timed-out")
        case .timedOut(nil): return fail(.unreachable(socket: client.socket, reason: "no connection in time"))
        case .refused(let error): return fail(error)
        }
    }

    /// The exit status for a state that does not end by itself; `nil` for every other.
    private static func dead(_ snapshot: AgentSnapshot) -> ExitCode? {
        guard snapshot.state == .failed || snapshot.phase == .failed else { return nil }
        switch snapshot.reason?.code {
        case AgentError.notProvisioned.code: return .notProvisioned
        case AgentError.unauthorized.code, AgentError.revoked.code: return .refusedByServer
        default: return nil
        }
    }

    private static func sentence(of snapshot: AgentSnapshot) -> String {
        guard let reason = snapshot.reason else { return "the state is \(snapshot.state.rawValue)" }
        return Wording.safe(reason.text.isEmpty ? reason.code : reason.text)
    }
}

extension WaitGoal {
    /// Whether a state is the one that is waited for.
    func isReached(in snapshot: AgentSnapshot) -> Bool {
        switch self {
        case .connected: snapshot.state == .connected
        case .disconnected: snapshot.state == .disconnected && snapshot.tunnel == nil
        case .provisioned: snapshot.provisioned
        }
    }
}
