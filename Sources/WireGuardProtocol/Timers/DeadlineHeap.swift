// SPDX-License-Identifier: MIT

/// The next deadline of each peer, earliest first.
///
/// A binary heap of 16 bytes a peer, and a table of each peer's place in it. A peer has at most one deadline.
/// Of equal deadlines the one of the lower peer number comes first, so that runs can be repeated.
@safe
package struct DeadlineHeap: ~Copyable {
    /// One peer's deadline.
    private struct Entry {
        var deadline: Instant
        var peer: UInt32

        /// Whether this entry must not lie below the other one.
        @inline(__always)
        func precedes(_ other: Entry) -> Bool {
            deadline == other.deadline ? peer < other.peer : deadline < other.deadline
        }
    }

    /// The number of peers that have a deadline.
    package private(set) var count = 0

    /// The entry at `n` precedes those at `2 * n + 1` and `2 * n + 2`.
    private var entries: UnsafeMutablePointer<Entry>
    private var capacity = 0
    /// Where each peer's entry is.
    private var places = PeerPositions()

    /// A heap without deadlines.
    package init() {
        unsafe entries = .allocate(capacity: 0)
    }

    /// The earliest deadline and its peer, or `nil` if no peer has one.
    package var first: (deadline: Instant, peer: UInt32)? {
        guard count > 0 else { return nil }
        let entry = unsafe entries[0]
        return (entry.deadline, entry.peer)
    }

    /// Sets or moves the peer's deadline.
    package mutating func set(_ deadline: Instant, for peer: UInt32) {
        precondition(peer != PeerPositions.none, "a peer number is a position in a table")
        let entry = Entry(deadline: deadline, peer: peer)
        let place = places[peer]
        if place == PeerPositions.none {
            if count == capacity { grow() }
            count += 1
            moveUp(entry, from: count - 1)
            return
        }
        let old = unsafe entries[Int(place)].deadline
        if deadline < old {
            moveUp(entry, from: Int(place))
        } else if deadline > old {
            moveDown(entry, from: Int(place))
        }
    }

    /// Takes the peer's deadline, if it has one.
    package mutating func remove(_ peer: UInt32) {
        let place = places[peer]
        guard place != PeerPositions.none else { return }
        places[peer] = PeerPositions.none
        count -= 1
        guard Int(place) < count else { return }
        // The last entry fills the gap; it may belong higher or lower than the one that was there.
        let last = unsafe entries[count]
        if place > 0, unsafe last.precedes(entries[(Int(place) - 1) / 2]) {
            moveUp(last, from: Int(place))
        } else {
            moveDown(last, from: Int(place))
        }
    }

    /// Takes the earliest deadline, if there is one.
    package mutating func removeFirst() {
        guard count > 0 else { return }
        remove(unsafe entries[0].peer)
    }

    /// Puts an entry where it belongs, at `place` or above it; what lies at `place` is overwritten.
    private mutating func moveUp(_ entry: Entry, from place: Int) {
        var place = place
        while place > 0 {
            let parent = (place - 1) / 2
            guard unsafe entry.precedes(entries[parent]) else { break }
            unsafe put(entries[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    /// Puts an entry where it belongs, at `place` or below it; what lies at `place` is overwritten.
    private mutating func moveDown(_ entry: Entry, from place: Int) {
        var place = place
        while 2 * place + 1 < count {
            var child = 2 * place + 1
            if child + 1 < count, unsafe entries[child + 1].precedes(entries[child]) { child += 1 }
            guard unsafe entries[child].precedes(entry) else { break }
            unsafe put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    /// Writes an entry and notes its place.
    private mutating func put(_ entry: Entry, at place: Int) {
        unsafe entries[place] = entry
        places[entry.peer] = UInt32(place)
    }

    /// Doubles the memory.
    private mutating func grow() {
        let larger = max(16, 2 * capacity)
        let moved = UnsafeMutablePointer<Entry>.allocate(capacity: larger)
        unsafe moved.moveInitialize(from: entries, count: count)
        unsafe entries.deallocate()
        unsafe entries = moved
        capacity = larger
    }

    deinit {
        unsafe entries.deallocate()
    }
}
