// SPDX-License-Identifier: MIT

/// A position for each peer number: where the peer's entry is in a table, or `PeerPositions.none`.
///
/// Peer numbers are small, so a plain array of 4 bytes a peer serves: it is at most twice as long as the
/// largest peer number that ever had a position asks for.
@safe
struct PeerPositions: ~Copyable {
    /// The position of a peer that has none.
    static let none = UInt32.max

    private var positions: UnsafeMutablePointer<UInt32>
    private var capacity = 0

    /// Positions of which every one is `none`.
    init() {
        unsafe positions = .allocate(capacity: 0)
    }

    /// The position of a peer; setting it to anything but `none` may grow the array.
    subscript(peer: UInt32) -> UInt32 {
        @inline(__always) get {
            peer < capacity ? unsafe positions[Int(peer)] : Self.none
        }
        @inline(__always) set {
            if peer >= capacity {
                guard newValue != Self.none else { return }
                grow(toHold: peer)
            }
            unsafe positions[Int(peer)] = newValue
        }
    }

    /// Doubles the array until it holds this peer.
    private mutating func grow(toHold peer: UInt32) {
        var larger = max(16, capacity)
        while larger <= peer { larger *= 2 }
        let moved = UnsafeMutablePointer<UInt32>.allocate(capacity: larger)
        unsafe moved.initialize(from: positions, count: capacity)
        unsafe (moved + capacity).initialize(repeating: Self.none, count: larger - capacity)
        unsafe positions.deallocate()
        unsafe positions = moved
        capacity = larger
    }

    deinit {
        unsafe positions.deallocate()
    }
}
