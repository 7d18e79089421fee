// SPDX-License-Identifier: MIT

/// Memory for one handshake message.
final class MessageBuffer {
    /// The first byte of the message.
    let start: UnsafeMutableRawPointer
    private let byteCount: Int

    /// Allocates room for a message.
    init(byteCount: Int) {
        self.byteCount = byteCount
        start = .allocate(byteCount: byteCount, alignment: 16)
        start.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    /// The message.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: byteCount) }

    deinit {
        start.deallocate()
    }
}
