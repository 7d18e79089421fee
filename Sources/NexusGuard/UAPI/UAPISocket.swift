// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// The listening socket of the cross-platform userspace interface, at `/var/run/wireguard/NAME.sock`.
///
/// Only its owner may connect. A path at which another process answers is never taken over; one that a dead
/// process left behind is.
package final class UAPISocket: Sendable {
    /// The directory in which `wg` looks.
    package static let defaultDirectory = "/var/run/wireguard"

    /// The listening socket, nonblocking.
    let descriptor: Int32
    /// Where it is bound; empty for an adopted socket without a path.
    package let path: String
    private let identity: FileIdentity?

    /// Binds and listens.
    ///
    /// - Parameters:
    ///   - name: The interface's name.
    ///   - directory: Made with mode 0700 when it is missing.
    /// - Throws: `UAPISocketError`.
    package init(name: String, directory: String = UAPISocket.defaultDirectory) throws(UAPISocketError) {
        let path = "\(directory)/\(name).sock"
        guard let address = UnixAddress(path: path) else { throw .pathTooLong(path: path) }
        let descriptor: Int32
        do throws(SystemCallError) {
            let made = SystemCall.orNegativeErrno { mkdir(directory, 0o700) }
            if made < 0, made != -EEXIST { throw SystemCallError(call: "mkdir", errno: -made) }
            descriptor = try SystemCall.run("socket") { socket(AF_UNIX, linux_stream_socket_type, 0) }
        } catch {
            throw .refused(path: path, error)
        }
        do {
            try Self.bind(descriptor, to: address, directory: directory)
        } catch {
            SystemCall.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.path = path
        identity = FileIdentity(path: path)
    }

    /// Takes over a listening socket that another process bound, such as a service manager.
    ///
    /// - Throws: `UAPISocketError.notAListener`; the descriptor then stays open.
    package init(adopting descriptor: Int32) throws(UAPISocketError) {
        var isListening: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard SystemCall.isOpen(descriptor),
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size) == 0, isListening == 1,
            let path = UnixAddress.path(ofSocket: descriptor)
        else { throw .notAListener(descriptor: descriptor) }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.descriptor = descriptor
        self.path = path
        identity = path.isEmpty ? nil : FileIdentity(path: path)
    }

    /// Whether the path still leads to this socket; an adopted one without a path is always there.
    var isReachable: Bool {
        identity.map { $0 == FileIdentity(path: path) } ?? true
    }

    /// The directory of the path, or `nil` for a socket without a path.
    var directory: String? {
        guard identity != nil, let slash = path.lastIndex(of: "/") else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    deinit {
        // The path may lead to another process's socket by now.
        if identity != nil, isReachable { unlink(path) }
        SystemCall.close(descriptor)
    }

    /// Binds and listens, with nobody of our kind between the look at the path and the taking of it.
    private static func bind(
        _ descriptor: Int32, to address: UnixAddress, directory: String
    ) throws(UAPISocketError) {
        let path = address.path
        do {
            let lock = try SystemCall.run("open") { open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
            // Closing the directory ends the lock.
            defer { SystemCall.close(lock) }
            try SystemCall.run("flock") { flock(lock, LOCK_EX) }
            if let refusal = try removeStaleSocket(at: address) { throw refusal }
            // The kernel gives the path the mode of the socket less the umask: there is no moment in which
            // others may connect, and the umask of the process need not change for it.
            try SystemCall.run("fchmod") { fchmod(descriptor, 0o600) }
            try SystemCall.run("bind") { address.withPointer { Glibc.bind(descriptor, $0, $1) } }
            try SystemCall.run("chmod") { chmod(path, 0o600) }
            try SystemCall.run("listen") { listen(descriptor, 16) }
        } catch let error as UAPISocketError {
            throw error
        } catch let error as SystemCallError {
            throw error.errno == EADDRINUSE ? .alreadyServed(path: path) : .refused(path: path, error)
        } catch {
            preconditionFailure("the calls above throw nothing else")
        }
    }

    /// Removes a socket at which nobody answers.
    ///
    /// - Returns: Why the path can not be taken, or `nil` when it is free.
    private static func removeStaleSocket(
        at address: UnixAddress
    ) throws(SystemCallError) -> UAPISocketError? {
        guard let kind = FileIdentity.kind(path: address.path) else { return nil }
        guard kind == S_IFSOCK else { return .notASocket(path: address.path) }
        let probe = try SystemCall.run("socket") { socket(AF_UNIX, linux_stream_socket_type, 0) }
        defer { SystemCall.close(probe) }
        let result = SystemCall.orNegativeErrno { address.withPointer { connect(probe, $0, $1) } }
        switch -result {
        case ECONNREFUSED: try SystemCall.run("unlink") { unlink(address.path) }
        case ENOENT: break
        // Among the others is EAGAIN: a process listens, but its queue is full.
        default: return .alreadyServed(path: address.path)
        }
        return nil
    }
}
