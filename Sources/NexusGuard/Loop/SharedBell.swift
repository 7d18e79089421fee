// SPDX-License-Identifier: MIT

internal import Glibc

/// A bell that several owners share.
final class SharedBell: Sendable {
    /// The bell.
    let event: EventFD

    /// Creates a silent bell.
    init() throws(SystemCallError) {
        event = try EventFD()
    }

    /// Waits until it rings, and lets it ring; or until the other descriptor is readable.
    func wait(or other: Int32 = -1) {
        var descriptors = [
            pollfd(fd: event.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        while SystemCall.orNegativeErrno({ poll(&descriptors, 2, -1) }) <= 0 {}
    }
}
