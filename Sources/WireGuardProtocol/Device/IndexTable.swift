// SPDX-License-Identifier: MIT

package import WireGuardCrypto

/// Finds the handshake or keypair that a receiver index stands for.
///
/// The indices are drawn at random by this host, so they are their own hash. The table is an open-addressed
/// array of 12 bytes a slot, at most half full, searched from the slot that the index names onwards. A
/// removal moves later entries back, so no marks of removed entries slow the search.
@safe
package struct IndexTable: ~Copyable {
    /// What an index stands for.
    package struct Entry: Hashable, Sendable {
        /// The peer's number in the device.
        package var peer: UInt32
        /// What of the peer it is; the device gives the numbers their meaning.
        package var kind: UInt8

        /// An entry for a peer.
        package init(peer: UInt32, kind: UInt8) {
            self.peer = peer
            self.kind = kind
        }
    }

    /// One place of the array.
    private struct Slot: BitwiseCopyable {
        var index: UInt32 = 0
        var peer: UInt32 = 0
        var kind: UInt8 = 0
        var isUsed = false
    }

    /// The number of indices in use.
    package private(set) var count = 0

    private var slots: UnsafeMutablePointer<Slot>
    /// A power of two.
    private var capacity: Int

    /// A table without indices.
    package init() {
        capacity = 64
        unsafe slots = .allocate(capacity: capacity)
        unsafe slots.initialize(repeating: Slot(), count: capacity)
    }

    /// Draws an index that is not in use and gives it to the entry.
    package mutating func insertNew(_ entry: Entry, random: some RandomSource) -> UInt32 {
        if 2 * (count + 1) > capacity { grow() }
        for _ in 0..<Self.attempts {
            let index = random.nextUInt32()
            let position = search(index)
            if unsafe slots[position].isUsed { continue }
            unsafe slots[position] = Slot(index: index, peer: entry.peer, kind: entry.kind, isUsed: true)
            count += 1
            return index
        }
        preconditionFailure("the random source gives the same few numbers")
    }

    /// What an index stands for, or `nil` if it is not in use.
    package func entry(for index: UInt32) -> Entry? {
        let slot = unsafe slots[search(index)]
        return slot.isUsed ? Entry(peer: slot.peer, kind: slot.kind) : nil
    }

    /// Changes what an index stands for; an index that is not in use stays so.
    package mutating func update(_ index: UInt32, _ entry: Entry) {
        let position = search(index)
        guard unsafe slots[position].isUsed else { return }
        unsafe slots[position].peer = entry.peer
        unsafe slots[position].kind = entry.kind
    }

    /// Changes the kind of an entry; an index that is not in use stays so.
    package mutating func setKind(_ kind: UInt8, for index: UInt32) {
        let position = search(index)
        guard unsafe slots[position].isUsed else { return }
        unsafe slots[position].kind = kind
    }

    /// Frees an index; one that is not in use stays so.
    package mutating func remove(_ index: UInt32) {
        var hole = search(index)
        guard unsafe slots[hole].isUsed else { return }
        count -= 1
        let mask = capacity - 1
        var position = (hole + 1) & mask
        while unsafe slots[position].isUsed {
            // An entry moves back into the hole unless the hole lies before the place where its search starts.
            let start = Int(unsafe slots[position].index) & mask
            if (position - start) & mask >= (position - hole) & mask {
                unsafe slots[hole] = slots[position]
                hole = position
            }
            position = (position + 1) & mask
        }
        unsafe slots[hole] = Slot()
    }

    /// The slot of an index, or the free slot where it would go.
    private func search(_ index: UInt32) -> Int {
        let mask = capacity - 1
        var position = Int(index) & mask
        while unsafe slots[position].isUsed && slots[position].index != index {
            position = (position + 1) & mask
        }
        return position
    }

    /// Doubles the array and puts every entry in its new place.
    private mutating func grow() {
        let old = unsafe slots
        let oldCapacity = capacity
        capacity *= 2
        unsafe slots = .allocate(capacity: capacity)
        unsafe slots.initialize(repeating: Slot(), count: capacity)
        for position in 0..<oldCapacity where unsafe old[position].isUsed {
            unsafe slots[search(old[position].index)] = old[position]
        }
        unsafe old.deallocate()
    }

    deinit {
        unsafe slots.deallocate()
    }

    /// Draws before a random source counts as broken. Even with 2^30 indices in use, chance alone would need
    /// this many draws once in 2^256 insertions.
    private static let attempts = 128
}
