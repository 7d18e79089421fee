// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import Foundation
import NexusGuard
import NexusGuardControl
import Testing

@Suite("When the store fails")
struct StoreFailureTests {
    @Test(
        "every request is 503 with a time to come back; the log says why, the answer does not",
        arguments: [
            StoreError.full(path: "/srv/x.db"), .busy(path: "/srv/x.db"), .damaged(path: "/srv/x.db"),
            .failed(path: "/srv/x.db", reason: "disk I/O error"),
        ])
    func unavailable(error: StoreError) async throws {
        let log = TestLog()
        let settings = ControlSettings(
            pools: [try Samples.pool()], serverPublicKey: PrivateKey().publicKey,
            endpoint: try Endpoint("192.0.2.1:51820"))
        let service = ControlService(store: BrokenStore(error: error), settings: settings, log: log)
        let requests: [(String, String, [(name: String, value: String)], String)] = [
            ("POST", "/api/v1/provision", [], #"{"token":"t","hwid":"h"}"#),
            ("POST", "/api/v1/heartbeat", [], #"{"device_id":"d","status":"s","tunnel_up":true}"#),
            ("GET", "/api/v1/forwards", [(name: "device_id", value: "d")], ""),
            ("POST", "/api/v1/deprovision", [], #"{"device_id":"d"}"#), ("GET", "/healthz", [], ""),
        ]
        for (method, path, query, body) in requests {
            let reply = await service.reply(
                to: ServerRequest(
                    method: method, path: path, query: query, body: Array(body.utf8),
                    peer: .network(address: "192.0.2.1", port: 1)))
            let response = try reply.response
            #expect(response.status == 503, "\(path)")
            #expect(response.errorCode == "store-failed")
            #expect(response.header("Retry-After") == "30")
            #expect(!String(decoding: response.body, as: UTF8.self).contains("/srv"))
        }
        #expect(log.lines == Array(repeating: "ERROR store: \(error.description)", count: requests.count))
    }

    @Test(
        "a database that another process holds for too long is a clear error, and works again after",
        .enabled(if: ServerProgram.hasPython))
    func locked() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(directory: directory.path, createsFile: true)
        #expect(try await store.addToken(Samples.token("aaaaaaaa")))
        let holder = try ChildProgram([
            "python3", "-c",
            """
            import sqlite3, sys, time
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("BEGIN IMMEDIATE")
            print("held", flush=True)
            time.sleep(600)
            """, directory.file("control.db"),
        ])
        try await eventually("the database is held: \(holder.errors)") { holder.output == "held\n" }
        // Readers do not wait for a writer.
        #expect(try await store.tokens().count == 1)
        await #expect(throws: StoreError.busy(path: directory.file("control.db"))) {
            try await store.addToken(Samples.token("bbbbbbbb"))
        }
        holder.send(SIGKILL)
        _ = try await holder.wait()
        #expect(try await store.addToken(Samples.token("bbbbbbbb")))
    }
}

@Suite("Development certificate")
struct DevelopmentCertificateTests {
    @Test("it is made anew a month before it expires, for other names, and when the clock makes no sense")
    func renewal() throws {
        let directory = try TemporaryDirectory()
        func certificate(afterDays days: Double, names: [String] = ["localhost"]) throws -> String {
            try ServerIdentity.development(
                in: directory.path, names: names, now: Samples.now.addingTimeInterval(days * 86_400),
                log: TestLog()
            ).certificatePEM
        }
        let first = try certificate(afterDays: 0)
        #expect(try certificate(afterDays: 334) == first)
        let second = try certificate(afterDays: 336)
        #expect(second != first)
        #expect(try certificate(afterDays: 336 + 334) == second)
        let third = try certificate(afterDays: 400, names: ["localhost", "192.0.2.1"])
        #expect(third != second)
        #expect(try certificate(afterDays: 401, names: ["192.0.2.1", "localhost"]) == third)
        #expect(try certificate(afterDays: 100, names: ["192.0.2.1", "localhost"]) != third)
    }
}
