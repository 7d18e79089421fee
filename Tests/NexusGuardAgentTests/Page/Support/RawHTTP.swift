// SPDX-License-Identifier: MIT

import CLinux
import Foundation
import Glibc

/// One request over one connection, byte by byte as the test says.
enum RawHTTP {
    /// An answer.
    struct Answer: Sendable {
        let status: Int
        let headers: [(name: String, value: String)]
        let body: String

        /// The value of the only field with a name; `nil` when there is none or more than one.
        func header(_ name: String) -> String? {
            let found = headers.filter { $0.name.lowercased() == name.lowercased() }
            return found.count == 1 ? found[0].value : nil
        }

        /// A member of the JSON object in the body that is a text.
        func text(_ name: String) -> String? { object[name] as? String }

        /// The code of the refusal in the body.
        var code: String? { (object["error"] as? [String: Any])?["code"] as? String }

        /// The JSON object in the body; empty when it is none.
        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }
    }

    /// Why there is no answer.
    struct Failure: Error {
        let call: String
        let number: Int32
    }

    /// Sends a request to a port of loopback and reads the answer.
    ///
    /// - Parameters:
    ///   - headers: All header fields but `Content-Length` and `Connection`.
    ///   - source: The last byte of the address in 127.0.0.0/24 to come from.
    static func send(
        port: UInt16, _ method: String = "GET", _ path: String, headers: [(String, String)],
        body: String? = nil, from source: UInt32 = 1
    ) async throws -> Answer {
        var text = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        text += "\r\n" + (body ?? "")
        let request = text
        let bytes = try await aside {
            let descriptor = try connect(port: port, from: source)
            defer { close(descriptor) }
            try write(request, to: descriptor)
            return try readAll(descriptor)
        }
        return try answer(String(decoding: bytes, as: UTF8.self))
    }

    /// A free port of loopback below those that the kernel gives out: nobody takes it while nothing listens there.
    static func quietPort() throws -> UInt16 {
        for _ in 0..<1000 {
            let port = UInt16.random(in: 20_000..<32_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
            defer { close(descriptor) }
            if withAddress(host: 1, port: port, { bind(descriptor, $0, $1) }) == 0 { return port }
        }
        throw Failure(call: "bind", number: errno)
    }

    /// Connects to a port of loopback; reads give up after ten minutes.
    static func connect(port: UInt16, from source: UInt32 = 1) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        var patience = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout.size(ofValue: patience)))
        if source != 1 { _ = withAddress(host: source, port: 0) { bind(descriptor, $0, $1) } }
        guard withAddress(host: 1, port: port, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let number = errno
            close(descriptor)
            throw Failure(call: "connect", number: number)
        }
        return descriptor
    }

    /// Sends a text.
    static func write(_ text: String, to descriptor: Int32) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, linux_msg_nosignal)
            }
            guard count > 0 else { throw Failure(call: "send", number: errno) }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Everything up to the end of the connection.
    static func readAll(_ descriptor: Int32) throws -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return content }
            guard count > 0 else { throw Failure(call: "recv", number: errno) }
            content += buffer[..<count]
        }
    }

    /// Does what blocks on a thread of its own: the pool has few.
    static func aside<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    private static func answer(_ text: String) throws -> Answer {
        guard let end = text.firstRange(of: "\r\n\r\n") else { throw Failure(call: "answer", number: 0) }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw Failure(call: "status", number: 0) }
        let headers = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (name: String(name), value: line.dropFirst(name.count + 1).trimmingPrefix(" ").description)
        }
        return Answer(status: status, headers: headers, body: String(text[end.upperBound...]))
    }

    private static func withAddress<Result>(
        host: UInt32, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 | host).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
