// SPDX-License-Identifier: MIT

/// How much memory and time the loop gives to what, in one place.
///
/// With these numbers a tunnel holds about 1.1 MiB of buffers: the two batches here (240 KiB each), one read of
/// the interface (64 KiB) and the receive area of the sockets (512 KiB). Packets that wait for handshakes add at
/// most 8 MiB. An idle tunnel has touched little of it.
enum EngineBudget {
    /// The packets of one batch.
    static let slotCount = 128
    /// The bytes of packets of one batch: the segments of two to three reads of 64 KiB.
    static let batchByteCount = 192 * 1024
    /// How often the loop moves one batch each way before it looks at commands, timers and the link again.
    static let roundsPerWake = 8
}
