// SPDX-License-Identifier: MIT

internal import Synchronization

/// What the listeners of one server share: the handler, the limits, and the table of connections.
final class ServerCore: Sendable {
    let options: HTTPServerOptions
    let handler: @Sendable (ServerRequest) async -> ServerReply
    private let table = Mutex(Table())
    /// Wakes the thread that tends to connections.
    private let clock: WakeUp
    /// Tells the thread that stops the server that the last connection has gone.
    private let emptied: WakeUp

    /// Creates the shared part; `nil` when the system has no descriptors left.
    init?(options: HTTPServerOptions, handler: @escaping @Sendable (ServerRequest) async -> ServerReply) {
        guard let clock = WakeUp(), let emptied = WakeUp() else { return nil }
        self.options = options
        self.handler = handler
        self.clock = clock
        self.emptied = emptied
    }

    /// How often a stream is looked after.
    var streamInterval: Duration { min(options.streamPing, options.responseTimeout) }

    /// Starts the thread that ends slow clients and keeps streams alive.
    func start() -> Bool {
        WorkerThread.start(name: "http-clock") { self.run() }
    }

    /// Adds a connection.
    func add(_ connection: ServerConnection) {
        let isStopping = table.withLock { table in
            table.connections[ObjectIdentifier(connection)] = connection
            return table.isStopping
        }
        if isStopping { connection.stop() }
        schedule(connection.due)
    }

    /// Removes a connection whose socket is about to be closed.
    func remove(_ connection: ServerConnection) {
        let isLast = table.withLock { table in
            table.connections[ObjectIdentifier(connection)] = nil
            return table.isStopping && table.connections.isEmpty
        }
        if isLast { emptied.signal() }
    }

    /// Makes sure that connections are tended to at a moment.
    func schedule(_ moment: ContinuousClock.Instant?) {
        guard let moment else { return }
        let isEarlier = table.withLock { table in
            guard table.wake.map({ moment < $0 }) ?? true else { return false }
            table.wake = moment
            return true
        }
        if isEarlier { clock.signal() }
    }

    /// Ends all connections, gently for as long as the options say, then at once.
    ///
    /// - Returns: Whether all have gone, so that libmicrohttpd may be stopped.
    func stop() -> Bool {
        let connections = table.withLock { table in
            table.isStopping = true
            return table.connections.values.map { $0 }
        }
        for connection in connections { connection.stop() }
        if isEmpty(within: options.stopGrace) { return true }
        let limit = ContinuousClock.now + Self.stopLimit
        repeat {
            // Again and again: a request may have come whole just now.
            for connection in table.withLock({ $0.connections.values.map { $0 } }) { connection.stopAtOnce() }
            if isEmpty(within: .milliseconds(20)) { return true }
        } while ContinuousClock.now < limit
        return false
    }

    /// Ends the thread.
    func end() {
        table.withLock { $0.hasEnded = true }
        clock.signal()
    }

    private func isEmpty(within duration: Duration) -> Bool {
        let deadline = ContinuousClock.now + duration
        while !table.withLock({ $0.connections.isEmpty }) {
            guard ContinuousClock.now < deadline else { return false }
            emptied.wait(until: deadline)
        }
        return true
    }

    private func run() {
        while true {
            let now = ContinuousClock.now
            let (connections, hasEnded) = table.withLock { table in
                // From here on, an earlier moment signals the clock.
                table.wake = nil
                return (table.connections.values.map { $0 }, table.hasEnded)
            }
            if hasEnded { return }
            for connection in connections where connection.due.map({ $0 <= now }) ?? false {
                connection.tend(at: now)
            }
            let next = connections.compactMap(\.due).min()
            let moment = table.withLock { table in
                table.wake = [next, table.wake].compactMap { $0 }.min()
                return table.wake
            }
            clock.wait(until: moment)
        }
    }

    private struct Table {
        var connections: [ObjectIdentifier: ServerConnection] = [:]
        /// When the thread will look next; `nil` when it waits for a signal alone.
        var wake: ContinuousClock.Instant?
        var isStopping = false
        var hasEnded = false
    }

    /// Longer than any thread of a loaded machine is kept waiting.
    private static let stopLimit = Duration.seconds(60)
}
