// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent
internal import Synchronization

extension CommandRunner {
    /// Shows entries of the log, and new ones as they come.
    func logs(_ options: LogOptions) async throws(ClientError) -> ExitCode {
        let level = options.level ?? "debug"
        let fields = try fields(try await client.get("/api/v1/logs?level=\(level)"))
        var shown: [(entry: ShownLogEntry, value: JSONValue)] = []
        var known = KnownEntries()
        let position: String
        do throws(AgentError) {
            for value in try fields.array("entries", limit: 1 << 20) ?? [] {
                let entry = try ShownLogEntry(JSONFields(value))
                _ = known.insert(entry)
                if let since = options.since, entry.timestamp < since { continue }
                shown.append((entry, value))
            }
            let instance = try fields.text("instance", limit: 64) ?? ""
            position = "\(instance).\(try fields.integer("last", in: 0...Int.max) ?? 0)"
        } catch {
            throw .malformed(error.description)
        }
        if let count = options.count { shown = shown.suffix(count) }
        if isJSON {
            show(document: options.follows ? Self.lines(shown.map(\.value)) : Self.list(shown.map(\.value)))
        } else {
            show(lines: shown.map { line($0.entry) })
        }
        guard options.follows else { return .success }
        let filter = LogFilter(
            level: LogLevel(rawValue: level.uppercased()) ?? .debug, since: options.since, known: known)
        return await follow(from: position, filter: filter)
    }

    /// Forgets the log.
    func clearLogs() async throws(ClientError) -> ExitCode {
        _ = try await client.send("DELETE", "/api/v1/logs")
        return isJSON ? show(#"{"schema":1}"# + "\n") : .success
    }

    /// Shows new entries until the reader of the output is gone or the daemon refuses.
    private func follow(from start: String, filter: LogFilter) async -> ExitCode {
        let state = Mutex((position: start, filter: filter, isOpen: true, isConnected: true))
        let guardian = Self.endWithoutReader()
        defer { guardian.cancel() }
        while state.withLock({ $0.isOpen }), !Task.isCancelled {
            do throws(ClientError) {
                try await client.follow(after: state.withLock { $0.position }) { [self] event in
                    let (isBack, isWanted) = state.withLock { state in
                        defer { state.isConnected = true }
                        if let identifier = event.identifier { state.position = identifier }
                        return (!state.isConnected, state.filter.takes(event))
                    }
                    if isBack { StandardStream.writeError("the agent is back") }
                    if isWanted, !show(event) { state.withLock { $0.isOpen = false } }
                }
            } catch {
                switch error {
                case .unreachable, .silent: break
                case .refused, .malformed: return fail(error)
                }
            }
            let isNews = state.withLock { state in
                defer { state.isConnected = false }
                return state.isConnected && state.isOpen
            }
            if isNews { StandardStream.writeError("the agent is gone; waiting for it") }
            try? await Task.sleep(for: Waiter.pause)
        }
        return .success
    }

    /// Shows an event of the log; returns whether somebody still reads.
    private func show(_ event: ServerSentEvent) -> Bool {
        switch event.name {
        case "log":
            guard !isJSON else {
                return StandardStream.write(event.data + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
            }
            guard let fields = try? JSONFields(parsing: event.data), let entry = try? ShownLogEntry(fields)
            else { return true }
            return StandardStream.write(line(entry) + "\n")
        case "lost":
            let count = (try? JSONFields(parsing: event.data).integer("count", in: 0...Int.max)) ?? nil
            guard !isJSON else {
                let document = JSONValue.object(["schema": .integer(1), "lost": .integer(Int64(count ?? 0))])
                    .document
                return StandardStream.write(document + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
            }
            StandardStream.writeError(Wording.lost(count ?? 0))
            return true
        default: return true
        }
    }

    /// The line of an entry, with the date when it is not from today.
    private func line(_ entry: ShownLogEntry) -> String {
        entry.line(style: style, withDate: Wording.day(entry.timestamp) != Wording.day(Date()))
    }

    private static func lines(_ values: [JSONValue]) -> [UInt8] {
        values.flatMap { $0.document + [UInt8(ascii: "\n")] }
    }

    private static func list(_ values: [JSONValue]) -> [UInt8] {
        JSONValue.object(["schema": .integer(1), "entries": .array(values)]).document
    }
}

/// Which events of the log are shown.
private struct LogFilter: Sendable {
    /// The least important level.
    let level: LogLevel
    /// Only entries after this.
    let since: Date?
    /// What was shown or left out already.
    var known: KnownEntries

    /// Whether an event is shown.
    mutating func takes(_ event: ServerSentEvent) -> Bool {
        guard event.name == "log" else { return event.name == "lost" }
        guard let fields = try? JSONFields(parsing: event.data), let entry = try? ShownLogEntry(fields),
            known.insert(entry), entry.level >= level
        else { return false }
        return since.map { entry.timestamp >= $0 } ?? true
    }
}
