// SPDX-License-Identifier: MIT

internal import NexusGuardAgent

/// Follows the daemon's state until it is as wanted, over restarts of the daemon too.
struct Waiter: Sendable {
    /// How a wait ended.
    enum Outcome: Sendable {
        /// The state is as wanted.
        case reached(AgentSnapshot)
        /// The time is over; the last state, if the daemon has ever answered.
        case timedOut(AgentSnapshot?)
        /// The daemon refuses to tell.
        case refused(ClientError)
    }

    /// How long after a lost connection the next one is tried.
    static let pause = Duration.milliseconds(300)

    /// The daemon.
    let client: AgentClient

    /// Waits.
    func wait(
        timeout: Duration?, until isReached: @escaping @Sendable (AgentSnapshot) -> Bool
    ) async -> Outcome {
        let updates = AsyncStream<Update>.makeStream(bufferingPolicy: .unbounded)
        let reader = Task { await read(into: updates.continuation) }
        let clock = timeout.map { limit in
            Task {
                try? await Task.sleep(for: limit)
                updates.continuation.yield(.timeIsOver)
            }
        }
        defer {
            reader.cancel()
            clock?.cancel()
        }
        var last: AgentSnapshot?
        for await update in updates.stream {
            switch update {
            case .state(let snapshot):
                last = snapshot
                if isReached(snapshot) { return .reached(snapshot) }
            case .refused(let error): return .refused(error)
            case .timeIsOver: return .timedOut(last)
            }
        }
        return .timedOut(last)
    }

    private enum Update: Sendable {
        case state(AgentSnapshot)
        case refused(ClientError)
        case timeIsOver
    }

    private func read(into updates: AsyncStream<Update>.Continuation) async {
        while !Task.isCancelled {
            do throws(ClientError) {
                try await client.follow(after: nil) { event in
                    guard event.name == "snapshot", let snapshot = try? AgentSnapshot(parsing: event.data)
                    else { return }
                    updates.yield(.state(snapshot))
                }
            } catch {
                switch error {
                case .unreachable, .silent: break
                case .refused, .malformed: updates.yield(.refused(error))
                }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
