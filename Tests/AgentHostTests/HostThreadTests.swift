// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import Synchronization
import Testing

@testable import AgentHost

@Suite("host thread")
struct HostThreadTests {
    /// Collects numbers.
    private final class Numbers: Sendable {
        private let state = Mutex<[Int]>([])

        var all: [Int] { state.withLock { $0 } }

        func add(_ number: Int) { state.withLock { $0.append(number) } }
    }

    @Test("work is done in order, all of it on one thread of its own")
    func order() async throws {
        let thread = try HostThread(name: "test-host-thread")
        let numbers = Numbers()
        for number in 0..<1_000 { thread.enqueue { numbers.add(number) } }
        #expect(await thread.perform { numbers.all } == Array(0..<1_000))
        let first = await thread.perform { linux_thread_identifier() }
        let second = await thread.perform { linux_thread_identifier() }
        #expect(first == second)
        #expect(first != linux_thread_identifier())
        let name = await thread.perform { Setting.read("/proc/thread-self/comm") }
        #expect(name == "test-host-threa")
    }

    @Test("signals of the process do not interrupt it")
    func signals() async throws {
        let thread = try HostThread(name: "test-host-thread")
        let blocked = await thread.perform {
            var mask = sigset_t()
            pthread_sigmask(SIG_SETMASK, nil, &mask)
            return [SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGSEGV].map { sigismember(&mask, $0) == 1 }
        }
        #expect(blocked == [true, true, true, true, false])
    }

    @Test("what was given to it before its end is still done, and then the thread ends")
    func end() async throws {
        let numbers = Numbers()
        var thread: HostThread? = try HostThread(name: "test-host-thread")
        let identifier = try #require(await thread?.perform { linux_thread_identifier() })
        for number in 0..<10 { thread?.enqueue { numbers.add(number) } }
        thread = nil
        try HostTestNamespace.eventually("the thread has ended") {
            access("/proc/self/task/\(identifier)", F_OK) != 0
        }
        #expect(numbers.all == Array(0..<10))
        #expect(thread == nil)
    }
}
