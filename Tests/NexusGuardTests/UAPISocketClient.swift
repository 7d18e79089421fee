// SPDX-License-Identifier: MIT

import CLinux
import Foundation
import Glibc

@testable internal import NexusGuard

/// A client of a control socket.
final class UAPISocketClient {
    let descriptor: Int32

    init(path: String) throws {
        let address = try requireValue(UnixAddress(path: path))
        descriptor = try SystemCall.run("socket") { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let descriptor = descriptor
        try SystemCall.run("connect") { address.withPointer { connect(descriptor, $0, $1) } }
    }

    /// Sends a text, all of it.
    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let bytes = Array(rest.prefix(65_536))
            let descriptor = descriptor
            let count = try SystemCall.run("send") {
                Glibc.send(descriptor, bytes, bytes.count, linux_msg_nosignal)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Says that no more comes.
    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads `count` answers, each ended by an empty line, or what comes before the end of the stream.
    func receive(answers count: Int = 1) throws -> String {
        var text: [UInt8] = []
        var found = 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while found < count {
            let descriptor = descriptor
            let got = try SystemCall.run("recv") { recv(descriptor, &buffer, buffer.count, 0) }
            if got == 0 { break }
            for byte in buffer[..<got] {
                if byte == 10, text.last == 10 { found += 1 }
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Sends a request and reads its answer.
    func ask(_ request: String) throws -> String {
        try send(request)
        return try receive()
    }

    deinit {
        SystemCall.close(descriptor)
    }
}

/// A directory for one test's control sockets, removed with it.
final class UAPISocketDirectory {
    let path: String

    init() {
        let name = "ng-\(UUID().uuidString.prefix(8))"
        path = FileManager.default.temporaryDirectory.appending(path: name).path
    }

    /// The permission bits of a path inside, or of the directory itself.
    func mode(_ name: String? = nil) -> UInt32? {
        var status = stat()
        guard lstat(name.map { "\(path)/\($0)" } ?? path, &status) == 0 else { return nil }
        return status.st_mode & 0o7777
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// Why a test can not go on.
struct MissingValue: Error {}

/// The value, or an error that fails the test.
func requireValue<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw MissingValue() }
    return value
}
