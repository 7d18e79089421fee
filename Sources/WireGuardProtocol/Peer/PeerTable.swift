// SPDX-License-Identifier: MIT

/// The peers of a device by number; a number stays with its peer and is used again after removal.
///
/// Each peer has memory of its own, reached by address: on the way of a packet there is neither reference
/// counting nor a check of exclusive access.
@safe
struct PeerTable: ~Copyable {
    private var slots: UnsafeMutablePointer<UnsafeMutablePointer<Peer>?>
    private var capacity: Int
    /// One more than the highest number in use.
    private var end: UInt32 = 0
    private var free: [UInt32] = []
    /// The number of peers.
    private(set) var count = 0
    /// The order in which peers were added, for listings; numbers are used again, so they do not tell.
    private var added: [UInt32: UInt64] = [:]
    private var additions: UInt64 = 0

    /// An empty table.
    init() {
        capacity = 8
        unsafe slots = .allocate(capacity: capacity)
        unsafe slots.initialize(repeating: nil, count: capacity)
    }

    /// The peer with a number that is in use.
    subscript(number: UInt32) -> Peer {
        unsafeAddress { unsafe UnsafePointer(pointer(number)) }
        unsafeMutableAddress { unsafe pointer(number) }
    }

    /// The address of a peer.
    private func pointer(_ number: UInt32) -> UnsafeMutablePointer<Peer> {
        guard number < end, let peer = unsafe slots[Int(number)] else {
            preconditionFailure("a peer number outlived its peer")
        }
        return unsafe peer
    }

    /// Whether a number is in use.
    func contains(_ number: UInt32) -> Bool {
        guard number < end else { return false }
        return unsafe slots[Int(number)] != nil
    }

    /// The numbers in use, in the order in which the peers were added.
    var numbers: [UInt32] {
        added.sorted { $0.value < $1.value }.map(\.key)
    }

    /// Adds a peer and gives its number.
    mutating func insert(_ peer: consuming Peer) -> UInt32 {
        let number = free.popLast() ?? end
        if number == end {
            if Int(end) == capacity { grow() }
            end += 1
        }
        let pointer = UnsafeMutablePointer<Peer>.allocate(capacity: 1)
        unsafe pointer.initialize(to: peer)
        unsafe slots[Int(number)] = unsafe pointer
        added[number] = additions
        additions += 1
        count += 1
        return number
    }

    /// Removes a peer and erases what it held.
    mutating func remove(_ number: UInt32) {
        let peer = unsafe pointer(number)
        unsafe slots[Int(number)] = nil
        unsafe peer.deinitialize(count: 1)
        unsafe peer.deallocate()
        added[number] = nil
        free.append(number)
        count -= 1
    }

    /// Doubles the room; the peers stay where they are.
    private mutating func grow() {
        let larger = UnsafeMutablePointer<UnsafeMutablePointer<Peer>?>.allocate(capacity: 2 * capacity)
        unsafe larger.moveInitialize(from: slots, count: capacity)
        unsafe (larger + capacity).initialize(repeating: nil, count: capacity)
        unsafe slots.deallocate()
        unsafe slots = unsafe larger
        capacity *= 2
    }

    deinit {
        for index in 0..<Int(end) {
            guard let peer = unsafe slots[index] else { continue }
            unsafe peer.deinitialize(count: 1)
            unsafe peer.deallocate()
        }
        unsafe slots.deallocate()
    }
}
