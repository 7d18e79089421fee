// SPDX-License-Identifier: MIT

/// How much memory and time the loop gives to what, in one place.
///
/// With these numbers a tunnel holds about 2 MiB of buffers: the two batches here (roughly 0.4 MiB each, of
/// which an idle tunnel touches almost nothing), one 64 KiB read of the interface, the receive buffers of
/// the sockets, and at most 8 MiB more of packets that wait for handshakes.
enum EngineBudget {
    /// The packets of one batch.
    static let slotCount = 128
    /// The bytes of packets of one batch: the segments of two to three reads of 64 KiB.
    static let batchByteCount = 192 * 1024
    /// How often the loop moves one batch each way before it looks at commands, timers and the link again.
    static let roundsPerWake = 8
}
