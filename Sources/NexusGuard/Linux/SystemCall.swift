// SPDX-License-Identifier: MIT

internal import Glibc

/// The one place that reads `errno`: every system call of the engine goes through here.
///
/// An interrupted call (EINTR) is repeated. EBADF and EFAULT stop the programme, because only a defect of this
/// library can cause them; a descriptor that came from outside is first checked with `isOpen`.
package enum SystemCall {
    /// Makes a call that may not block, and returns its result, or `nil` for EAGAIN.
    ///
    /// - Throws: `SystemCallError` for any other refusal.
    @inline(__always)
    package static func ifReady<Result: FixedWidthInteger & SignedInteger>(
        _ name: @autoclosure () -> String, _ body: () -> Result
    ) throws(SystemCallError) -> Result? {
        let result = orNegativeErrno(body)
        if result >= 0 { return result }
        let error = Int32(-result)
        if error == EAGAIN { return nil }
        throw SystemCallError(call: name(), errno: error)
    }

    /// Makes a call and returns its result; here EAGAIN is a refusal like any other.
    ///
    /// - Throws: `SystemCallError`.
    @inline(__always)
    @discardableResult
    package static func run<Result: FixedWidthInteger & SignedInteger>(
        _ name: @autoclosure () -> String, _ body: () -> Result
    ) throws(SystemCallError) -> Result {
        let result = orNegativeErrno(body)
        if result >= 0 { return result }
        throw SystemCallError(call: name(), errno: Int32(-result))
    }

    /// Makes a call and returns its result, or the error number as a negative value.
    ///
    /// The form for hot loops, where a refusal is a value to act on.
    @inline(__always)
    package static func orNegativeErrno<Result: FixedWidthInteger & SignedInteger>(
        _ body: () -> Result
    ) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            // Read before anything else runs: a reference count that drops to zero may free memory, and that
            // may change the error number.
            let error = errno
            if error == EINTR { continue }
            precondition(
                error != EBADF && error != EFAULT, "system calls get open descriptors and valid addresses")
            return Result(truncatingIfNeeded: -error)
        }
    }

    /// Closes a descriptor that is open.
    ///
    /// Linux frees the descriptor even when the call reports EINTR, so the call is never repeated.
    package static func close(_ descriptor: Int32) {
        let result = Glibc.close(descriptor)
        precondition(result == 0 || errno != EBADF, "a descriptor is closed once")
    }

    /// Whether a descriptor that came from outside, such as by the environment, is open.
    package static func isOpen(_ descriptor: Int32) -> Bool {
        fcntl(descriptor, F_GETFD) >= 0
    }
}
