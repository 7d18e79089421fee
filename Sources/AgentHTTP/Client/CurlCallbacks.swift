// SPDX-License-Identifier: MIT

internal import CCurl

/// The functions that libcurl calls; each finds its transfer behind the pointer that libcurl was given.
enum CurlCallbacks {
    /// Takes one line of the header.
    static let header: Write = { data, size, count, context in
        guard let transfer = transfer(context) else { return 0 }
        return transfer.takeHeader(bytes(data, size * count)) ? size * count : 0
    }

    /// Takes a piece of the content.
    static let content: Write = { data, size, count, context in
        guard let transfer = transfer(context) else { return 0 }
        return transfer.takeContent(bytes(data, size * count)) ? size * count : 0
    }

    /// Opens a socket.
    static let socket:
        @convention(c) (
            UnsafeMutableRawPointer?, curlsocktype, UnsafeMutablePointer<curl_sockaddr>?
        ) -> curl_socket_t = { context, _, address in
            guard let address, let transfer = transfer(context) else { return -1 }
            return transfer.openSocket(
                family: address.pointee.family, type: address.pointee.socktype,
                protocol: address.pointee.protocol)
        }

    /// Is asked before a request is sent on a connection.
    static let attempt:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, Int32, Int32
        ) -> Int32 = { context, _, _, _, _ in
            guard let transfer = transfer(context) else { return ng_curl_abort_request }
            return transfer.mayBeSent() ? ng_curl_continue_request : ng_curl_abort_request
        }

    /// A function that takes data and returns how many bytes it took; less than all ends the transfer.
    typealias Write = @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int

    private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func bytes(
        _ data: UnsafeMutablePointer<CChar>?, _ count: Int
    ) -> UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count).bindMemory(to: UInt8.self)
    }
}
