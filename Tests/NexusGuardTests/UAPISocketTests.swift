// SPDX-License-Identifier: MIT

import CLinux
import Foundation
import Glibc
import Testing

@testable internal import NexusGuard

@Suite("UAPI socket", .serialized)
struct UAPISocketTests {
    private let directory = UAPISocketDirectory()

    @Test("directory and socket are for their owner only", arguments: [0o000, 0o022, 0o077] as [mode_t])
    func permissions(mask: mode_t) throws {
        let directory = UAPISocketDirectory()
        let former = umask(mask)
        defer { umask(former) }
        let socket = try UAPISocket(name: "wg0", directory: directory.path)
        #expect(directory.mode() == 0o700)
        #expect(directory.mode("wg0.sock") == 0o600)
        #expect(socket.path == "\(directory.path)/wg0.sock")
    }

    @Test("the path goes with the socket")
    func removal() throws {
        var socket: UAPISocket? = try UAPISocket(name: "wg0", directory: directory.path)
        #expect(socket?.isReachable == true)
        #expect(directory.mode("wg0.sock") != nil)
        socket = nil
        #expect(directory.mode("wg0.sock") == nil)
    }

    @Test("a path that is served is not taken, and goes on to be served")
    func live() throws {
        let first = try UAPISocket(name: "wg0", directory: directory.path)
        #expect(throws: UAPISocketError.alreadyServed(path: first.path)) {
            try UAPISocket(name: "wg0", directory: directory.path)
        }
        #expect(first.isReachable)
        _ = try UAPISocketClient(path: first.path)
    }

    @Test("a path that a dead process left is taken")
    func stale() throws {
        _ = try UAPISocket(name: "other", directory: directory.path)
        let path = "\(directory.path)/wg0.sock"
        let address = try requireValue(UnixAddress(path: path))
        let dead = socket(AF_UNIX, linux_stream_socket_type, 0)
        #expect(address.withPointer { bind(dead, $0, $1) } == 0)
        #expect(listen(dead, 1) == 0)
        SystemCall.close(dead)
        #expect(directory.mode("wg0.sock") != nil)

        let socket = try UAPISocket(name: "wg0", directory: directory.path)
        #expect(socket.isReachable)
        #expect(directory.mode("wg0.sock") == 0o600)
    }

    @Test("a file that is no socket is left alone")
    func notASocket() throws {
        _ = try UAPISocket(name: "other", directory: directory.path)
        let path = "\(directory.path)/wg0.sock"
        try "precious".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: UAPISocketError.notASocket(path: path)) {
            try UAPISocket(name: "wg0", directory: directory.path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("a path that is too long is refused")
    func tooLong() {
        let long = "/tmp/" + String(repeating: "x", count: 120)
        #expect(throws: UAPISocketError.pathTooLong(path: "\(long)/wg0.sock")) {
            try UAPISocket(name: "wg0", directory: long)
        }
    }

    @Test("a directory that can not be made is named")
    func noDirectory() {
        let error = #expect(throws: UAPISocketError.self) {
            try UAPISocket(name: "wg0", directory: "/proc/nexusguard")
        }
        guard case .refused(let path, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == "/proc/nexusguard/wg0.sock")
    }

    @Test("a path that another socket has taken over is not removed")
    func takenOver() throws {
        var first: UAPISocket? = try UAPISocket(name: "wg0", directory: directory.path)
        unlink("\(directory.path)/wg0.sock")
        #expect(first?.isReachable == false)
        let second = try UAPISocket(name: "wg0", directory: directory.path)
        first = nil
        #expect(second.isReachable)
    }

    @Test("a listening descriptor is adopted with its path, anything else refused")
    func adoption() throws {
        let original = try UAPISocket(name: "wg0", directory: directory.path)
        let adopted = try UAPISocket(adopting: dup(original.descriptor))
        #expect(adopted.path == original.path)
        #expect(adopted.isReachable)

        #expect(throws: UAPISocketError.notAListener(descriptor: 999)) { try UAPISocket(adopting: 999) }
        let plain = socket(AF_UNIX, linux_stream_socket_type, 0)
        defer { SystemCall.close(plain) }
        #expect(throws: UAPISocketError.notAListener(descriptor: plain)) { try UAPISocket(adopting: plain) }
        let internet = socket(AF_INET, linux_stream_socket_type, 0)
        defer { SystemCall.close(internet) }
        #expect(listen(internet, 1) == 0)
        #expect(throws: UAPISocketError.notAListener(descriptor: internet)) {
            try UAPISocket(adopting: internet)
        }
    }
}
