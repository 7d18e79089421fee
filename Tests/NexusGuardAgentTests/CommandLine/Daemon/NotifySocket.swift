// SPDX-License-Identifier: MIT

import CLinux
import Glibc

/// The receiving end of a service manager's notifications.
final class NotifySocket: Sendable {
    /// What stands in `NOTIFY_SOCKET`.
    let address: String
    private let descriptor: Int32
    private let folder: TemporaryFolder

    /// Opens one, with a path or an abstract name.
    init(isAbstract: Bool) throws {
        folder = try TemporaryFolder()
        address = (isAbstract ? "@" : "") + folder.path + "/notify"
        descriptor = socket(AF_UNIX, linux_datagram_socket_type, 0)
        guard descriptor >= 0 else { throw Shell.Failure(call: "socket", number: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        if isAbstract { path[0] = 0 }
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(2 + path.count + (isAbstract ? 0 : 1))
        let result = withUnsafeBytes(of: &target) { bytes in
            bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
        }
        guard result == 0 else { throw Shell.Failure(call: "bind", number: errno) }
    }

    deinit { close(descriptor) }

    /// The next message as its lines; `nil` when there is none now.
    func next() -> [String]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, linux_msg_dontwait)
        guard count >= 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits for a message that has a line.
    func wait(for line: String) async -> [String]? {
        for _ in 0..<30_000 {
            while let message = next() {
                if message.contains(where: { $0 == line || $0.hasPrefix(line + ":") }) { return message }
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }
}
