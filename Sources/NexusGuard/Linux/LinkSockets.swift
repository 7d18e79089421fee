// SPDX-License-Identifier: MIT

internal import CLinux

/// The two sockets by which an interface in another network namespace is asked about and watched.
///
/// A socket stays for ever in the namespace in which it was made. They are made on a thread that enters the
/// namespace and ends, so that no other thread changes its own.
struct LinkSockets: Sendable {
    /// For `InterfaceControl`.
    let control: Int32
    /// For `LinkWatch`.
    let watch: Int32

    /// Opens both; they are the caller's to close.
    ///
    /// - Parameter namespace: A descriptor of the namespace.
    /// - Throws: `SystemCallError`; EPERM without CAP_SYS_ADMIN there.
    init(in namespace: Int32) throws(SystemCallError) {
        nonisolated(unsafe) var result: Result<LinkSockets, SystemCallError>?
        let thread = try WorkerThread(name: "namespace") {
            do throws(SystemCallError) {
                result = .success(try LinkSockets(entering: namespace))
            } catch {
                result = .failure(error)
            }
        }
        thread.join()
        guard let result else { preconditionFailure("a thread that was waited for has run") }
        self = try result.get()
    }

    private init(entering namespace: Int32) throws(SystemCallError) {
        try SystemCall.run("setns") { linux_setns(namespace, linux_clone_newnet) }
        control = try InterfaceControl.openSocket()
        do throws(SystemCallError) {
            watch = try LinkWatch.openSocket()
        } catch {
            SystemCall.close(control)
            throw error
        }
    }
}
