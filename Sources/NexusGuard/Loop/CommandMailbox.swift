// SPDX-License-Identifier: MIT

internal import Glibc
internal import Synchronization

/// Carries commands from any thread to the one that owns the state, and the answers back.
///
/// The owner waits for much else besides, so a command only wakes it (by `wake`, such as a bell in its epoll
/// set); it then answers all commands that are there. A caller waits for its answer. No call waits for ever:
/// once the owner has closed the mailbox every call is refused, and the owner cannot call itself.
final class CommandMailbox<Command: Sendable, Reply: Sendable>: Sendable {
    /// A command under way.
    private final class Call: Sendable {
        let command: Command
        let outcome = Mutex<Result<Reply, MailboxError>?>(nil)
        let done = ThreadSemaphore()

        init(_ command: Command) {
            self.command = command
        }

        func finish(_ result: Result<Reply, MailboxError>) {
            outcome.withLock { $0 = result }
            done.signal()
        }
    }

    private struct State {
        var calls: [Call] = []
        var isClosed = false
        var owner: pthread_t?
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// Creates an empty mailbox.
    ///
    /// - Parameter wake: Wakes the owner; called on the thread of a caller.
    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Makes the calling thread the owner, which must not call the mailbox itself from now on.
    func adopt() {
        state.withLock { $0.owner = pthread_self() }
    }

    /// Whether the calling thread is the owner.
    var isOwnedByCaller: Bool {
        state.withLock { $0.owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// Has the owner carry out a command, and waits for the answer.
    ///
    /// - Throws: `MailboxError`.
    func call(_ command: Command) throws(MailboxError) -> Reply {
        let call = Call(command)
        if isOwnedByCaller { throw .calledFromOwner }
        try add(call)
        call.done.wait()
        // The owner sets the outcome before it signals.
        guard let outcome = call.outcome.withLock({ $0 }) else { throw .ended }
        return try outcome.get()
    }

    /// Leaves a command for the owner and does not wait; any thread may do so, the owner too.
    ///
    /// - Throws: `MailboxError.ended`.
    func post(_ command: Command) throws(MailboxError) {
        try add(Call(command))
    }

    /// Answers the commands that are there, in the order in which they came. For the owner.
    func answerAll(_ body: (Command) -> Reply) {
        let calls = state.withLock { state in
            let calls = state.calls
            state.calls = []
            return calls
        }
        for call in calls { call.finish(.success(body(call.command))) }
    }

    /// Refuses the commands that are there and all later ones. For the owner, when it ends.
    func close() {
        let calls = state.withLock { state in
            let calls = state.calls
            state.calls = []
            state.isClosed = true
            state.owner = nil
            return calls
        }
        for call in calls { call.finish(.failure(.ended)) }
    }

    private func add(_ call: Call) throws(MailboxError) {
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.calls.append(call)
            return true
        }
        guard isTaken else { throw .ended }
        wake()
    }
}
