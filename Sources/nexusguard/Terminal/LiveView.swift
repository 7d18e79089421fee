// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import NexusGuardAgent
internal import Synchronization

/// Keeps what a live view shows up to date, over restarts of the daemon too.
final class LiveView: Sendable {
    private let client: AgentClient
    private let wake: @Sendable () -> Void
    private let state = Mutex((model: LiveModel(), position: "0", refusal: ClientError?.none))

    /// Creates a view.
    ///
    /// - Parameter wake: Called after each change, on any thread.
    init(client: AgentClient, wake: @escaping @Sendable () -> Void) {
        self.client = client
        self.wake = wake
    }

    /// What is to be shown.
    var model: LiveModel { state.withLock { $0.model } }

    /// Why the daemon will never tell; `nil` as long as it may.
    var refusal: ClientError? { state.withLock { $0.refusal } }

    /// Follows the daemon until the task is cancelled.
    func follow() async {
        while !Task.isCancelled {
            let position = state.withLock { $0.position }
            do throws(ClientError) {
                await remember()
                try await client.follow(after: position) { [self] event in
                    state.withLock { state in
                        state.model.take(event, now: Date())
                        if let identifier = event.identifier { state.position = identifier }
                    }
                    wake()
                }
                note("the agent has closed the connection")
            } catch {
                switch error {
                case .unreachable, .silent: note(error.description)
                case .refused, .malformed: state.withLock { $0.refusal = error }
                }
            }
            wake()
            try? await Task.sleep(for: Waiter.pause)
        }
    }

    /// Asks for the traffic of the last ten minutes; those who may not know it, or whose daemon does not, have none.
    private func remember() async {
        guard let document = try? await client.get("/api/v1/traffic"),
            let fields = try? JSONFields(parsing: document),
            let values = try? fields.array("samples", limit: 4096)
        else { return }
        let samples = values.compactMap { value in
            (try? JSONFields(value)).flatMap { try? TrafficSample($0) }
        }
        state.withLock { $0.model.traffic.replace(with: samples) }
    }

    private func note(_ trouble: String) {
        state.withLock { $0.model.lose(trouble, now: Date()) }
    }
}
