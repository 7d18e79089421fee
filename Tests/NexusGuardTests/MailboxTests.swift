// SPDX-License-Identifier: MIT

import NexusGuard
import Testing

@testable internal import NexusGuard

@Suite("Mailbox")
struct MailboxTests {
    /// A thread that doubles numbers until it is told to stop with zero.
    private final class Doubler: Sendable {
        let mailbox: CommandMailbox<Int, Int>
        let thread: WorkerThread

        init() throws {
            let bell = try SharedBell()
            let mailbox = CommandMailbox<Int, Int> { bell.event.ring() }
            self.mailbox = mailbox
            thread = try WorkerThread(name: "doubler") {
                mailbox.adopt()
                var isEnding = false
                while !isEnding {
                    bell.wait()
                    bell.event.silence()
                    mailbox.answerAll { number in
                        isEnding = isEnding || number == 0
                        return 2 * number
                    }
                }
                mailbox.close()
            }
        }
    }

    @Test("every call of many threads gets its own answer")
    func answers() throws {
        let doubler = try Doubler()
        let wrong = MutexBox()
        let threads = try (1...8).map { thread in
            try WorkerThread(name: "caller") {
                for number in thread * 1000..<thread * 1000 + 500 {
                    if (try? doubler.mailbox.call(number)) != 2 * number { wrong.append("\(number)") }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(wrong.all.isEmpty)
        #expect(try doubler.mailbox.call(0) == 0)
        doubler.thread.join()
    }

    @Test("a call after the end is refused at once")
    func ended() throws {
        let doubler = try Doubler()
        _ = try doubler.mailbox.call(0)
        doubler.thread.join()
        #expect(throws: MailboxError.ended) { try doubler.mailbox.call(1) }
        #expect(throws: MailboxError.ended) { try doubler.mailbox.post(1) }
    }

    @Test("calls under way when the owner ends are refused, not forgotten")
    func closedUnderWay() throws {
        let mailbox = CommandMailbox<Int, Int> {}
        let outcomes = MutexBox()
        let arrived = try SharedBell()
        let threads = try (0..<4).map { _ in
            try WorkerThread(name: "caller") {
                arrived.event.ring()
                do {
                    _ = try mailbox.call(1)
                    outcomes.append("answered")
                } catch {
                    outcomes.append("\(error)")
                }
            }
        }
        arrived.wait()
        mailbox.close()
        for thread in threads { thread.join() }
        #expect(outcomes.all == Array(repeating: "ended", count: 4))
    }

    @Test("the owner can not wait for itself, but can leave a command")
    func owner() throws {
        let mailbox = CommandMailbox<Int, Int> {}
        mailbox.adopt()
        #expect(mailbox.isOwnedByCaller)
        #expect(throws: MailboxError.calledFromOwner) { try mailbox.call(1) }
        try mailbox.post(2)
        var seen: [Int] = []
        mailbox.answerAll { command in
            seen.append(command)
            return command
        }
        #expect(seen == [2])
        mailbox.close()
        #expect(!mailbox.isOwnedByCaller)
    }
}
