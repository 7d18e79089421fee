// SPDX-License-Identifier: MIT

import CLinux
import Glibc
import Harness
import NexusGuard
import Synchronization

@testable import AgentHost

/// A name server for tests, over UDP and TCP on one port of the loopback interface.
final class DNSTestServer: Sendable {
    /// A question as it came in.
    struct Question: Hashable, Sendable {
        /// The number that the answer must repeat.
        var identifier: UInt16
        /// The name with dots, as it was written.
        var name: String
        /// 1 for IPv4, 28 for IPv6.
        var type: UInt16
        /// Whether it came over TCP.
        var isStream: Bool
    }

    /// What to send back: any number of messages.
    typealias Behaviour = @Sendable (Question) -> [[UInt8]]

    /// The port of both sockets.
    let port: UInt16
    private let datagrams: Int32
    private let listener: Int32
    private let questions = Mutex<[Question]>([])

    /// Serves on an address of the loopback interface, in the namespace of the calling thread.
    init(_ address: String = "127.0.0.1", port: UInt16 = 5_353, _ behaviour: @escaping Behaviour) throws {
        self.port = port
        datagrams = socket(AF_INET, linux_datagram_socket_type, 0)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        for descriptor in [datagrams, listener] {
            let result = HostTestPacket.withAddress(address, port) { bind(descriptor, $0, $1) }
            guard result == 0 else {
                throw HostTestNamespace.ToolFailure(line: "bind \(address)", output: "errno \(errno)")
            }
        }
        listen(listener, 5)
        let (datagrams, listener) = (datagrams, listener)
        try WorkThread.start("dns-test-udp") { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                var sender = sockaddr_in()
                var count = socklen_t(MemoryLayout<sockaddr_in>.size)
                let received = withUnsafeMutableBytes(of: &sender) { bytes in
                    recvfrom(
                        datagrams, &buffer, buffer.count, 0,
                        bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &count)
                }
                guard received > 0 else { break }
                guard let question = Self.read(Array(buffer[..<received]), isStream: false) else { continue }
                self?.questions.withLock { $0.append(question) }
                for answer in behaviour(question) {
                    _ = withUnsafeBytes(of: sender) { bytes in
                        sendto(
                            datagrams, answer, answer.count, 0,
                            bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, count)
                    }
                }
            }
            close(datagrams)
        }
        try WorkThread.start("dns-test-tcp") { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let received = recv(connection, &buffer, buffer.count, 0)
                if received > 2, let question = Self.read(Array(buffer[2..<received]), isStream: true) {
                    self?.questions.withLock { $0.append(question) }
                    for answer in behaviour(question) {
                        let bytes = Self.big(UInt16(answer.count)) + answer
                        // In two parts, as a stream may.
                        send(connection, bytes, 5, 0)
                        usleep(20_000)
                        _ = bytes[5...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
                    }
                }
                close(connection)
            }
            close(listener)
        }
    }

    deinit {
        shutdown(datagrams, Int32(SHUT_RDWR))
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The questions so far.
    var asked: [Question] { questions.withLock { $0 } }

    /// A number in network order.
    static func big(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xff)] }

    /// A name as labels.
    static func labels(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    /// A record of an answer, with its owner as labels or as a pointer.
    static func record(_ owner: [UInt8], _ type: UInt16, _ data: [UInt8]) -> [UInt8] {
        owner + big(type) + big(1) + [0, 0, 0, 60] + big(UInt16(data.count)) + data
    }

    /// An address record.
    static func address(_ owner: [UInt8], _ text: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
        inet_pton(text.contains(":") ? AF_INET6 : AF_INET, text, &bytes)
        return record(owner, text.contains(":") ? 28 : 1, bytes)
    }

    /// An answer with its question repeated (RFC 1035, section 4.1).
    static func answer(
        _ question: Question, _ records: [[UInt8]] = [], code: UInt8 = 0, isTruncated: Bool = false
    ) -> [UInt8] {
        big(question.identifier) + [isTruncated ? 0x83 : 0x81, 0x80 | code] + big(1)
            + big(UInt16(records.count)) + big(0) + big(0) + labels(question.name) + big(question.type)
            + big(1)
            + records.flatMap { $0 }
    }

    /// Reads a question.
    private static func read(_ bytes: [UInt8], isStream: Bool) -> Question? {
        guard bytes.count > 16 else { return nil }
        var names: [String] = []
        var index = 12
        while index < bytes.count, bytes[index] > 0 {
            let end = index + 1 + Int(bytes[index])
            guard end < bytes.count else { return nil }
            names.append(String(decoding: bytes[index + 1..<end], as: UTF8.self))
            index = end
        }
        guard index + 3 <= bytes.count else { return nil }
        return Question(
            identifier: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), name: names.joined(separator: "."),
            type: UInt16(bytes[index + 1]) << 8 | UInt16(bytes[index + 2]), isStream: isStream)
    }
}
