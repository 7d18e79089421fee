// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NexusGuardAgent

@Suite("files of the page")
struct PageFileTests {
    /// The folder that the files come from.
    private static let folder =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/NexusGuardAgent/Page/Web")

    @Test("every file of the folder is in the executable as it is, and no other")
    func complete() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
        #expect(names.contains("index.html"))
        #expect(PageFiles.embedded.names == names)
        for name in names {
            let content = try Data(contentsOf: Self.folder.appendingPathComponent(name))
            #expect(PageFiles.embedded.file(at: "/\(name)")?.content == Array(content), "\(name)")
        }
    }

    @Test("a file has its type, a tag, every header of safety, and is asked for again each time")
    func headers() async throws {
        let bench = try await PageBench()
        _ = try await bench.link()
        let answer = try await bench.send("GET", "/")
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
        #expect(answer.header("Cache-Control") == "no-cache")
        #expect(answer.header("ETag")?.wholeMatch(of: #/"[0-9a-f]{64}"/#) != nil)
        let policy = """
            default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
            """
        #expect(answer.header("Content-Security-Policy") == policy)
        #expect(answer.header("X-Content-Type-Options") == "nosniff")
        #expect(answer.header("Referrer-Policy") == "no-referrer")
        #expect(answer.header("Cross-Origin-Opener-Policy") == "same-origin")
        #expect(answer.header("Cross-Origin-Resource-Policy") == "same-origin")
        #expect(answer.header("X-Frame-Options") == "DENY")
        #expect(answer.header("Permissions-Policy")?.contains("camera=()") == true)
        #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control-") })
        let named = try await bench.send("GET", "/index.html")
        #expect(named.body == answer.body)
        await bench.page.stop()
    }

    @Test("a browser that has the file is told so, and one that has another gets it")
    func tags() async throws {
        let bench = try await PageBench()
        _ = try await bench.link()
        let tag = try #require(try await bench.send("GET", "/").header("ETag"))
        for known in [tag, "W/\(tag)", "\"0\", \(tag)", "*"] {
            let answer = try await bench.send("GET", "/", headers: ["If-None-Match": known])
            #expect(answer.status == 304, "\(known)")
            #expect(answer.body.isEmpty)
            #expect(answer.header("ETag") == tag)
        }
        let other = try await bench.send("GET", "/", headers: ["If-None-Match": "\"0\""])
        #expect(other.status == 200)
        let head = try await bench.send("HEAD", "/")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.header("ETag") == tag)
        await bench.page.stop()
    }

    @Test("what is no file is not found, and a file takes no method that changes something")
    func others() async throws {
        let bench = try await PageBench()
        _ = try await bench.link()
        for path in [
            "/favicon.ico", "/../agent.conf", "/%2e%2e/etc/passwd", "/metrics", "//", "/index.html/",
        ] {
            let answer = try await bench.send("GET", path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer.header("Content-Security-Policy") != nil)
        }
        #expect(try await bench.send("POST", "/", body: "{}").status == 405)
        #expect(try await bench.send("GET", "/healthz").status == 204)
        await bench.page.stop()
    }
}
