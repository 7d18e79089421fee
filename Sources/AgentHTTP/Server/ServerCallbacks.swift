// SPDX-License-Identifier: MIT

internal import CMicroHTTPD
internal import Glibc

/// The functions that libmicrohttpd calls, all on the thread of a daemon.
enum ServerCallbacks {
    /// A connection was accepted, or its socket is about to be closed.
    static let connection:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_ConnectionNotificationCode
        ) -> Void = { context, pointer, slot, code in
            guard let daemon = daemon(context), let pointer, let slot else { return }
            if code == .CONNECTION_NOTIFY_STARTED {
                slot.pointee = Unmanaged.passRetained(daemon.opened(pointer)).toOpaque()
            } else if let connection = slot.pointee {
                slot.pointee = nil
                daemon.closed(Unmanaged<ServerConnection>.fromOpaque(connection).takeRetainedValue())
            }
        }

    /// A request line has come; what is returned stands for the request from here on.
    static let target:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
        ) -> UnsafeMutableRawPointer? = { _, text, pointer in
            guard let pointer, let context = ng_mhd_socket_context(pointer) else { return nil }
            let connection = Unmanaged<ServerConnection>.fromOpaque(context).takeUnretainedValue()
            let target = text.map { String(cString: $0) } ?? ""
            let exchange = Exchange(target: target, connection: connection)
            connection.begin(exchange)
            return Unmanaged.passRetained(exchange).toOpaque()
        }

    /// A request makes progress, or its connection was resumed.
    static let access:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> MHD_Result = { context, pointer, _, method, _, data, count, slot in
            guard let daemon = daemon(context), let pointer, let count, let request = slot?.pointee else {
                return .NO
            }
            let exchange = Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue()
            if !exchange.hasHeader { exchange.method = method.map { String(cString: $0) } ?? "" }
            let content = count.pointee > 0 ? UnsafeRawBufferPointer(start: data, count: count.pointee) : nil
            count.pointee = 0
            return daemon.access(exchange, pointer, content: content) ? .YES : .NO
        }

    /// A request has ended in one way or another.
    static let completed:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_RequestTerminationCode
        ) -> Void = { _, _, slot, _ in
            guard let request = slot?.pointee else { return }
            slot?.pointee = nil
            let exchange = Unmanaged<Exchange>.fromOpaque(request).takeRetainedValue()
            exchange.abandon()
            exchange.connection.end(exchange)
        }

    /// Leaves texts as they are: `RequestTarget` decodes, and is stricter.
    static let unescape:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?
        ) -> Int = { _, _, text in text.map { strlen($0) } ?? 0 }

    private static func daemon(_ context: UnsafeMutableRawPointer?) -> ServerDaemon? {
        context.map { Unmanaged<ServerDaemon>.fromOpaque($0).takeUnretainedValue() }
    }
}
