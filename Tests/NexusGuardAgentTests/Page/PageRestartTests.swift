// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Glibc
import Testing

@testable import NexusGuardAgent

@Suite("the page over a restart of the agent")
struct PageRestartTests {
    /// A state directory that several runs share.
    private final class Host: Sendable {
        let folder: TemporaryFolder
        let directory: StateDirectory
        private let port: UInt16

        init() throws {
            port = try RawHTTP.quietPort()
            folder = try TemporaryFolder()
            directory = try StateDirectory(path: folder.path + "/state")
        }

        var store: PageStore { PageStore(directory: directory) }

        func run(_ change: (inout PageServer.Options) -> Void = { _ in }) async throws -> PageBench {
            try await PageBench { options in
                options.store = store
                options.preferredPort = port
                change(&options)
            }
        }
    }

    @Test("a session goes on at the same port, a link can still be used, and only digests were stored")
    func goesOn() async throws {
        let host = try Host()
        let first = try await host.run()
        let session = try await first.session()
        let (used, link) = (try await first.link(), try await first.link(isReadOnly: true))
        _ = try await first.login(link: used)
        let port = try await first.port
        await first.page.stop()
        let text = try host.folder.read("state/ui-sessions.json")
        for secret in [session, used, link] { #expect(!text.contains(secret)) }
        var status = stat()
        #expect(stat(host.folder.path + "/state/ui-sessions.json", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let second = try await host.run()
        #expect(try await second.port == port)
        #expect(try await second.send("GET", "/api/v1/status", session: session).status == 200)
        #expect(try await second.login(link: used).status == 401)
        let answer = try await second.login(link: link)
        #expect(answer.status == 200)
        #expect(answer.object["read_only"] as? Bool == true)
        await second.page.stop()
    }

    @Test("an end without warning costs a session at most minutes of its time")
    func killed() async throws {
        let host = try Host()
        let first = try await host.run()
        let session = try await first.session()
        await first.advance(by: .seconds(1000))
        #expect(try await first.send("GET", "/api/v1/status", session: session).status == 200)
        await first.advance(by: .seconds(200))
        // As the first run left it before it could say more.
        let left = try host.folder.read("state/ui-sessions.json")
        await first.page.stop()
        try host.folder.write("state/ui-sessions.json", left)
        let clock = ManualClock()
        clock.jumpWallTime(by: 1200)
        let second = try await host.run { $0.clock = clock }
        clock.advance(to: clock.now + .seconds(1599))
        await second.page.update()
        #expect(await second.page.table.sessions.count == 1)
        clock.advance(to: clock.now + .seconds(1))
        await second.page.update()
        #expect(await second.page.table.sessions.isEmpty)
        await second.page.stop()
    }

    @Test("when another program has taken the port in between, what the page may have told it ends")
    func squatter() async throws {
        let host = try Host()
        let first = try await host.run()
        _ = try await first.session()
        let port = try await first.port
        await first.page.stop()
        let other = try await PageBench { $0.preferredPort = port }
        _ = try await other.link()
        #expect(try await other.port == port)
        let second = try await host.run()
        #expect(await second.page.table.sessions.isEmpty)
        #expect(await second.page.listener == nil)
        #expect(second.log.getLogs().contains { $0.message.hasSuffix("another program has its port") })
        await second.page.stop()
        await other.page.stop()
        #expect(try host.store.load() == nil)
    }

    @Test("what has ended does not come back: by its time, by the user, by another password")
    func ended() async throws {
        let host = try Host()
        try host.folder.write("password", "correct horse battery")
        var settings = PageSettings()
        settings.passwordFile = host.folder.path + "/password"
        let set = settings
        let first = try await host.run { $0.settings = set }
        let body = #"{"password":"correct horse battery"}"#
        _ = try await first.send("POST", "/api/v1/ui/login", body: body)
        let (gone, old) = (try await first.session(), try await first.session())
        _ = try await first.send("POST", "/api/v1/ui/logout", session: gone, body: "{}")
        await first.page.stop()
        let stored = try #require(try host.store.load())
        #expect(stored.sessions.count == 2)
        #expect(stored.sessions.filter { $0.passwordStamp != nil }.count == 1)
        // The same time on the wall, and another file of a password.
        unlink(host.folder.path + "/password")
        try host.folder.write("password", "incorrect horse battery")
        let second = try await host.run { $0.settings = set }
        #expect(await second.page.table.sessions.count == 1)
        #expect(try await second.send("GET", "/api/v1/status", session: old).status == 200)
        await second.page.stop()
        let clock = ManualClock()
        clock.jumpWallTime(by: 1801)
        let third = try await host.run { options in
            options.settings = set
            options.clock = clock
        }
        #expect(await third.page.table.sessions.isEmpty)
        await third.page.stop()
    }

    @Test("a wall time that went back makes nothing younger than it can be")
    func jump() async throws {
        let host = try Host()
        let first = try await host.run()
        _ = try await first.session()
        _ = try await first.link()
        await first.page.stop()
        let clock = ManualClock()
        clock.jumpWallTime(by: -86_400)
        let second = try await host.run { $0.clock = clock }
        let table = await second.page.table
        #expect(table.sessions.values.allSatisfy { $0.lastUse <= clock.now })
        #expect(table.links.values.allSatisfy { $0.expires <= clock.now + PageTable.linkLife })
        await second.page.stop()
    }

    @Test("with nobody left nothing is stored, and the next run does not listen")
    func empty() async throws {
        let host = try Host()
        let first = try await host.run()
        let session = try await first.session()
        _ = try await first.send("POST", "/api/v1/ui/logout", session: session, body: "{}")
        await first.page.stop()
        #expect(try host.store.load() == nil)
        let second = try await host.run()
        #expect(await second.page.listener == nil)
        await second.page.stop()
    }

    @Test("a damaged file costs the sessions and nothing else")
    func damaged() async throws {
        let host = try Host()
        let first = try await host.run()
        _ = try await first.session()
        await first.page.stop()
        try host.folder.write("state/ui-sessions.json", "nonsense")
        let second = try await host.run()
        #expect(await second.page.table.sessions.isEmpty)
        #expect(try await second.login(link: try await second.link()).status == 200)
        await second.page.stop()
    }
}
