// SPDX-License-Identifier: MIT

import Testing

@testable internal import NexusGuardAgent

@Suite("notifications of the service manager")
struct ServiceNotifierTests {
    @Test("messages arrive at a path and at an abstract name", arguments: [false, true])
    func messages(isAbstract: Bool) throws {
        let socket = try NotifySocket(isAbstract: isAbstract)
        let notifier = ServiceNotifier(
            environment: { $0 == "NOTIFY_SOCKET" ? socket.address : nil }, process: 1)
        notifier.ready(status: "disconnected\nREADY=0\r")
        #expect(socket.next() == ["READY=1", "STATUS=disconnected READY=0 "])
        notifier.status("connected")
        #expect(socket.next() == ["STATUS=connected"])
        notifier.alive()
        #expect(socket.next() == ["WATCHDOG=1"])
        notifier.stopping()
        #expect(socket.next() == ["STOPPING=1"])
        notifier.reloading()
        let reloading = try #require(socket.next())
        #expect(reloading[0] == "RELOADING=1")
        #expect(reloading[1].wholeMatch(of: #/MONOTONIC_USEC=[0-9]+/#) != nil)
    }

    @Test("without a service manager, or one that is gone, nothing happens")
    func absent() {
        for address in [
            nil, "", "@", "relative", "/nonexistent/notify", "/" + String(repeating: "x", count: 200),
        ] {
            ServiceNotifier(environment: { $0 == "NOTIFY_SOCKET" ? address : nil }, process: 1).alive()
        }
    }

    @Test(
        "the watchdog counts for the process that it names",
        arguments: [
            (["WATCHDOG_USEC": "20000000"], 20), (["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "7"], 20),
            (["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "8"], nil), ([:], nil),
            (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "x"], nil), (["WATCHDOG_USEC": "-5"], nil),
        ] as [([String: String], Int?)])
    func watchdog(environment: [String: String], seconds: Int?) {
        let notifier = ServiceNotifier(environment: { environment[$0] }, process: 7)
        #expect(notifier.watchdogInterval == seconds.map { .seconds($0) })
    }
}
