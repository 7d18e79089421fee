// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// The state of the control socket's thread.
struct UAPISocketService: ~Copyable {
    private let socket: UAPISocket
    private let operations: UAPIOperations
    private let epoll: Epoll
    private let watch: Int32?
    private let scratch: UnsafeMutableRawBufferPointer
    private var connections: [UInt64: UAPISocketConnection] = [:]
    private var nextToken = Token.firstConnection

    /// The numbers of what the thread waits for.
    private enum Token {
        static let bell: UInt64 = 0
        static let listener: UInt64 = 1
        static let watch: UInt64 = 2
        static let firstConnection: UInt64 = 3
    }

    /// Prepares to serve.
    ///
    /// - Parameter bell: A descriptor that becomes readable when the thread shall end.
    /// - Throws: `SystemCallError`.
    init(_ socket: UAPISocket, operations: UAPIOperations, bell: Int32) throws(SystemCallError) {
        let epoll = try Epoll()
        try epoll.add(bell, for: .readable, token: Token.bell)
        try epoll.add(socket.descriptor, for: .readable, token: Token.listener)
        let watch = Self.watch(socket)
        // Without a watch the tunnel runs all the same.
        if let watch { _ = try? epoll.add(watch, for: .readable, token: Token.watch) }
        self.socket = socket
        self.operations = operations
        self.epoll = epoll
        self.watch = watch
        scratch = .allocate(byteCount: 16_384, alignment: 16)
    }

    /// Serves until the bell rings or the path of the socket is gone.
    mutating func run() {
        while true {
            let count: Int
            do {
                count = try epoll.wait(until: nil)
            } catch {
                operations.note("the control socket is no longer served: \(error)")
                return
            }
            for index in 0..<count {
                let event = epoll.event(index)
                switch event.token {
                case Token.bell: return
                case Token.listener: accept()
                case Token.watch:
                    guard isStillReachable() else {
                        operations.end()
                        return
                    }
                default: proceed(event.token)
                }
            }
        }
    }

    /// Takes the clients that wait.
    private mutating func accept() {
        // Bounded, so that the clients that are there get their turn.
        for _ in 0..<16 {
            let descriptor = SystemCall.orNegativeErrno { linux_accept(socket.descriptor) }
            guard descriptor >= 0 else {
                // With no descriptor left the listener would stay ready for ever: make one free.
                if descriptor == -EMFILE || descriptor == -ENFILE { closeOldest() }
                return
            }
            if connections.count >= UAPISocketServer.connectionLimit { closeOldest() }
            let token = nextToken
            nextToken += 1
            let connection = UAPISocketConnection(adopting: descriptor)
            guard (try? epoll.add(descriptor, for: .readable, token: token)) != nil else { continue }
            connections[token] = connection
        }
    }

    /// Lets one client get ahead.
    private mutating func proceed(_ token: UInt64) {
        guard let connection = connections[token] else { return }
        let former = connection.interest
        connection.proceed(operations, scratch: scratch)
        if connection.interest == .end {
            close(token)
        } else if connection.interest != former {
            let readiness: Epoll.Readiness = connection.interest == .room ? .writable : .readable
            guard (try? epoll.modify(connection.descriptor, for: readiness, token: token)) != nil else {
                close(token)
                return
            }
        }
    }

    private mutating func close(_ token: UInt64) {
        guard let connection = connections.removeValue(forKey: token) else { return }
        // Closing takes the descriptor out of the set as well; a refusal means no more than that.
        _ = try? epoll.remove(connection.descriptor)
    }

    private mutating func closeOldest() {
        if let oldest = connections.keys.min() { close(oldest) }
    }

    /// Empties the watch, and looks at the path.
    private func isStillReachable() -> Bool {
        if let watch {
            while SystemCall.orNegativeErrno({ read(watch, scratch.baseAddress, scratch.count) }) > 0 {}
        }
        return socket.isReachable
    }

    /// A descriptor that becomes readable when an entry of the socket's directory goes, or `nil` when there
    /// is no path or the system's limit of watches is reached.
    private static func watch(_ socket: UAPISocket) -> Int32? {
        guard let directory = socket.directory else { return nil }
        let descriptor = SystemCall.orNegativeErrno { inotify_init1(linux_inotify_flags) }
        guard descriptor >= 0 else { return nil }
        let result = SystemCall.orNegativeErrno {
            inotify_add_watch(descriptor, directory, linux_inotify_entry_gone)
        }
        guard result >= 0 else {
            SystemCall.close(descriptor)
            return nil
        }
        return descriptor
    }

    deinit {
        if let watch { SystemCall.close(watch) }
        scratch.deallocate()
    }
}
