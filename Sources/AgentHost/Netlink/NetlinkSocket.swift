// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// A netlink socket for requests, in the network namespace of the thread that makes it.
struct NetlinkSocket: ~Copyable {
    private let descriptor: Int32
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Times to ask again when a dump was overtaken by changes.
    private static let mostDumps = 8
    /// Seconds to wait for the kernel, which answers at once unless something is badly wrong.
    private static let secondsToWait = 5

    /// Opens a socket.
    ///
    /// - Parameter family: Of `NetlinkProtocol`.
    /// - Throws: `HostError.refused`.
    init(_ family: Int32 = NetlinkProtocol.route) throws(HostError) {
        descriptor = try Self.open(family, groups: 0, type: linux_netlink_blocking_socket_type)
        var limit = timeval(tv_sec: Self.secondsToWait, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        for option in [
            NetlinkProtocol.capAcknowledgement, NetlinkProtocol.extendedAcknowledgement,
            NetlinkProtocol.strictChecks,
        ] {
            // Older kernels lack some of these: they then say less, and dump more than was asked for.
            var on: Int32 = 1
            setsockopt(
                descriptor, NetlinkProtocol.optionLevel, option, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Opens a socket that is subscribed to groups of notifications.
    static func open(_ family: Int32, groups: UInt32, type: Int32) throws(HostError) -> Int32 {
        let number = socket(linux_af_netlink, type, family)
        guard number >= 0 else { throw .refused(operation: "socket AF_NETLINK", errno: errno, detail: nil) }
        var address = linux_netlink_address()
        address.family = UInt16(linux_af_netlink)
        address.groups = groups
        let result = withUnsafeBytes(of: &address) { bytes in
            bind(number, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard result == 0 else {
            let error = errno
            Glibc.close(number)
            throw .refused(operation: "bind AF_NETLINK", errno: error, detail: nil)
        }
        return number
    }

    /// Sends a request and waits until the kernel has carried it out.
    ///
    /// - Parameter operation: What is done, for the error.
    /// - Throws: `HostError.refused`.
    mutating func perform(_ request: NetlinkRequest, _ operation: @autoclosure () -> String) throws(HostError)
    {
        var request = request
        request.flags |= NetlinkFlag.acknowledge
        let number = try send(request, operation())
        try collect(number, operation()) { _ in }
    }

    /// Sends a question and returns the one message of its answer.
    ///
    /// - Throws: `HostError.refused`.
    mutating func ask(
        _ request: NetlinkRequest, _ operation: @autoclosure () -> String
    ) throws(HostError) -> NetlinkMessage? {
        var request = request
        request.flags |= NetlinkFlag.acknowledge
        let number = try send(request, operation())
        var answer: NetlinkMessage?
        try collect(number, operation()) { answer = $0 }
        return answer
    }

    /// Asks for a list and returns its messages.
    ///
    /// - Throws: `HostError.refused`.
    mutating func dump(
        _ request: NetlinkRequest, _ operation: @autoclosure () -> String
    ) throws(HostError) -> [NetlinkMessage] {
        var request = request
        request.flags |= NetlinkFlag.dump
        for _ in 0..<Self.mostDumps {
            let number = try send(request, operation())
            var messages: [NetlinkMessage] = []
            var isInterrupted = false
            try collect(number, operation()) { message in
                if message.flags & NetlinkFlag.interrupted != 0 { isInterrupted = true }
                messages.append(message)
            } ended: { flags in
                if flags & NetlinkFlag.interrupted != 0 { isInterrupted = true }
            }
            if !isInterrupted { return messages }
        }
        throw .refused(operation: operation(), errno: EINTR, detail: "the list keeps changing")
    }

    /// Sends messages that the kernel carries out all or none, and waits for the answer to the last one.
    ///
    /// - Throws: `HostError.refused` with the first refusal.
    mutating func performBatch(
        begin: NetlinkRequest, _ requests: [NetlinkRequest], end: NetlinkRequest, _ operation: String
    ) throws(HostError) {
        var bytes: [UInt8] = []
        var numbers: Set<UInt32> = []
        for request in [begin] + requests + [end] {
            sequence &+= 1
            bytes += request.message(sequence: sequence)
            if request.flags & NetlinkFlag.acknowledge != 0 { numbers.insert(sequence) }
        }
        let first = sequence &- UInt32(requests.count + 1)
        try write(bytes, operation)
        while !numbers.isEmpty {
            for message in try receive(operation)
            where message.sequence >= first && message.sequence <= sequence
                && message.type == NetlinkType.error
            {
                if let refusal = Self.refusal(in: message, operation) { throw refusal }
                numbers.remove(message.sequence)
            }
        }
    }

    /// Sends a request and returns its number.
    private mutating func send(_ request: NetlinkRequest, _ operation: String) throws(HostError) -> UInt32 {
        sequence &+= 1
        try write(request.message(sequence: sequence), operation)
        return sequence
    }

    private func write(_ bytes: [UInt8], _ operation: String) throws(HostError) {
        var count: Int
        repeat {
            count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
        } while count < 0 && errno == EINTR
        guard count == bytes.count else {
            throw .refused(operation: operation, errno: count < 0 ? errno : EMSGSIZE, detail: nil)
        }
    }

    /// Hands every message of one answer to `body`, up to its end.
    private mutating func collect(
        _ number: UInt32, _ operation: String, _ body: (NetlinkMessage) -> Void,
        ended: (UInt16) -> Void = { _ in }
    ) throws(HostError) {
        while true {
            for message in try receive(operation) where message.sequence == number {
                switch message.type {
                case NetlinkType.error:
                    if let refusal = Self.refusal(in: message, operation) { throw refusal }
                    return
                case NetlinkType.done:
                    ended(message.flags)
                    if let code: Int32 = message.payload.number(), code < 0 {
                        throw .refused(operation: operation, errno: -code, detail: nil)
                    }
                    return
                default: body(message)
                }
            }
        }
    }

    /// The messages of the next datagram of the kernel.
    private mutating func receive(_ operation: String) throws(HostError) -> [NetlinkMessage] {
        while true {
            var sender = linux_netlink_address()
            var senderByteCount = socklen_t(MemoryLayout<linux_netlink_address>.size)
            let count = buffer.withUnsafeMutableBytes { bytes in
                withUnsafeMutableBytes(of: &sender) { address in
                    recvfrom(
                        descriptor, bytes.baseAddress, bytes.count, linux_msg_truncated,
                        address.assumingMemoryBound(to: sockaddr.self).baseAddress, &senderByteCount)
                }
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .refused(operation: operation, errno: errno, detail: "no answer of the kernel")
            }
            guard count <= buffer.count else {
                throw .refused(operation: operation, errno: EMSGSIZE, detail: "an answer is too long")
            }
            // Any process may send to this socket; only the kernel has the port 0.
            if sender.port == 0 { return NetlinkMessage.messages(in: buffer[..<count]) }
        }
    }

    /// What an acknowledgement refuses; `nil` when all is well.
    private static func refusal(in message: NetlinkMessage, _ operation: String) -> HostError? {
        guard let code: Int32 = message.payload.number(), code != 0 else { return nil }
        var detail: String?
        if message.flags & NetlinkFlag.acknowledgementAttributes != 0,
            let length: UInt32 = message.payload.number(at: 4)
        {
            let isCapped = message.flags & NetlinkFlag.cappedAcknowledgement != 0
            let repeated = isCapped ? NetlinkRequest.headerByteCount : Int(length)
            for attribute in message.attributes(after: 4 + repeated) where attribute.type == 1 {
                detail = attribute.bytes.text
            }
        }
        return .refused(operation: operation, errno: code < 0 ? -code : code, detail: detail)
    }
}
