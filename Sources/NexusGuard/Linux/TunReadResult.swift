// SPDX-License-Identifier: MIT

/// What one filling of a batch from a TUN gave.
package struct TunReadResult: Hashable, Sendable {
    /// The packets that were added to the batch.
    package var packetCount = 0
    /// The reads that were dropped since their virtio header does not fit the packet.
    package var malformedCount = 0
    /// Whether there may be more to read: the batch is full.
    package var isFull = false
    /// Whether the interface is gone.
    package var isGone = false

    /// A result of nothing.
    package init() {}
}
