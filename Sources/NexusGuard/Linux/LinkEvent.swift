// SPDX-License-Identifier: MIT

/// A change of the tunnel interface that was made from outside.
package enum LinkEvent: Hashable, Sendable {
    /// The interface was taken up.
    case up
    /// The interface was taken down.
    case down
    /// The size of the largest packet is another one.
    case mtu(Int)
    /// The interface was deleted.
    case removed
    /// The interface was moved to another network namespace: it lives, and `TunInterface.follow` finds it.
    case moved
}
