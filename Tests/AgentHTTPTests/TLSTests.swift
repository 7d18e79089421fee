// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Testing

@Suite("TLS of client and server")
struct TLSTests {
    private let folder: TemporaryFolder
    private let identity: TLSIdentity
    private let trusted: HTTPClientOptions

    init() throws {
        folder = try TemporaryFolder()
        identity = try DevelopmentCertificate.make(
            hostNames: ["control.test", "*.wild.test"], addresses: ["127.0.0.1", "::1"])
        trusted = HTTPClientOptions.patient(
            certificateAuthorityFile: try folder.write(identity.certificatePEM, to: "ca.pem"))
    }

    /// Options with which a name leads to the server.
    private func options(_ host: String, _ server: TestServer) -> HTTPClientOptions {
        var options = trusted
        options.resolved = [(host, server.port, ["127.0.0.1"])]
        return options
    }

    private func reason(_ error: HTTPError?) -> String {
        if case .tls(let reason)? = error { reason } else { "\(error as Any)" }
    }

    @Test("a certificate of a given authority is trusted for its names and addresses")
    func trusted() async throws {
        let server = try TestServer(tls: identity) { request in
            .response(ServerResponse(status: request.isTLS ? 200 : 500))
        }
        let client = HTTPClient()
        #expect(try await client.send(HTTPRequest(url: server.url()), options: trusted).status == 200)
        for host in ["control.test", "CONTROL.test", "a.wild.test"] {
            let request = HTTPRequest(url: server.url("/", host: host))
            #expect(try await client.send(request, options: options(host, server)).status == 200)
        }
    }

    @Test(
        "another host's name is refused",
        arguments: ["other.test", "wild.test", "a.b.wild.test", "control.test.x"])
    func wrongName(host: String) async throws {
        let server = try TestServer(tls: identity)
        let options = options(host, server)
        let error = await failure {
            try await HTTPClient().send(HTTPRequest(url: server.url("/", host: host)), options: options)
        }
        #expect(reason(error).contains("does not match target host name"))
    }

    @Test("a certificate of an unknown authority is refused, with the reason")
    func unknownAuthority() async throws {
        let server = try TestServer(tls: identity)
        let error = await failure {
            try await HTTPClient().send(HTTPRequest(url: server.url()), options: .patient)
        }
        #expect(error == .tls("the certificate is not signed by a trusted authority"))
        let other = try DevelopmentCertificate.make(hostNames: ["another.test"], addresses: ["127.0.0.1"])
        let options = HTTPClientOptions.patient(
            certificateAuthorityFile: try folder.write(other.certificatePEM, to: "other.pem"))
        let second = await failure {
            try await HTTPClient().send(HTTPRequest(url: server.url()), options: options)
        }
        #expect(second == error)
    }

    @Test("trust is not lent: a connection made under one file is not used under another")
    func noSharedTrust() async throws {
        let server = try TestServer(tls: identity)
        let client = HTTPClient()
        #expect(try await client.send(HTTPRequest(url: server.url()), options: trusted).status == 200)
        #expect(
            await failure {
                try await client.send(HTTPRequest(url: server.url()), options: .patient)
            }
                == .tls("the certificate is not signed by a trusted authority"))
        #expect(try await client.send(HTTPRequest(url: server.url()), options: trusted).status == 200)
    }

    @Test("a file of authorities that changed is read again")
    func changedAuthorities() async throws {
        let server = try TestServer(tls: identity)
        let client = HTTPClient()
        let other = try DevelopmentCertificate.make(hostNames: ["control.test"], addresses: ["127.0.0.1"])
        let path = try folder.write(other.certificatePEM, to: "changing.pem")
        let options = HTTPClientOptions.patient(certificateAuthorityFile: path)
        #expect(
            await failure { try await client.send(HTTPRequest(url: server.url()), options: options) } != nil)
        _ = try folder.write(other.certificatePEM + identity.certificatePEM, to: "changing.pem")
        #expect(try await client.send(HTTPRequest(url: server.url()), options: options).status == 200)
    }

    @Test("a file of authorities that is absent or holds none is named")
    func badAuthorities() async throws {
        let absent = folder.file("absent.pem")
        let empty = try folder.write("nothing here", to: "empty.pem")
        for (path, text) in [
            (absent, "the certificate authorities cannot be read"), (empty, "holds no certificate in PEM"),
        ] {
            let options = HTTPClientOptions.patient(certificateAuthorityFile: path)
            let error = await failure {
                try await HTTPClient().send(HTTPRequest(url: "https://127.0.0.1:1/"), options: options)
            }
            #expect(error == .tls("\(path): \(text)"))
        }
    }

    @Test("a port that speaks no TLS, and a client that speaks none, get an error and no answer")
    func plainText() async throws {
        let plain = try TestServer()
        let error = await failure {
            try await HTTPClient().send(
                HTTPRequest(url: "https://127.0.0.1:\(plain.port)/"), options: trusted)
        }
        #expect(reason(error).isEmpty == false)
        if case .tls? = error {} else { Issue.record("\(error as Any)") }
        let secret = try TestServer(tls: identity)
        #expect(try await secret.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").contains("200 OK") == false)
    }

    @Test("event streams, large content and stopping work under TLS")
    func streamUnderTLS() async throws {
        let server = try TestServer(tls: identity, options: .with { $0.bodyLimit = 1_000_000 }) { request in
            guard request.method == "GET" else { return await TestServer.echo(request) }
            return .stream(
                ServerStream { writer in
                    for number in 0..<2000 { writer.write(Array("\(number)\n".utf8)) }
                })
        }
        let client = HTTPClient()
        var options = trusted
        options.responseLimit = 2_000_000
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 900_000)
        let request = HTTPRequest(method: "POST", url: server.url(), body: body)
        #expect(try await client.send(request, options: options).body.count == 900_012)
        let (texts, continuation) = AsyncStream<[UInt8]>.makeStream()
        let task = Task { [options] in
            try await client.stream(HTTPRequest(url: server.url()), options: options) {
                continuation.yield($0)
            }
        }
        var received: [UInt8] = []
        for await text in texts {
            received += text
            if received.suffix(5) == Array("1999\n".utf8) { break }
        }
        #expect(String(decoding: received, as: UTF8.self) == (0..<2000).map { "\($0)\n" }.joined())
        try await blocking { server.server.stop() }
        #expect(try await task.value.status == 200)
    }

    @Test("a certificate and a key that do not fit, or are none, are refused at the start")
    func badIdentity() throws {
        let other = try DevelopmentCertificate.make(hostNames: ["x.test"], addresses: [])
        let otherKey = other.withKeyPEM { Array($0) }
        let key = identity.withKeyPEM { Array($0) }
        for bad in [
            TLSIdentity(certificatePEM: identity.certificatePEM, keyPEM: otherKey),
            TLSIdentity(certificatePEM: "x", keyPEM: key),
            TLSIdentity(certificatePEM: identity.certificatePEM, keyPEM: []),
        ] {
            #expect(throws: HTTPServerError.self) { try TestServer(tls: bad) }
        }
    }

    @Test("printing an identity shows nothing of its key")
    func printing() throws {
        var text = ""
        dump(identity, to: &text)
        text += "\(identity) \(String(reflecting: identity)) \([identity])"
        #expect(!text.contains("PRIVATE"))
        #expect(!text.contains("BEGIN"))
        #expect(identity.withKeyPEM { String(decoding: $0, as: UTF8.self) }.contains("PRIVATE KEY-----"))
    }

    @Test("certificates need a name or an address, and refuse what is neither")
    func badNames() {
        #expect(throws: HTTPServerError.self) {
            try DevelopmentCertificate.make(hostNames: [], addresses: [])
        }
        for name in ["", "a b", "ä.test", "a/b", String(repeating: "a", count: 254)] {
            #expect(throws: HTTPServerError.tls("\(name): not a name of a host")) {
                try DevelopmentCertificate.make(hostNames: [name], addresses: [])
            }
        }
        #expect(throws: HTTPServerError.invalidAddress("1.2.3")) {
            try DevelopmentCertificate.make(hostNames: [], addresses: ["1.2.3"])
        }
    }
}
