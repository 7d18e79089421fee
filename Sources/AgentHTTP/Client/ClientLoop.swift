// SPDX-License-Identifier: MIT

internal import CCurl
internal import Glibc
internal import Synchronization

/// A thread that carries out transfers and keeps their connections for later ones.
final class ClientLoop: Sendable {
    private let state: Mutex<State>

    /// Creates a loop whose thread starts with the first transfer.
    init() {
        state = Mutex(State())
    }

    /// Takes over a transfer, which is told its result in any case.
    ///
    /// - Returns: Whether the transfer was taken; a loop that was retired, or was idle for long, takes none.
    func submit(_ transfer: Transfer) -> Bool {
        let answer = state.withLock { state in
            if state.isRetired || state.hasEnded { return Answer.refused }
            if !state.hasStarted {
                state.hasStarted = true
                state.multi = curl_multi_init().map { Multi(pointer: $0) }
                guard let multi = state.multi, startThread(multi) else {
                    state.hasEnded = true
                    if let multi = state.multi.take() { curl_multi_cleanup(multi.pointer) }
                    return .failed
                }
            }
            state.submitted.append(transfer)
            state.wake()
            return .taken
        }
        switch answer {
        case .taken: transfer.onCancel { [weak self] in self?.wake() }
        case .failed: transfer.finish(.failure(.other("no thread or memory for the request")))
        case .refused: break
        }
        return answer != .refused
    }

    /// Lets the transfers under way end, then closes the connections and ends the thread.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            state.wake()
        }
    }

    private func wake() {
        state.withLock { $0.wake() }
    }

    private func startThread(_ multi: Multi) -> Bool {
        WorkerThread.start(name: "http-client") { self.run(multi.pointer) }
    }

    private func run(_ multi: UnsafeMutableRawPointer) {
        var active: [UnsafeMutableRawPointer: Transfer] = [:]
        // How long the thread and its connections stay after the transfer that came last.
        var idleMilliseconds: Int32 = 0
        while true {
            admit(to: multi, &active)
            if let transfer = active.values.max(by: { $0.options.idleLimit < $1.options.idleLimit }) {
                idleMilliseconds = Int32(clamping: transfer.options.idleLimit.components.seconds * 1000)
            }
            for (easy, transfer) in active where transfer.isCancelled {
                active[easy] = nil
                transfer.end(in: multi, with: .failure(.cancelled))
            }
            var runningCount: Int32 = 0
            curl_multi_perform(multi, &runningCount)
            collect(from: multi, &active)
            if active.isEmpty, endsIfDone(multi) { return }
            let wait = active.isEmpty ? idleMilliseconds : Self.longestWait
            var eventCount: Int32 = 0
            let before = ContinuousClock.now
            let result = curl_multi_poll(multi, nil, 0, wait, &eventCount)
            let waited = before.duration(to: .now)
            if active.isEmpty, waited >= .milliseconds(idleMilliseconds) { retire() }
            // A failure of poll itself must not turn into a busy loop.
            if result != CURLM_OK { usleep(10_000) }
        }
    }

    /// Starts the transfers that came since the last turn.
    private func admit(
        to multi: UnsafeMutableRawPointer, _ active: inout [UnsafeMutableRawPointer: Transfer]
    ) {
        let arrived = state.withLock { state in
            defer { state.submitted = [] }
            return state.submitted
        }
        for transfer in arrived {
            if transfer.isCancelled {
                transfer.finish(.failure(.cancelled))
            } else if let easy = transfer.start(in: multi) {
                active[easy] = transfer
            }
        }
    }

    /// Ends the transfers that libcurl reports as done.
    private func collect(
        from multi: UnsafeMutableRawPointer, _ active: inout [UnsafeMutableRawPointer: Transfer]
    ) {
        var remaining: Int32 = 0
        while let message = curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else {
                continue
            }
            let code = message.pointee.data.result
            if let transfer = active.removeValue(forKey: easy) {
                transfer.end(in: multi, with: transfer.outcome(of: code))
            }
        }
    }

    /// Closes everything when the loop was retired and no transfer waits.
    private func endsIfDone(_ multi: UnsafeMutableRawPointer) -> Bool {
        let isDone = state.withLock { state in
            guard state.isRetired, state.submitted.isEmpty else { return false }
            state.hasEnded = true
            state.multi = nil
            return true
        }
        if isDone { curl_multi_cleanup(multi) }
        return isDone
    }

    /// What became of a transfer that was submitted.
    private enum Answer {
        case taken, refused, failed
    }

    /// What the lock protects.
    private struct State {
        var submitted: [Transfer] = []
        var hasStarted = false
        var isRetired = false
        var hasEnded = false
        /// Present while the thread runs; only then may it be woken.
        var multi: Multi?

        func wake() {
            if let multi { curl_multi_wakeup(multi.pointer) }
        }
    }

    /// The handle of libcurl. Other threads than the loop's only pass it to `curl_multi_wakeup`, which allows it.
    private struct Multi: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    /// libcurl wakes earlier for its own deadlines; this only bounds a wait without any.
    private static let longestWait: Int32 = 60_000
}
