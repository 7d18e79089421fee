// SPDX-License-Identifier: MIT

/// What an authentic packet has in common with the one before it in the batch: peer, keypair and path.
///
/// Nothing of it may change between them, so a handshake message ends the run.
@safe
struct InboundRun {
    /// The last look-up of an inner packet's source; outlives the end of a run.
    var route = RouteMemory()
    /// Whether a packet of the run was more than a keepalive.
    var holdsData = false
    private var keypair: UnsafeMutablePointer<Keypair>?
    private var peer: UInt32 = 0
    private var receiverIndex: UInt32 = 0
    private var path = 0

    /// No run.
    init() {
        unsafe keypair = nil
    }

    /// Starts a run with an accepted packet of this keypair.
    mutating func begin(with slot: UnsafePointer<PacketSlot>, _ keypair: UnsafeMutablePointer<Keypair>) {
        unsafe self.keypair = unsafe keypair
        peer = unsafe slot.pointee.peer
        receiverIndex = unsafe slot.pointee.receiverIndex
        path = unsafe slot.pointee.path
        holdsData = false
    }

    /// Whether a packet belongs to the run.
    @inline(__always)
    func continues(with slot: UnsafePointer<PacketSlot>) -> Bool {
        unsafe keypair != nil && slot.pointee.receiverIndex == receiverIndex && slot.pointee.peer == peer
            && slot.pointee.path == path
    }

    /// Accepts a counter of the run's keypair once.
    @inline(__always)
    func accept(_ counter: UInt64) -> Bool {
        unsafe keypair?.pointee.window.accept(counter) ?? false
    }

    /// Forgets the keypair, which may go now.
    mutating func end() {
        unsafe keypair = nil
    }
}
