// SPDX-License-Identifier: MIT

internal import CMicroHTTPD
internal import Glibc

/// One daemon of libmicrohttpd: a listening socket, and a thread that serves its connections.
///
/// The pointer is used by `init` and `stop` alone, which do not overlap, so threads may share the object.
final class ServerDaemon: @unchecked Sendable {
    let socket: ListeningSocket
    private let core: ServerCore
    private let identity: TLSIdentity?
    private var pointer: OpaquePointer?

    /// Starts to serve a listener.
    init(_ listener: HTTPListener, core: ServerCore) throws(HTTPServerError) {
        if case .tcp(_, _, let identity?) = listener {
            try identity.check()
            self.identity = identity
        } else {
            identity = nil
        }
        self.core = core
        socket = try ListeningSocket(listener)
        // libmicrohttpd closes its descriptor when it fails, but not always: it gets one of its own.
        let duplicate = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
        pointer = duplicate < 0 ? nil : start(duplicate)
        if pointer == nil {
            socket.close()
            throw .failed("libmicrohttpd does not start")
        }
    }

    /// Takes no more connections and removes the path of the socket; those that are open go on.
    func stopListening() {
        socket.close()
        guard let pointer else { return }
        let duplicate = MHD_quiesce_daemon(pointer)
        if duplicate >= 0 { Glibc.close(duplicate) }
    }

    /// Ends the thread. No connection may be suspended, or libmicrohttpd aborts the process.
    func stop() {
        if let pointer { MHD_stop_daemon(pointer) }
        pointer = nil
    }

    private func start(_ descriptor: Int32) -> OpaquePointer? {
        // The server holds this object until the daemon has stopped.
        let context = Unmanaged.passUnretained(self).toOpaque()
        var options = [
            item(.LISTEN_SOCKET, Int(descriptor)),
            item(.CONNECTION_MEMORY_LIMIT, max(core.options.headerLimit, 2048)),
            item(.CONNECTION_LIMIT, max(core.options.connectionLimit, 1)),
            item(.PER_IP_CONNECTION_LIMIT, max(core.options.connectionsPerAddress, 0)),
            // The time-outs are those of `ServerConnection`; libmicrohttpd's begin anew with each byte.
            item(.CONNECTION_TIMEOUT, 0),
            item(.STRICT_FOR_CLIENT, 1),
            item(.NOTIFY_CONNECTION, unsafeBitCast(ServerCallbacks.connection, to: Int.self), context),
            item(.URI_LOG_CALLBACK, unsafeBitCast(ServerCallbacks.target, to: Int.self), context),
            item(.NOTIFY_COMPLETED, unsafeBitCast(ServerCallbacks.completed, to: Int.self), context),
            item(.UNESCAPE_CALLBACK, unsafeBitCast(ServerCallbacks.unescape, to: Int.self), context),
        ]
        var flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_SUSPEND_RESUME.rawValue
        guard let identity else { return start(flags, options, context) }
        flags |= MHD_USE_TLS.rawValue
        return identity.certificatePEM.withCString { certificate in
            Self.priorities.withCString { priorities in
                options += [
                    item(.HTTPS_MEM_KEY, 0, UnsafeMutableRawPointer(mutating: identity.keyText)),
                    item(.HTTPS_MEM_CERT, 0, UnsafeMutableRawPointer(mutating: certificate)),
                    item(.HTTPS_PRIORITIES, 0, UnsafeMutableRawPointer(mutating: priorities)),
                ]
                return start(flags, options, context)
            }
        }
    }

    private func start(
        _ flags: UInt32, _ options: [MHD_OptionItem], _ context: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        var list = options + [item(.END, 0)]
        return list.withUnsafeMutableBufferPointer { list in
            guard let start = list.baseAddress else { return nil }
            let arguments: [any CVarArg] = [
                Int32(bitPattern: MHD_OPTION.ARRAY.rawValue), start,
                Int32(bitPattern: MHD_OPTION.END.rawValue),
            ]
            return withVaList(arguments) { arguments in
                WorkerThread.withSignalsBlocked {
                    MHD_start_daemon_va(flags, 0, nil, nil, ServerCallbacks.access, context, arguments)
                }
            }
        }
    }

    private func item(
        _ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil
    ) -> MHD_OptionItem {
        MHD_OptionItem(option: option, value: value, ptr_value: pointer)
    }

    /// A connection has been accepted.
    func opened(_ pointer: OpaquePointer) -> ServerConnection {
        let descriptor = ng_mhd_socket(pointer)
        let peer = ServerPeer(descriptor: descriptor, address: ng_mhd_client_address(pointer))
        let connection = ServerConnection(
            descriptor: descriptor, peer: peer, isTLS: identity != nil, core: core)
        core.add(connection)
        return connection
    }

    /// The socket of a connection is about to be closed.
    func closed(_ connection: ServerConnection) {
        connection.close()
        core.remove(connection)
    }

    /// Takes the next step of a request; returns whether the connection goes on.
    ///
    /// - Parameter content: A piece of the content; `nil` when the header or the whole request has come.
    func access(_ exchange: Exchange, _ pointer: OpaquePointer, content: UnsafeRawBufferPointer?) -> Bool {
        if let content {
            return exchange.take(content)
        }
        if !exchange.hasHeader {
            exchange.readHeader(of: pointer, options: core.options)
            guard let refusal = exchange.refusal, !exchange.readsOn else { return true }
            return send(.response(refusal), nil, for: exchange, pointer)
        }
        if let (reply, writer) = exchange.takeReply() { return send(reply, writer, for: exchange, pointer) }
        if let refusal = exchange.refusal { return send(.response(refusal), nil, for: exchange, pointer) }
        guard !exchange.isAbandoned else { return false }
        exchange.connection.noteRequestComplete()
        guard let request = exchange.request() else { return false }
        return exchange.handle(request, suspending: pointer, by: core)
    }

    private func send(
        _ reply: ServerReply, _ writer: StreamWriter?, for exchange: Exchange, _ pointer: OpaquePointer
    ) -> Bool {
        let isLast = exchange.connection.noteReply(stream: writer)
        let closes = isLast || exchange.refusal != nil
        let response = ServerReplies.response(
            reply, writer: writer, further: core.options.headers, closes: closes, on: pointer)
        guard let response else { return false }
        defer { MHD_destroy_response(response.pointer) }
        return MHD_queue_response(pointer, UInt32(response.status), response.pointer) == .YES
    }

    /// TLS 1.2 and later, as everywhere in this project.
    private static let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
}
