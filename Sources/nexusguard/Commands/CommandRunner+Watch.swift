// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent
internal import Synchronization

extension CommandRunner {
    /// Shows the state as it changes: on a terminal as a picture, elsewhere as lines.
    @MainActor func watch() async -> ExitCode {
        if !isJSON, StandardStream.isTerminal(STDOUT_FILENO) { return await watchOnTerminal() }
        return await watchInLines()
    }

    // MARK: Terminal

    /// The loop runs on the main thread and blocks it; everything else runs on others.
    @MainActor private func watchOnTerminal() async -> ExitCode {
        // Taken first: threads that exist already would not hold the signals back.
        guard let screen = LiveScreen() else {
            return fail(.failure, "the terminal cannot be used", code: "no-terminal")
        }
        let view = LiveView(client: client, wake: screen.waker)
        let reader = Task.detached { await view.follow() }
        defer { reader.cancel() }
        while true {
            let size = screen.size
            if let refusal = view.refusal {
                screen.leave()
                return fail(refusal)
            }
            screen.draw(
                view.model.lines(width: size.width, height: size.height, style: style, now: Date()))
            // Ages change each second.
            if screen.wait(milliseconds: 1000) == .quit { break }
        }
        screen.leave()
        return .success
    }

    // MARK: Lines

    /// One line for each change that matters, or each state as JSON.
    private func watchInLines() async -> ExitCode {
        let last = Mutex<String?>(nil)
        let isOpen = Mutex(true)
        var hasConnected = false
        let guardian = Self.endWithoutReader()
        defer { guardian.cancel() }
        while isOpen.withLock({ $0 }) {
            do throws(ClientError) {
                try await client.follow(after: nil) { [self] event in
                    guard event.name == "snapshot", let snapshot = try? AgentSnapshot(parsing: event.data)
                    else { return }
                    let text = isJSON ? String(decoding: event.data, as: UTF8.self) : Self.line(snapshot)
                    let isNew = last.withLock { last in
                        defer { last = text }
                        return last != text
                    }
                    guard isNew else { return }
                    let stamp = isJSON ? "" : RFC3339.text(Date()) + " "
                    if !StandardStream.write(stamp + text + "\n") { isOpen.withLock { $0 = false } }
                }
                hasConnected = true
            } catch {
                switch error {
                case .unreachable where !hasConnected && last.withLock({ $0 }) == nil: return fail(error)
                case .unreachable, .silent: break
                case .refused, .malformed: return fail(error)
                }
                last.withLock { $0 = nil }
            }
            try? await Task.sleep(for: Waiter.pause)
        }
        return .success
    }

    /// Ends the process soon after the reader of a pipe has gone, though nothing is written meanwhile.
    static func endWithoutReader() -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(500))
                if StandardStream.isOutputClosed { exit(ExitCode.success.rawValue) }
            }
        }
    }

    /// What of a state is worth a line: no ages and no counters, which always change.
    private static func line(_ snapshot: AgentSnapshot) -> String {
        var parts = [snapshot.state.rawValue, snapshot.phase.rawValue]
        if let reason = snapshot.reason {
            parts.append(Wording.safe(reason.text.isEmpty ? reason.code : "\(reason.code): \(reason.text)"))
        }
        if !snapshot.health.isEmpty {
            parts.append("[\(snapshot.health.map { Wording.safe($0.code) }.joined(separator: ", "))]")
        }
        return parts.joined(separator: " ")
    }
}

/// Keeps what a live view shows up to date.
private final class LiveView: Sendable {
    private let client: AgentClient
    private let wake: @Sendable () -> Void
    private let state = Mutex((model: LiveModel(), position: "0", refusal: ClientError?.none))

    init(client: AgentClient, wake: @escaping @Sendable () -> Void) {
        self.client = client
        self.wake = wake
    }

    /// What is to be shown.
    var model: LiveModel { state.withLock { $0.model } }

    /// Why the daemon will never tell; `nil` as long as it may.
    var refusal: ClientError? { state.withLock { $0.refusal } }

    /// Follows the daemon, over its restarts too.
    func follow() async {
        while !Task.isCancelled {
            let position = state.withLock { $0.position }
            do throws(ClientError) {
                try await client.follow(after: position) { [self] event in
                    state.withLock { state in
                        state.model.take(event)
                        if let identifier = event.identifier { state.position = identifier }
                    }
                    wake()
                }
                note("the daemon has closed the connection")
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

    private func note(_ trouble: String) {
        state.withLock { $0.model.trouble = trouble }
    }
}
