// SPDX-License-Identifier: MIT

import AgentHTTP
import Glibc
import Synchronization

/// A daemon that knows one thing, to hand out links to a page.
final class FakePageDaemon: Sendable {
    /// The link that it hands out; 43 characters of base64url stand for 256 bits.
    static let link = "http://127.0.0.1:8451/#t=sEcReTsEcReTsEcReTsEcReTsEcReTsEcReTsEcReT0"
    /// Its answer with that link.
    static let answer = #"{"schema":1,"url":"\#(link)","expires_in":120}"#

    /// The path of the socket.
    let socket: String
    private let folder: TemporaryFolder
    private let server: HTTPServer
    private let requests: Requests

    /// Serves.
    init(status: Int = 200, answer: String = FakePageDaemon.answer) throws {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
        let requests = Requests()
        socket = folder.path + "/agent.sock"
        server = HTTPServer(listeners: [.unix(path: socket, mode: 0o666)]) { request in
            requests.add("\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))")
            return .response(
                ServerResponse(
                    status: status, headers: [("Content-Type", "application/json")],
                    body: Array(answer.utf8)))
        }
        self.folder = folder
        self.requests = requests
        try server.start()
    }

    /// Ends the service.
    func stop() { server.stop() }

    /// What was asked: method, path and content.
    var asked: [String] { requests.all }

    /// Runs `nexusguard ui` against it.
    func run(
        _ arguments: [String], prefix: [String] = [], environment: [String: String] = [:]
    ) async throws -> Shell.Output {
        let fixed = [
            "LC_ALL": "C", "NEXUSGUARD_TIMEOUT": ServedAgent.patience, "DISPLAY": "", "WAYLAND_DISPLAY": "",
            "SSH_CONNECTION": "", "SUDO_USER": "", "USER": "somebody",
        ]
        return try await Shell.runAside(
            prefix + [Built.path("nexusguard"), "--socket", socket, "ui"] + arguments,
            environment: fixed.merging(environment) { $1 })
    }

    private final class Requests: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func add(_ request: String) { list.withLock { $0.append(request) } }
    }
}
