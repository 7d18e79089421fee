// SPDX-License-Identifier: MIT

internal import AgentHTTP
internal import Foundation
internal import Testing

/// The client against another server and the server against other clients, so that the two halves of this
/// module cannot share one misunderstanding.
@Suite("Other implementations", .enabled(if: Privileges.hasTools, Privileges.toolsReason))
struct InteroperationTests {
    /// A server of Python's library, with TLS of OpenSSL when there is an identity.
    private final class PythonServer: Sendable {
        let port: UInt16
        private let input = Pipe()

        init(identity: String? = nil) throws {
            let script = """
                import http.server, os, ssl, sys, threading
                # Ends with the process that holds the other end of its input, however that ends.
                threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
                class Handler(http.server.BaseHTTPRequestHandler):
                    protocol_version = "HTTP/1.1"
                    def reply(self):
                        size = int(self.headers.get("Content-Length", 0))
                        body = self.command.encode() + b" " + self.path.encode() + b" " + self.rfile.read(size)
                        status = 302 if self.path == "/moved" else 200
                        self.send_response(status)
                        self.send_header("Content-Length", str(len(body)))
                        if status == 302: self.send_header("Location", "/elsewhere")
                        self.end_headers()
                        if self.command != "HEAD": self.wfile.write(body)
                    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = reply
                    def log_message(self, *arguments): pass
                server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
                if len(sys.argv) > 1:
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(sys.argv[1])
                    server.socket = context.wrap_socket(server.socket, server_side=True)
                print(server.server_address[1], flush=True)
                server.serve_forever()
                """
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["python3", "-c", script] + (identity.map { [$0] } ?? [])
            let output = Pipe()
            process.standardOutput = output
            process.standardInput = input
            try process.run()
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
        }

        deinit { try? input.fileHandleForWriting.close() }
    }

    private let client = HTTPClient()

    @Test("the client talks to Python's server", arguments: ["GET", "POST", "PUT", "DELETE", "HEAD"])
    func pythonServer(method: String) async throws {
        let server = try await blocking { try PythonServer() }
        let body = method == "POST" || method == "PUT" ? Array("content".utf8) : nil
        for path in ["/a?b=c", "/moved"] {
            let request = HTTPRequest(
                method: method, url: "http://127.0.0.1:\(server.port)\(path)", body: body)
            let answer = try await client.send(request, options: .patient)
            #expect(answer.status == (path == "/moved" ? 302 : 200))
            let expected = method == "HEAD" ? "" : "\(method) \(path) \(body == nil ? "" : "content")"
            #expect(String(decoding: answer.body, as: UTF8.self) == expected)
        }
    }

    @Test("the client trusts OpenSSL's end of TLS by the certificate, and only by it")
    func openSSLServer() async throws {
        let folder = try TemporaryFolder()
        let identity = try DevelopmentCertificate.make(hostNames: ["control.test"], addresses: ["127.0.0.1"])
        let key = identity.withKeyPEM { String(decoding: $0, as: UTF8.self) }
        let file = try folder.write(key + identity.certificatePEM, to: "identity.pem")
        let server = try await blocking { try PythonServer(identity: file) }
        let options = HTTPClientOptions.patient(
            certificateAuthorityFile: try folder.write(identity.certificatePEM, to: "ca.pem"))
        let request = HTTPRequest(method: "POST", url: "https://127.0.0.1:\(server.port)/x", body: [0x61])
        for _ in 0..<3 {
            #expect(try await client.send(request, options: options).body == Array("POST /x a".utf8))
        }
        let error = await failure { try await client.send(request, options: .patient) }
        #expect(error == .tls("the certificate is not signed by a trusted authority"))
    }

    @Test("the curl command talks to the server: methods, content, chunks, a connection used again")
    func curl() async throws {
        let server = try TestServer()
        let folder = try TemporaryFolder()
        let file = try folder.write("from a file", to: "file")
        let results = try await blocking {
            let url = server.url("/a%20b?c=d")
            return [
                try Command.run("curl", "-sS", "--http1.1", url),
                try Command.run("curl", "-sS", "-X", "PATCH", "-d", "x=1", "-H", "X-Note: n", url),
                try Command.run("curl", "-sS", "-H", "Transfer-Encoding: chunked", "-T", file, url),
                try Command.run("curl", "-sS", "-I", "-o", "/dev/null", "-w", "%{http_code}", url),
                try Command.run(
                    "curl", "-sS", "-o", "/dev/null", "-w", "%{num_connects}", url, "--next", "-sS", "-o",
                    "/dev/null", "-w", "%{num_connects}", url),
            ]
        }
        #expect(results.map(\.errors) == Array(repeating: "", count: 5))
        #expect(
            results.map(\.text) == [
                "GET /a b [c=d] - ", "PATCH /a b [c=d] n x=1", "PUT /a b [c=d] - from a file", "200", "10",
            ])
    }

    @Test("the curl command verifies the server's TLS, over every listener")
    func curlTLS() async throws {
        let folder = try TemporaryFolder()
        let identity = try DevelopmentCertificate.make(hostNames: ["control.test"], addresses: ["127.0.0.1"])
        let ca = try folder.write(identity.certificatePEM, to: "ca.pem")
        let path = folder.file("a.sock")
        let server = HTTPServer(
            listeners: [.tcp(address: "127.0.0.1", port: 0, tls: identity), .unix(path: path, mode: 0o600)],
            handler: TestServer.echo)
        try server.start()
        defer { server.stop() }
        let port = try #require(server.port)
        let name = "https://control.test:\(port)/x"
        let resolve = "control.test:\(port):127.0.0.1"
        let results = try await blocking {
            [
                try Command.run("curl", "-sS", "--cacert", ca, "https://127.0.0.1:\(port)/x"),
                try Command.run("curl", "-sS", "--cacert", ca, "--resolve", resolve, name),
                try Command.run("curl", "-sS", "--unix-socket", path, "http://agent/x"),
                try Command.run("curl", "-s", "https://127.0.0.1:\(port)/x"),
                try Command.run(
                    "curl", "-s", "--cacert", ca, "--tls-max", "1.1", "https://127.0.0.1:\(port)/x"),
            ]
        }
        #expect(results.map(\.text) == ["GET /x [] - ", "GET /x [] - ", "GET /x [] - ", "", ""])
        // 60: the certificate is not trusted; 35: no common version of TLS.
        #expect(results.map(\.status) == [0, 0, 0, 60, 35])
    }

    @Test("Python's client reads an event stream line by line and sends chunks")
    func pythonClient() async throws {
        let server = try TestServer { request in
            guard request.path == "/events" else { return await TestServer.echo(request) }
            return .stream(
                ServerStream { writer in
                    for number in 0..<100 { writer.write(Array("data: \(number)\n\n".utf8)) }
                    writer.close()
                })
        }
        let script = """
            import http.client
            c = http.client.HTTPConnection("127.0.0.1", \(server.port))
            c.request("GET", "/events"); r = c.getresponse()
            lines = [l.decode().strip() for l in r if l.strip()]
            print(r.status, len(lines), lines[0], lines[-1])
            c.request("POST", "/up", body=iter([b"ab", b"cde", b"f"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
            print(c.getresponse().read().decode())
            """
        let result = try await blocking { try Command.run("python3", "-c", script) }
        #expect(result.text == "200 100 data: 0 data: 99\nPOST /up [] - abcdef\n")
        #expect(result.errors == "")
    }
}
