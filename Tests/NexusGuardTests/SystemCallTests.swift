// SPDX-License-Identifier: MIT

import CLinux
import Foundation
import Glibc
import NexusGuard
import Synchronization
import Testing
import WireGuardProtocol

@Suite("System calls")
struct SystemCallTests {
    @Test("a refused call is described by its name, the system's words and the error's name")
    func description() {
        #expect(
            SystemCallError(call: "bind", errno: EADDRINUSE).description
                == "bind: Address already in use (EADDRINUSE)")
        #expect(SystemCallError(call: "bind", errno: 100_000).description == "bind: error 100000")
    }

    @Test("an interrupted call is repeated until it ends otherwise")
    func interruption() throws {
        var calls = 0
        let result = try SystemCall.run("read") { () -> Int in
            calls += 1
            errno = EINTR
            return calls < 4 ? -1 : 42
        }
        #expect(result == 42)
        #expect(calls == 4)
    }

    @Test("a call that would block is a value, not an error")
    func wouldBlock() throws {
        let result = try SystemCall.ifReady("read") { () -> Int in
            errno = EAGAIN
            return -1
        }
        #expect(result == nil)
        #expect(throws: SystemCallError(call: "read", errno: EAGAIN)) {
            try SystemCall.run("read") { () -> Int in
                errno = EAGAIN
                return -1
            }
        }
    }

    @Test("any other refusal is thrown with the call's name")
    func refusal() {
        #expect(throws: SystemCallError(call: "open", errno: ENOENT)) {
            try SystemCall.run("open") { open("/nonexistent", O_RDONLY) }
        }
    }

    @Test("a descriptor from outside is found open or not, without a trap")
    func descriptors() {
        #expect(SystemCall.isOpen(0) == (fcntl(0, F_GETFD) >= 0))
        #expect(!SystemCall.isOpen(-1))
        #expect(!SystemCall.isOpen(1_000_000))
    }

    @Test("the boot clock does not go backwards, and the wall clock is that of Foundation")
    func clocks() {
        let first = BootClock.now()
        let second = BootClock.now()
        #expect(first <= second)
        let before = Date().timeIntervalSince1970
        let wall = SystemWallClock.now()
        let after = Date().timeIntervalSince1970
        #expect(wall.seconds >= Int64(before) && wall.seconds <= Int64(after))
        #expect(wall.nanoseconds < 1_000_000_000)
    }

    @Test("a worker thread has its name, blocks the signals of the process, and is waited for once")
    func workerThread() throws {
        let seen = Mutex<(name: String, blocksTerm: Bool, blocksFault: Bool)>(("", false, true))
        let thread = try WorkerThread(name: "guard-test") {
            let path = "/proc/self/task/\(linux_thread_identifier())/comm"
            let name = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            let blocksTerm = sigismember(&mask, SIGTERM) == 1
            let blocksFault = sigismember(&mask, SIGSEGV) == 1
            seen.withLock { $0 = (name, blocksTerm, blocksFault) }
        }
        thread.join()
        thread.join()
        let result = seen.withLock { $0 }
        #expect(result.name == "guard-test\n")
        #expect(result.blocksTerm)
        #expect(!result.blocksFault)
    }
}
