// SPDX-License-Identifier: MIT

import AgentHTTP
import Testing

@testable import NexusGuardAgent

@Suite("requests to the page")
struct PageRequestTests {
    @Test("only its own names lead to the page")
    func hosts() async throws {
        var settings = PageSettings()
        settings.hosts = ["box.example.net", "fixed.example.net:443", "[2001:db8::1]"]
        let bench = try await PageBench { $0.settings = settings }
        _ = try await bench.link()
        let port = try await bench.port
        let right = [
            "127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)", "[::1]:\(port)",
            "box.example.net:\(port)", "Box.Example.Net:\(port)", "fixed.example.net:443",
            "[2001:db8::1]:\(port)",
        ]
        for host in right {
            #expect(try await bench.send("GET", "/", headers: ["Host": host]).status == 200, "\(host)")
        }
        let wrong = [
            "127.0.0.1", "localhost", "127.0.0.1:\(port ^ 1)", "evil.example.org:\(port)",
            "127.0.0.2:\(port)",
            "box.example.net", "box.example.net.:\(port)", "x.box.example.net:\(port)", "0.0.0.0:\(port)",
            "fixed.example.net:\(port)", "127.0.0.1:\(port)@evil.example.org", "127.1:\(port)", "[::1]",
            "localhost:\(port) ,evil.example.org", "[::ffff:127.0.0.1]:\(port)", "127.0.0.1:0\(port)",
        ]
        for host in wrong {
            for path in ["/", "/api/v1/status", "/healthz"] {
                let answer = try await bench.send("GET", path, headers: ["Host": host])
                #expect(answer.status == 421, "\(host)")
                #expect(answer.code == "misdirected")
                #expect(answer.header("Content-Security-Policy") != nil)
            }
        }
        #expect(try await bench.send("GET", "/", headers: ["Host": ""]).status == 400)
        await bench.page.stop()
    }

    @Test("a change must come from the page itself, and a page elsewhere may read nothing of the interface")
    func origins() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        let port = try await bench.port
        let own = "http://127.0.0.1:\(port)"
        // Origin, Sec-Fetch-Site, whether a change and whether a read is allowed.
        let cases: [(String, String, change: Bool, read: Bool)] = [
            (own, "same-origin", true, true),
            ("", "same-origin", true, true),
            (own, "", true, true),
            ("", "", false, true),
            ("", "none", false, true),
            (own, "none", false, true),
            (own, "same-site", false, false),
            (own, "cross-site", false, false),
            ("", "same-site", false, false),
            ("", "cross-site", false, false),
            ("", "nonsense", false, false),
            ("null", "same-origin", false, false),
            ("null", "", false, false),
            ("http://evil.example.org", "", false, false),
            ("http://evil.example.org", "same-origin", false, false),
            ("http://localhost:\(port)", "", false, false),
            ("http://127.0.0.1:\(port ^ 1)", "", false, false),
            ("http://127.0.0.1", "", false, false),
            ("https://127.0.0.1:\(port)", "", false, false),
            ("\(own).evil.example.org", "", false, false),
            ("\(own)/", "", false, false),
        ]
        for (origin, site, change, read) in cases {
            let headers = ["Origin": origin, "Sec-Fetch-Site": site]
            let changed = try await bench.send(
                "POST", "/api/v1/refresh", session: session, body: "{}", headers: headers)
            #expect(changed.status == (change ? 200 : 403), "\(origin) \(site)")
            if !change { #expect(changed.code == "cross-origin") }
            let got = try await bench.send("GET", "/api/v1/status", session: session, headers: headers)
            #expect(got.status == (read ? 200 : 403), "\(origin) \(site)")
            for answer in [changed, got] {
                #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control-") })
            }
            // The page itself can be linked to from anywhere.
            #expect(try await bench.send("GET", "/", headers: headers).status == 200)
            let login = try await bench.send(
                "POST", "/api/v1/ui/login", body: #"{"link":"x"}"#, headers: headers)
            #expect(login.status == (change ? 401 : 403))
        }
        #expect(await bench.agent.calls.count == 3)
        await bench.page.stop()
    }

    @Test("two opinions about where a request comes from are none")
    func twice() async throws {
        let bench = try await PageBench()
        _ = try await bench.link()
        let port = try await bench.port
        let own = ("Origin", "http://127.0.0.1:\(port)")
        let site = ("Sec-Fetch-Site", "same-origin")
        for (fields, status) in [
            ([own, site], 401), ([own, own, site], 403), ([own, site, site], 403),
            ([own, site, ("Origin", "http://evil.example.org")], 403),
            ([site, ("sec-fetch-site", "cross-site")], 403),
        ] {
            let answer = try await RawHTTP.send(
                port: port, "POST", "/api/v1/ui/login",
                headers: [("Host", "127.0.0.1:\(port)"), ("Content-Type", "application/json")] + fields,
                body: #"{"link":"x"}"#)
            #expect(answer.status == status, "\(fields)")
        }
        await bench.page.stop()
    }

    @Test("no browser is told that it may ask from elsewhere")
    func preflight() async throws {
        let bench = try await PageBench()
        _ = try await bench.session()
        let answer = try await bench.send(
            "OPTIONS", "/api/v1/tunnel",
            headers: [
                "Origin": "http://evil.example.org", "Sec-Fetch-Site": "cross-site",
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization, content-type",
            ])
        #expect(answer.status == 403)
        #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control-") })
        await bench.page.stop()
    }

    @Test("each path has its methods and no other")
    func methods() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        let paths = Set(APIRoute.allCases.filter { !$0.isLocalOnly && $0 != .events }.map(\.path))
        for path in paths {
            let allowed = APIRoute.allCases.filter { $0.path == path }.map(\.method)
            for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]
            where !allowed.contains(method) {
                let answer = try await bench.send(
                    method, path, session: session, body: ["POST", "PUT"].contains(method) ? "{}" : nil)
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.code == "method-not-allowed")
                #expect(answer.header("Allow")?.contains(allowed[0]) == true)
            }
        }
        #expect(try await bench.send("DELETE", "/api/v1/ui/logout", session: session).status == 405)
        #expect(try await bench.send("PUT", "/api/v1/ui/login", body: "{}").status == 405)
        let head = try await bench.send("HEAD", "/api/v1/events", session: session)
        #expect(head.status == 200)
        #expect(await bench.page.streamCount == 0)
        await bench.page.stop()
    }

    @Test("what is for programs of this host alone is not there")
    func localOnly() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        let link = try await bench.send("POST", "/api/v1/ui/session", session: session, body: "{}")
        #expect(link.status == 404)
        #expect(try await bench.send("GET", "/api/v1/ui/session", session: session).status == 404)
        for path in ["/metrics", "/api/v1/metrics", "/api/v1/ui", "/api/v1/", "/api/", "/api/v2/status"] {
            #expect(try await bench.send("GET", path, session: session).status == 404, "\(path)")
        }
        // Who has no session does not even learn what there is.
        #expect(try await bench.send("POST", "/api/v1/ui/session", body: "{}").status == 401)
        #expect(try await bench.send("GET", "/api/v1/nothing").status == 401)
        await bench.page.stop()
    }

    @Test("content must be JSON by its name, which no form of a page can give it")
    func types() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        for type in [
            "application/json", "application/json; charset=utf-8", "Application/JSON ;charset=utf-8",
        ] {
            let answer = try await bench.send(
                "POST", "/api/v1/refresh", session: session, body: "{}", headers: ["Content-Type": type])
            #expect(answer.status == 200, "\(type)")
        }
        for type in [
            "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
            "text/json", "application/jsonp", "text/plain; application/json", "application/json, text/plain",
        ] {
            for (method, path) in [
                ("POST", "/api/v1/refresh"), ("PUT", "/api/v1/settings"), ("POST", "/api/v1/ui/login"),
                ("POST", "/api/v1/ui/logout"),
            ] {
                let answer = try await bench.send(
                    method, path, session: session, body: "{}", headers: ["Content-Type": type])
                #expect(answer.status == 415, "\(method) \(path) \(type)")
                #expect(answer.code == "unsupported-media-type")
            }
        }
        let get = try await bench.send("GET", "/api/v1/status", session: session, body: "{}")
        #expect(get.status == 400)
        await bench.page.stop()
    }

    @Test("refusals of the server itself have the headers of safety too")
    func early() async throws {
        let bench = try await PageBench()
        _ = try await bench.link()
        let malformed = try await bench.send("GET", "/%zz")
        #expect(malformed.status == 400)
        #expect(malformed.header("Content-Security-Policy") != nil)
        #expect(malformed.header("Cache-Control") == "no-store")
        let large = try await bench.send(
            "POST", "/api/v1/ui/login", body: String(repeating: " ", count: 8193))
        #expect(large.status == 413)
        #expect(large.header("X-Frame-Options") == "DENY")
        await bench.page.stop()
    }

    @Test("only who is let in may send much")
    func contentLimit() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        let body = #"{"content":"\#(String(repeating: "#", count: 500_000))"}"#
        let path = "/api/v1/config/preview"
        let known = try await bench.send("POST", path, session: session, body: body)
        #expect(known.status == 400)
        #expect(known.code == "config-invalid")
        #expect(try await bench.send("POST", path, body: body).status == 413)
        let other = String(repeating: "A", count: 43)
        #expect(try await bench.send("POST", path, session: other, body: body).status == 413)
        let most = String(repeating: " ", count: LocalAPI.largestContent + 1)
        #expect(try await bench.send("POST", path, session: session, body: most).status == 413)
        await bench.page.stop()
    }
}
