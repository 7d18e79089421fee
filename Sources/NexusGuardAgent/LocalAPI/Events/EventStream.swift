// SPDX-License-Identifier: MIT

internal import AgentCore
internal import AgentHTTP
internal import AgentStore
internal import Synchronization

/// One client's stream of server-sent events (`snapshot`, `health`, `forwards`, `traffic`, `log`, `lost`).
///
/// State is sent whole at the start and at each change; only entries of the log have an identifier, so that a
/// client that comes back with `Last-Event-ID` gets the entries that it missed and the state as it is.
struct EventStream: Sendable {
    /// The agent.
    let control: any AgentControl
    /// The log.
    let log: LogStore
    /// The samples of traffic.
    let traffic: TrafficRecorder
    /// Names this run of the agent in identifiers of events: numbers of entries begin anew with each run.
    let instance: String
    /// What the client may see.
    let role: PeerRole
    /// The entries after this number come first; `nil` sends new ones alone.
    let after: UInt64?

    /// The stream for a server.
    func serverStream() -> ServerStream {
        let tasks = TaskSlot()
        return ServerStream(
            headers: [("Content-Type", "text/event-stream")] + APIReply.commonHeaders,
            lossMarker: { Self.event("lost", #"{"count":\#($0)}"#) },
            onClosed: { tasks.cancel() },
            attach: { writer in
                tasks.set(Task { await run(writer) })
            })
    }

    /// The number after which entries are wanted, out of the query or the header field of a client that comes back.
    ///
    /// - Throws: A refusal with the field `after`.
    static func position(of request: ServerRequest, instance: String) throws(APIError) -> UInt64? {
        guard let text = request.query("after") ?? request.header("Last-Event-ID"), !text.isEmpty else {
            return nil
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let number = UInt64(parts[parts.count - 1]) else {
            throw .badRequest(field: "after", "after: is no position in the log")
        }
        // Entries of another run are gone; everything of this one is new to the client.
        return parts.count == 2 && parts[0] != instance ? 0 : number
    }

    private func run(_ writer: StreamWriter) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await sendSnapshots(to: writer) }
            group.addTask { await sendTraffic(to: writer) }
            if role == .controller { group.addTask { await sendLog(to: writer) } }
        }
        writer.close()
    }

    private func sendSnapshots(to writer: StreamWriter) async {
        var last: AgentSnapshot?
        for await snapshot in await control.snapshots {
            guard !writer.isClosed else { return }
            let shown = role == .controller ? snapshot : snapshot.redacted
            if shown != last { writer.write(Self.event("snapshot", shown.json())) }
            if shown.health != last?.health {
                writer.write(Self.event("health", HealthJSON.document(shown.health)))
            }
            if role == .controller, last == nil || shown.forwards != last?.forwards {
                writer.write(Self.event("forwards", ForwardsJSON.document(shown.forwards)))
            }
            last = shown
        }
        // The agent has stopped.
        writer.close()
    }

    private func sendTraffic(to writer: StreamWriter) async {
        for await sample in await traffic.stream() {
            guard !writer.isClosed else { return }
            writer.write(Self.event("traffic", sample.document))
        }
    }

    private func sendLog(to writer: StreamWriter) async {
        for await item in log.stream(after: after) {
            guard !writer.isClosed else { return }
            switch item {
            case .entry(let entry):
                writer.write(
                    Self.event("log", LogJSON.document(entry), identifier: "\(instance).\(entry.id)"))
            case .lost(let count): writer.write(Self.event("lost", #"{"count":\#(count)}"#))
            }
        }
    }

    private static func event(_ name: String, _ data: [UInt8], identifier: String? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 64)
        if let identifier { bytes += "id: \(identifier)\n".utf8 }
        bytes += "event: \(name)\ndata: ".utf8
        bytes += data
        bytes += "\n\n".utf8
        return bytes
    }

    private static func event(_ name: String, _ data: String) -> [UInt8] { event(name, Array(data.utf8)) }
}

/// Holds a task that may be ended before it is known.
private final class TaskSlot: Sendable {
    private let state = Mutex<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

    func set(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
