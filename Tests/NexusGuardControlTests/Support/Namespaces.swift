// SPDX-License-Identifier: MIT

import AgentHTTP
import CLinux
import Foundation
import Glibc
import Synchronization
import Testing

/// Two network namespaces with a cable between them: 10.1.0.1 in the first, 10.1.0.2 in the second.
final class Namespaces: Sendable {
    /// The names.
    let first: String
    let second: String
    private static let counter = Counter()

    init() async throws {
        Self.counter.increase()
        let mark = "\(getpid())-\(Self.counter.value)"
        first = "control-a-\(mark)"
        second = "control-b-\(mark)"
        try await ChildProgram.run("ip", "netns", "add", first)
        try await ChildProgram.run("ip", "netns", "add", second)
        try await ChildProgram.run(
            "ip", "-n", first, "link", "add", "eth0", "type", "veth", "peer", "eth0", "netns", second)
        for (name, address) in [(first, "10.1.0.1/24"), (second, "10.1.0.2/24")] {
            try await ChildProgram.run("ip", "-n", name, "address", "add", address, "dev", "eth0")
            try await ChildProgram.run("ip", "-n", name, "link", "set", "eth0", "up")
            try await ChildProgram.run("ip", "-n", name, "link", "set", "lo", "up")
        }
    }

    /// Removes both.
    func remove() async throws {
        try await ChildProgram.run("ip", "netns", "delete", first)
        try await ChildProgram.run("ip", "netns", "delete", second)
    }

    /// Runs a body on a thread of its own inside a namespace.
    static func within<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                let descriptor = open("/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
                defer { close(descriptor) }
                guard descriptor >= 0, linux_setns(descriptor, linux_clone_newnet) == 0 else {
                    continuation.resume(throwing: POSIXError(.ENOENT))
                    return
                }
                continuation.resume(with: Swift.Result { try body() })
            }
            thread.start()
        }
    }

    /// Sends a request over plain HTTP from inside a namespace, and reads the answer to its end.
    static func send(
        _ name: String, _ method: String, _ path: String, port: UInt16,
        headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) async throws -> HTTPResponse {
        try await within(name) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(result == 0)
            var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            head += "Content-Length: \(body.count)\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            let request = Array((head + "\r\n").utf8) + body
            try #require(write(descriptor, request, request.count) == request.count)
            var answer: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(descriptor, &block, block.count)
                guard count > 0 else { break }
                answer += block[..<count]
            }
            let split = try #require(Data(answer).range(of: Data("\r\n\r\n".utf8)))
            let status = String(decoding: answer.prefix(split.lowerBound), as: UTF8.self).split(
                separator: " ")
            return HTTPResponse(
                status: try #require(Int(status[1])), body: Array(answer[split.upperBound...]))
        }
    }
}
