// SPDX-License-Identifier: MIT

/// What became of the packets of one batch at a TUN.
package struct TunWriteResult: Hashable, Sendable {
    /// The packets that the kernel took.
    package var packetCount = 0
    /// The packets that it refused: queue full, interface down, or malformed.
    package var droppedCount = 0
    /// The writes that were made; fewer than packets when neighbours were joined.
    package var writeCount = 0
    /// Whether the interface is gone; the packets left over count as dropped.
    package var isGone = false

    /// A result of nothing.
    package init() {}
}
