// SPDX-License-Identifier: MIT

import AgentCore
import AgentHTTP
import AgentStore
import Glibc
import Testing

@testable import NexusGuardAgent

@Suite("where the page listens")
struct PageListenerTests {
    /// A certificate, its key and a password, in files.
    private struct Files {
        let folder: TemporaryFolder
        var settings = PageSettings()

        init() throws {
            folder = try TemporaryFolder()
            try folder.write("password", "correct horse battery\n")
            settings.certificateFile = folder.path + "/certificate.pem"
            settings.keyFile = folder.path + "/key.pem"
            settings.passwordFile = folder.path + "/password"
            try renew()
        }

        /// Makes another certificate and key.
        func renew() throws {
            let identity = try DevelopmentCertificate.make(
                hostNames: ["box.example.net"], addresses: ["127.0.0.1"])
            for name in ["certificate.pem", "key.pem"] { unlink("\(folder.path)/\(name)") }
            try folder.write("certificate.pem", identity.certificatePEM, mode: 0o644)
            try folder.write("key.pem", identity.withKeyPEM { String(decoding: $0, as: UTF8.self) })
        }

        var clientOptions: HTTPClientOptions {
            HTTPClientOptions(
                connectTimeout: .seconds(600), totalTimeout: .seconds(600),
                certificateAuthorityFile: folder.path + "/certificate.pem")
        }
    }

    private static func address(_ text: String) throws -> PageAddress { try #require(PageAddress(text)) }

    private func refusal(_ body: () async throws -> Void) async -> APIError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? APIError
        }
    }

    @Test("an address that others reach is refused with what is missing, and nothing listens")
    func missing() async throws {
        let bench = try await PageBench()
        for (address, missing) in [
            ("192.0.2.1:8451", "ui_certificate, ui_key and ui_password_file are missing"),
            ("0.0.0.0", "ui_certificate, ui_key, ui_password_file and ui_hosts are missing"),
            ("[::]:0", "ui_certificate, ui_key, ui_password_file and ui_hosts are missing"),
            ("[::ffff:127.0.0.1]:0", "ui_certificate, ui_key and ui_password_file are missing"),
        ] {
            let address = try Self.address(address)
            let error = await refusal {
                _ = try await bench.page.makeLink(isReadOnly: false, listeningOn: address)
            }
            #expect(error?.status == 400)
            #expect(error?.code == "config-invalid")
            #expect(error?.field == "listen")
            #expect(error?.message.contains("not loopback, which needs TLS and a password") == true)
            #expect(error?.message.hasSuffix(missing) == true, "\(error?.message ?? "")")
        }
        #expect(await bench.page.listener == nil)
        for change: (inout PageSettings) -> Void in [
            { $0.passwordFile = nil }, { $0.certificateFile = nil }, { $0.keyFile = nil }, { $0.hosts = nil },
        ] {
            var settings = try Files().settings
            settings.listen = try Self.address("0.0.0.0:8451")
            settings.hosts = ["box.example.net"]
            #expect(throws: Never.self) { try settings.check() }
            change(&settings)
            #expect(throws: AgentError.self) { try settings.check() }
        }
    }

    @Test("under TLS and with a password it serves others, by the names that are configured")
    func others() async throws {
        let files = try Files()
        var settings = files.settings
        settings.listen = try Self.address("0.0.0.0:0")
        settings.hosts = ["box.example.net"]
        let set = settings
        let bench = try await PageBench { $0.settings = set }
        let port = try await bench.port
        let url = try await bench.page.makeLink(isReadOnly: false)
        #expect(url.hasPrefix("https://box.example.net:\(port)/#t="))
        var options = files.clientOptions
        options.resolved = [("box.example.net", port, ["127.0.0.1"])]
        let client = HTTPClient()
        func send(_ method: String, _ path: String, _ headers: [(String, String)], _ body: String? = nil)
            async throws -> HTTPResponse
        {
            try await client.send(
                HTTPRequest(
                    method: method, url: "https://box.example.net:\(port)\(path)",
                    headers: headers.map { (name: $0.0, value: $0.1) }, body: body.map { Array($0.utf8) }),
                options: options)
        }
        #expect(try await send("GET", "/", []).status == 200)
        let own = [("Origin", "https://box.example.net:\(port)"), ("Content-Type", "application/json")]
        let password = #"{"password":"correct horse battery"}"#
        #expect(try await send("POST", "/api/v1/ui/login", own, password).status == 200)
        let plain = [("Origin", "http://box.example.net:\(port)"), ("Content-Type", "application/json")]
        #expect(try await send("POST", "/api/v1/ui/login", plain, password).status == 403)
        // Without TLS nothing is said at all.
        let spoken = try? await RawHTTP.send(
            port: port, "GET", "/", headers: [("Host", "box.example.net:\(port)")])
        #expect(spoken == nil)
        await bench.page.stop()
    }

    @Test("another certificate is taken with the settings that are read again, at the same port")
    func renewal() async throws {
        let files = try Files()
        var settings = files.settings
        settings.listen = try Self.address("127.0.0.1:0")
        let set = settings
        let bench = try await PageBench { $0.settings = set }
        func status() async throws -> Int {
            let port = try await bench.port
            // A client of its own, since an open connection has shown its certificate already.
            return try await HTTPClient().send(
                HTTPRequest(url: "https://127.0.0.1:\(port)/"), options: files.clientOptions
            ).status
        }
        #expect(try await status() == 200)
        try files.renew()
        await #expect(throws: HTTPError.self) { try await status() }
        await bench.page.apply(set)
        #expect(try await status() == 200)
        // What cannot be read leaves what there was.
        unlink(files.folder.path + "/key.pem")
        await bench.page.apply(set)
        #expect(try await status() == 200)
        #expect(bench.log.getLogs().contains { $0.message.contains("ui_key: ") })
        await bench.page.stop()
    }

    @Test("a port that is taken: another for loopback, none where the administrator chose it")
    func taken() async throws {
        let port = try RawHTTP.quietPort()
        let other = try await PageBench { $0.preferredPort = port }
        _ = try await other.link()
        #expect(try await other.port == port)
        let bench = try await PageBench { $0.preferredPort = port }
        _ = try await bench.link()
        #expect(try await bench.port != port)
        await bench.page.stop()
        let files = try Files()
        var settings = PageSettings()
        settings.passwordFile = files.settings.passwordFile
        settings.listen = try Self.address("127.0.0.1:\(port)")
        let set = settings
        let fixed = try await PageBench { $0.settings = set }
        #expect(await fixed.page.listener == nil)
        let error = await refusal { _ = try await fixed.page.makeLink(isReadOnly: false) }
        #expect(error?.status == 503)
        #expect(error?.code == "page-unavailable")
        #expect(error?.message.contains("127.0.0.1:\(port): Address already in use") == true)
        // Later it may be free, as the tunnel's address may be there.
        await other.page.stop()
        await fixed.advance(by: .seconds(4))
        #expect(await fixed.page.listener == nil)
        await fixed.advance(by: .seconds(1))
        #expect(try await fixed.port == port)
        #expect(fixed.log.getLogs().filter { $0.message.contains("cannot listen yet") }.count == 1)
        await fixed.page.stop()
    }

    @Test("an operator may move it, unless the administrator said where it is")
    func moves() async throws {
        let bench = try await PageBench()
        let session = try await bench.session()
        let first = try await bench.port
        let second = try Self.address("127.0.0.2:0")
        let url = try await bench.page.makeLink(isReadOnly: false, listeningOn: second)
        let port = try await bench.port
        #expect(url.hasPrefix("http://127.0.0.2:\(port)/#t="))
        #expect(port != first)
        // Asking again without an address leaves it there.
        #expect(try await bench.page.makeLink(isReadOnly: false).hasPrefix("http://127.0.0.2:\(port)/#t="))
        #expect(await bench.page.table.sessions[PageDigest(of: session)] != nil)
        await bench.page.stop()
        var settings = PageSettings()
        settings.listen = try Self.address("127.0.0.1:0")
        let set = settings
        let fixed = try await PageBench { $0.settings = set }
        let error = await refusal {
            _ = try await fixed.page.makeLink(isReadOnly: false, listeningOn: second)
        }
        #expect(error?.code == "config-invalid")
        #expect(error?.message == "listen: 127.0.0.1:0 is fixed by the administrator")
        #expect(await fixed.page.listener == nil)
        await fixed.page.stop()
    }

    @Test("on IPv6 loopback it has that address")
    func six() async throws {
        var settings = PageSettings()
        settings.listen = try Self.address("[::1]:0")
        let set = settings
        let bench = try await PageBench { $0.settings = set }
        let url = try await bench.page.makeLink(isReadOnly: false)
        let port = try await bench.port
        #expect(url.hasPrefix("http://[::1]:\(port)/#t="))
        let options = HTTPClientOptions(connectTimeout: .seconds(600), totalTimeout: .seconds(600))
        let answer = try await HTTPClient().send(
            HTTPRequest(url: "http://[::1]:\(port)/"), options: options)
        #expect(answer.status == 200)
        await bench.page.stop()
    }
}
