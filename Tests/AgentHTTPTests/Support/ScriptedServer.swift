// SPDX-License-Identifier: MIT

internal import Foundation
internal import Glibc
internal import Synchronization

/// A server that knows no HTTP: a function reads and writes the bytes of each connection, on a thread of its own.
final class ScriptedServer: Sendable {
    /// One connection, for the script.
    struct Connection {
        let descriptor: Int32
        /// Counts the connections of the server from 1.
        let number: Int

        /// The bytes of a request up to its end, by its Content-Length; `nil` when the client closed before.
        func request() -> String? {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                if let header = text.firstRange(of: "\r\n\r\n") {
                    let head = text[..<header.lowerBound]
                    let length =
                        head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
                        .flatMap { Int($0.dropFirst(16)) } ?? 0
                    if text[header.upperBound...].utf8.count >= length { return text }
                }
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                text += String(decoding: buffer[..<count], as: UTF8.self)
            }
        }

        /// Sends a text; returns whether the client still takes it.
        @discardableResult
        func send(_ text: String) -> Bool { Sockets.send(descriptor, text) }

        /// Waits until the client closes.
        func waitForClose() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }

        /// Ends the connection with a reset.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
    }

    /// The port at 127.0.0.1; 0 for a unix socket.
    let port: UInt16
    private let listener: Int32
    private let count = Atomic(0)
    private let seen = Mutex<[String]>([])

    /// Listens at a free port of 127.0.0.1, or at the path of a unix socket.
    init(unixPath: String? = nil, _ script: @escaping @Sendable (ScriptedServer, Connection) -> Void) throws {
        let opened = try Sockets.listen(unixPath: unixPath)
        listener = opened.descriptor
        port = opened.port
        let listener = listener
        Thread.detachNewThread { [weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, let self else { break }
                let number = self.count.add(1, ordering: .relaxed).newValue
                Thread.detachNewThread {
                    script(self, Connection(descriptor: descriptor, number: number))
                    close(descriptor)
                }
            }
            close(listener)
        }
    }

    /// The URL of a path at this server.
    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// How many connections there were.
    var connectionCount: Int { count.load(ordering: .relaxed) }

    /// Notes a request.
    func note(_ request: String) { seen.withLock { $0.append(request) } }

    /// The requests that were noted.
    var requests: [String] { seen.withLock { $0 } }

    /// Takes no more connections.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    deinit { stop() }
}
