// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc

/// Serves the control socket on a thread of its own.
///
/// The thread ends when it is told to, or when the path of the socket is gone; the latter also ends the
/// tunnel, which is how `wg-quick` and others stop a userspace tunnel.
final class UAPISocketServer: Sendable {
    /// The most clients at a time; another one takes the place of the one that came first.
    static let connectionLimit = 64

    private let bell: EventFD
    private let thread: WorkerThread

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - socket: Owned by the thread, which removes its path when it ends.
    ///   - operations: What clients may ask for.
    /// - Throws: `SystemCallError`, when there are no descriptors or threads left.
    init(_ socket: UAPISocket, operations: UAPIOperations) throws(SystemCallError) {
        let bell = try EventFD()
        let box = ServiceBox(
            try UAPISocketService(socket, operations: operations, bell: bell.descriptor))
        self.bell = bell
        thread = try WorkerThread(name: "nexusguard-uapi") { box.runOnce() }
    }

    /// Ends the thread and waits for it; the path of the socket is then gone. Not for the thread itself.
    func stop() {
        bell.ring()
        thread.join()
    }

    /// Hands the service to its thread, which then owns it alone.
    private final class ServiceBox: @unchecked Sendable {
        private var service: UAPISocketService?

        init(_ service: consuming UAPISocketService) {
            self.service = consume service
        }

        func runOnce() {
            service?.run()
            service = nil
        }
    }
}
