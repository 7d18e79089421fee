// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuardAgent
internal import Synchronization

/// Waits for signals on the main thread while the agent runs, and tells the service manager how it is.
final class Supervision: Sendable {
    /// Where the run stands.
    private enum Stage {
        case starting
        case running
        case stopping
        case ended(status: Int32)
    }

    private let service: AgentService
    private let notifier: ServiceNotifier
    private let signals: Int32
    private let wakeUp: Int32
    private let stage = Mutex(Stage.starting)
    private let startTask = Mutex<Task<Void, Never>?>(nil)

    /// Prepares a run.
    ///
    /// - Parameter signals: The descriptor that tells of signals.
    init(service: AgentService, notifier: ServiceNotifier, signals: Int32) {
        self.service = service
        self.notifier = notifier
        self.signals = signals
        wakeUp = eventfd(0, linux_eventfd_flags)
    }

    /// Runs until the end; blocks the calling thread.
    ///
    /// - Returns: The exit status.
    func run() -> Int32 {
        let task = Task { await start() }
        startTask.withLock { $0 = task }
        while true {
            if case .ended(let status) = stage.withLock({ $0 }) { return status }
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, -1)
            var count: UInt64 = 0
            _ = read(wakeUp, &count, 8)
            while let number = nextSignal() {
                if let status = take(number) { return status }
            }
        }
    }

    // MARK: Signals

    private func nextSignal() -> Int32? {
        var information = signalfd_siginfo()
        guard read(signals, &information, MemoryLayout<signalfd_siginfo>.size) > 0 else { return nil }
        return Int32(information.ssi_signo)
    }

    /// Does what a signal asks; returns an exit status to end with at once.
    private func take(_ number: Int32) -> Int32? {
        if number == SIGHUP {
            guard case .running = stage.withLock({ $0 }) else { return nil }
            Task { await reload() }
            return nil
        }
        let isSecond = stage.withLock { stage in
            if case .stopping = stage { return true }
            stage = .stopping
            return false
        }
        // Whoever asks twice does not want to wait; what is left is undone by the next start.
        guard !isSecond else { return 1 }
        notifier.stopping()
        Task { await stop() }
        return nil
    }

    // MARK: Tasks

    private func start() async {
        do throws(AgentServiceError) {
            try await service.start()
        } catch {
            NexusGuardAgentCommand.complain(error.description)
            end(status: 1)
            return
        }
        let isWanted = stage.withLock { stage in
            guard case .starting = stage else { return false }
            stage = .running
            return true
        }
        guard isWanted else { return }
        notifier.ready(status: Self.status(await service.control.snapshot))
        Task { await tellStatus() }
        if let interval = notifier.watchdogInterval { Task { await feedWatchdog(interval) } }
    }

    private func stop() async {
        // What is being started is stopped when it is there.
        await startTask.withLock { $0 }?.value
        if case .ended = stage.withLock({ $0 }) { return }
        await service.stop()
        end(status: 0)
    }

    private func reload() async {
        notifier.reloading()
        await service.reload()
        notifier.ready(status: Self.status(await service.control.snapshot))
    }

    private func end(status: Int32) {
        stage.withLock { $0 = .ended(status: status) }
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }

    /// Tells each change of the state.
    private func tellStatus() async {
        var last = ""
        for await snapshot in await service.control.snapshots {
            let text = Self.status(snapshot)
            if text != last { notifier.status(text) }
            last = text
        }
    }

    /// Says that the daemon lives as long as the state machine answers: a stuck one gets the daemon restarted.
    private func feedWatchdog(_ interval: Duration) async {
        while true {
            _ = await service.control.snapshot
            notifier.alive()
            // Twice as often as needed, as sd_watchdog_enabled(3) asks, and a little more.
            try? await Task.sleep(for: interval / 3)
        }
    }

    /// The state in a few words.
    private static func status(_ snapshot: AgentSnapshot) -> String {
        guard let reason = snapshot.reason else { return snapshot.state.rawValue }
        return "\(snapshot.state.rawValue): \(reason.text.isEmpty ? reason.code : reason.text)"
    }
}
