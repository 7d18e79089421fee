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
        let position: String
        do throws(AgentError) {
            for value in try fields.array("entries", limit: 1 << 20) ?? [] {
                let entry = try ShownLogEntry(JSONFields(value))
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
        return await follow(from: position, level: LogLevel(rawValue: level.uppercased()) ?? .debug)
    }

    /// Forgets the log.
    func clearLogs() async throws(ClientError) -> ExitCode {
        _ = try await client.send("DELETE", "/api/v1/logs")
        return isJSON ? show(#"{"schema":1}"# + "\n") : .success
    }

    /// Shows new entries until the reader of the output is gone or the daemon refuses.
    private func follow(from start: String, level: LogLevel) async -> ExitCode {
        let position = Mutex(start)
        let isOpen = Mutex(true)
        let guardian = Self.endWithoutReader()
        defer { guardian.cancel() }
        while isOpen.withLock({ $0 }), !Task.isCancelled {
            do throws(ClientError) {
                try await client.follow(after: position.withLock { $0 }) { [self] event in
                    if let identifier = event.identifier { position.withLock { $0 = identifier } }
                    if !show(event, level: level) { isOpen.withLock { $0 = false } }
                }
            } catch {
                switch error {
                case .unreachable, .silent: break
                case .refused, .malformed: return fail(error)
                }
            }
            try? await Task.sleep(for: Waiter.pause)
        }
        return .success
    }

    /// Shows an event of the log; returns whether somebody still reads.
    private func show(_ event: ServerSentEvent, level: LogLevel) -> Bool {
        switch event.name {
        case "log":
            guard let value = try? JSONValue(parsing: event.data),
                let fields = try? JSONFields(value), let entry = try? ShownLogEntry(fields),
                entry.level >= level
            else { return true }
            return isJSON
                ? StandardStream.write(event.data + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
                : StandardStream.write(line(entry) + "\n")
        case "lost":
            let count = (try? JSONFields(parsing: event.data).integer("count", in: 0...Int.max)) ?? nil
            StandardStream.writeError("\(count ?? 0) entries came faster than they could be shown")
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
