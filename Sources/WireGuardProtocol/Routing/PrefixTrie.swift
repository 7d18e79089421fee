// SPDX-License-Identifier: MIT

/// A path-compressed binary trie from the prefixes of one address family to peers.
///
/// `Key` is an address as a number: `UInt32` for IPv4, `UInt128` for IPv6. A node stands for a prefix. It
/// either belongs to a peer or is a fork, which exists only to hold two subtries; a fork with fewer than
/// two children is never kept. So n prefixes take fewer than 2n nodes, and a lookup visits at most one node
/// for each bit of the address.
///
/// Nodes lie in one block of memory and name each other by position: 32 bytes a node for IPv4 and 48 for
/// IPv6. Nodes given back are reused, and a trie that becomes empty gives back a large block whole. The
/// prefixes of one peer form a doubly linked list through the nodes.
@safe
struct PrefixTrie<Key: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>: ~Copyable {
    /// The peer of a fork, the position of no node, and the list of a peer without prefixes.
    static var none: UInt32 { PeerPositions.none }

    /// The number of prefixes.
    private(set) var count = 0
    /// The number of nodes in use: prefixes and forks.
    private(set) var nodeCount = 0

    private var nodes: UnsafeMutablePointer<Node>
    private var capacity = 0
    /// The nodes from here on were never in use.
    private var used: UInt32 = 0
    /// The first node given back; the others follow by `next`.
    private var free: UInt32
    private var root: UInt32
    /// The first prefix of each peer.
    private var lists = PeerPositions()

    /// A trie without prefixes.
    init() {
        unsafe nodes = .allocate(capacity: 0)
        free = Self.none
        root = Self.none
    }

    /// One prefix, or a fork between two.
    private struct Node: BitwiseCopyable {
        /// The prefix; the bits behind its length are zero.
        var key: Key
        /// The peer that has the prefix, or `none` for a fork.
        var peer: UInt32
        /// The node that this one hangs from.
        var parent: UInt32
        /// The longer prefixes whose next bit is 0.
        var zero: UInt32
        /// The longer prefixes whose next bit is 1.
        var one: UInt32
        /// The neighbours in the list of the peer's prefixes.
        var previous: UInt32
        var next: UInt32
        /// The number of bits of the prefix.
        var length: UInt8
    }

    /// The peer with the longest prefix that holds the address, or `none`.
    func lookup(_ address: Key) -> UInt32 {
        var best = Self.none
        var position = root
        while position != Self.none {
            let node = unsafe nodes + Int(position)
            let common = unsafe (node.pointee.key ^ address).leadingZeroBitCount
            guard unsafe common >= Int(node.pointee.length) else { break }
            if unsafe node.pointee.peer != Self.none { best = unsafe node.pointee.peer }
            // A node of full length has no children, so the bit asked for past the end is without effect.
            position =
                unsafe Self.bit(Int(node.pointee.length), of: address) ? node.pointee.one : node.pointee.zero
        }
        return best
    }

    /// Gives a prefix, whose bits behind its length are zero, to a peer.
    mutating func insert(_ key: Key, length: Int, peer: UInt32) {
        var parent = Self.none
        var position = root
        var common = 0
        while position != Self.none {
            let node = unsafe nodes[Int(position)]
            let nodeLength = Int(node.length)
            common = min(length, nodeLength, (node.key ^ key).leadingZeroBitCount)
            if common < nodeLength { break }
            if nodeLength == length {
                give(position, to: peer)
                return
            }
            parent = position
            position = Self.bit(nodeLength, of: key) ? node.one : node.zero
        }
        let new = makeNode(key, length: length)
        if position == Self.none {
            hang(new, from: parent)
        } else if common == length {
            // The new prefix holds the one that was here.
            hang(new, from: parent)
            hang(position, from: new)
        } else {
            let fork = makeNode(key & ~(Key.max >> Key(common)), length: common)
            hang(fork, from: parent)
            hang(position, from: fork)
            hang(new, from: fork)
        }
        give(new, to: peer)
    }

    /// Takes a prefix from a peer; returns whether the peer had it.
    mutating func remove(_ key: Key, length: Int, peer: UInt32) -> Bool {
        var position = root
        while position != Self.none {
            let node = unsafe nodes[Int(position)]
            let nodeLength = Int(node.length)
            guard nodeLength <= length, (node.key ^ key).leadingZeroBitCount >= nodeLength else {
                return false
            }
            if nodeLength == length {
                guard node.peer == peer else { return false }
                take(position)
                return true
            }
            position = Self.bit(nodeLength, of: key) ? node.one : node.zero
        }
        return false
    }

    /// Takes all prefixes of a peer, in time proportional to their number.
    mutating func removeAll(peer: UInt32) {
        while lists[peer] != Self.none { take(lists[peer]) }
    }

    /// Calls `body` with each prefix of a peer, in no particular order.
    func forEachPrefix(of peer: UInt32, _ body: (Key, Int) -> Void) {
        var position = lists[peer]
        while position != Self.none {
            let node = unsafe nodes[Int(position)]
            body(node.key, Int(node.length))
            position = node.next
        }
    }

    // MARK: Prefixes and their peers

    /// Makes a node a prefix of this peer, whether it was a fork or another peer's prefix.
    private mutating func give(_ position: UInt32, to peer: UInt32) {
        let node = unsafe nodes + Int(position)
        if unsafe node.pointee.peer == peer { return }
        if unsafe node.pointee.peer == Self.none { count += 1 } else { unlist(position) }
        let first = lists[peer]
        unsafe node.pointee.peer = peer
        unsafe node.pointee.previous = Self.none
        unsafe node.pointee.next = first
        if first != Self.none { unsafe nodes[Int(first)].previous = position }
        lists[peer] = position
    }

    /// Takes a node out of its peer's list.
    private mutating func unlist(_ position: UInt32) {
        let node = unsafe nodes[Int(position)]
        if node.previous == Self.none {
            lists[node.peer] = node.next
        } else {
            unsafe nodes[Int(node.previous)].next = node.next
        }
        if node.next != Self.none { unsafe nodes[Int(node.next)].previous = node.previous }
        unsafe nodes[Int(position)].peer = Self.none
    }

    /// Takes a prefix from its peer, and every node out of the trie that this leaves without purpose.
    private mutating func take(_ position: UInt32) {
        unlist(position)
        count -= 1
        let node = unsafe nodes[Int(position)]
        if node.zero != Self.none, node.one != Self.none { return }
        if node.zero != Self.none || node.one != Self.none {
            replaceByOnlyChild(position)
        } else {
            clearLink(to: position)
            freeNode(position)
            if node.parent != Self.none, unsafe nodes[Int(node.parent)].peer == Self.none {
                // A fork has two children, so the one that is left takes its place.
                replaceByOnlyChild(node.parent)
            }
        }
        if nodeCount == 0 { forgetNodes() }
    }

    // MARK: Nodes and their parents

    /// Whether the bit at `index` is 1; bit 0 is the first of the address.
    @inline(__always)
    private static func bit(_ index: Int, of key: Key) -> Bool {
        (key &<< Key(truncatingIfNeeded: index)).leadingZeroBitCount == 0
    }

    /// Hangs a node from a parent, on the side where its key belongs; from `none` it becomes the root.
    private mutating func hang(_ position: UInt32, from parent: UInt32) {
        unsafe nodes[Int(position)].parent = parent
        if parent == Self.none {
            root = position
        } else if Self.bit(Int(unsafe nodes[Int(parent)].length), of: unsafe nodes[Int(position)].key) {
            unsafe nodes[Int(parent)].one = position
        } else {
            unsafe nodes[Int(parent)].zero = position
        }
    }

    /// Clears the link from a node's parent to the node.
    private mutating func clearLink(to position: UInt32) {
        let parent = unsafe nodes[Int(position)].parent
        if parent == Self.none {
            root = Self.none
        } else if unsafe nodes[Int(parent)].zero == position {
            unsafe nodes[Int(parent)].zero = Self.none
        } else {
            unsafe nodes[Int(parent)].one = Self.none
        }
    }

    /// Hangs the only child of a node in the node's place and frees the node.
    private mutating func replaceByOnlyChild(_ position: UInt32) {
        let node = unsafe nodes[Int(position)]
        hang(node.zero == Self.none ? node.one : node.zero, from: node.parent)
        freeNode(position)
    }

    // MARK: Memory

    /// A node without children or peer, which hangs from nothing.
    private mutating func makeNode(_ key: Key, length: Int) -> UInt32 {
        let position: UInt32
        if free != Self.none {
            position = free
            free = unsafe nodes[Int(position)].next
        } else {
            if Int(used) == capacity { grow() }
            position = used
            used += 1
        }
        unsafe (nodes + Int(position)).initialize(
            to: Node(
                key: key, peer: Self.none, parent: Self.none, zero: Self.none, one: Self.none,
                previous: Self.none, next: Self.none, length: UInt8(length)))
        nodeCount += 1
        return position
    }

    /// Keeps a node for reuse.
    private mutating func freeNode(_ position: UInt32) {
        unsafe nodes[Int(position)].next = free
        free = position
        nodeCount -= 1
    }

    /// Doubles the block of nodes.
    private mutating func grow() {
        let larger = max(16, 2 * capacity)
        precondition(larger < Int(Self.none), "a trie has fewer than 2^32 nodes")
        let moved = UnsafeMutablePointer<Node>.allocate(capacity: larger)
        unsafe moved.moveInitialize(from: nodes, count: Int(used))
        unsafe nodes.deallocate()
        unsafe nodes = moved
        capacity = larger
    }

    /// Starts afresh when no node is in use, without the memory of a large table.
    private mutating func forgetNodes() {
        used = 0
        free = Self.none
        guard capacity > Self.capacityKeptWhenEmpty else { return }
        unsafe nodes.deallocate()
        unsafe nodes = .allocate(capacity: 0)
        capacity = 0
    }

    /// An empty trie keeps a block of this many nodes, so that a lone prefix may come and go cheaply.
    private static var capacityKeptWhenEmpty: Int { 1_024 }

    deinit {
        unsafe nodes.deallocate()
    }
}
