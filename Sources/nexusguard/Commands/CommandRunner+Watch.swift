// SPDX-License-Identifier: MIT

internal import FoundationEssentials
internal import Glibc
internal import NexusGuardAgent
internal import Synchronization

extension CommandRunner {
    /// Shows the state as it changes: on a terminal as a picture, elsewhere as lines.
    @MainActor func watch() async -> ExitCode {
        if !isJSON, hasScreen { return await watchOnTerminal() }
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
        var event = LiveScreen.Event.tick
        while event != .quit {
            if let refusal = view.refusal {
                screen.leave()
                return fail(refusal)
            }
            let size = screen.size
            let layout = LiveLayout(width: size.width, height: size.height, style: style, now: Date())
            guard screen.draw(layout.lines(of: view.model)) else { break }
            event = Self.pause(of: screen)
        }
        screen.leave()
        return .success
    }

    /// Waits until there is something new to draw: at the latest when the clock has gone on by a second.
    @MainActor private static func pause(of screen: LiveScreen) -> LiveScreen.Event {
        let now = Date().timeIntervalSince1970
        let rest = 1000 - Int((now - now.rounded(.down)) * 1000)
        let event = screen.wait(milliseconds: Int32(min(1000, max(1, rest))))
        // A burst of changes is one picture.
        if event == .tick { usleep(30_000) }
        return event
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
                    if !write(change: text) { isOpen.withLock { $0 = false } }
                }
                hasConnected = true
                if isOpen.withLock({ $0 }) {
                    let error = ClientError.unreachable(
                        socket: client.socket, reason: "the agent has closed the connection")
                    isOpen.withLock { $0 = showAbsence(error, after: last) }
                }
            } catch {
                switch error {
                case .unreachable where !hasConnected && last.withLock({ $0 }) == nil: return fail(error)
                case .unreachable, .silent: isOpen.withLock { $0 = showAbsence(error, after: last) }
                case .refused, .malformed: return fail(error)
                }
            }
            try? await Task.sleep(for: Waiter.pause)
        }
        return .success
    }

    /// Tells once that the daemon is gone; returns whether somebody still reads.
    private func showAbsence(_ error: ClientError, after last: borrowing Mutex<String?>) -> Bool {
        let text =
            isJSON ? String(decoding: error.document, as: UTF8.self) : "agent-gone \(error.description)"
        let isNew = last.withLock { last in
            defer { last = Self.absent }
            return last != Self.absent
        }
        return !isNew || write(change: text)
    }

    private func write(change: String) -> Bool {
        StandardStream.write((isJSON ? "" : RFC3339.text(Date()) + " ") + change + "\n")
    }

    /// Stands for no daemon among the last lines; no line of a state is like it.
    private static var absent: String { "agent-gone" }

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
