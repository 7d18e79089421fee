// SPDX-License-Identifier: MIT

/// The up to three keypairs of a peer: the last one, the one to send on, and one that waits for its confirmation.
///
/// Receiver indices that fall out of use are handed to the caller, who owns the index table.
@safe
struct Keypairs: ~Copyable {
    private(set) var previous: UnsafeMutablePointer<Keypair>?
    private(set) var current: UnsafeMutablePointer<Keypair>?
    private(set) var next: UnsafeMutablePointer<Keypair>?

    /// No keypairs.
    init() {
        unsafe previous = nil
        unsafe current = nil
        unsafe next = nil
    }

    /// The keypair with this receiver index, whichever of the three it is.
    func keypair(localIndex: UInt32) -> UnsafeMutablePointer<Keypair>? {
        if let keypair = unsafe current, unsafe keypair.pointee.localIndex == localIndex {
            return unsafe keypair
        }
        if let keypair = unsafe next, unsafe keypair.pointee.localIndex == localIndex {
            return unsafe keypair
        }
        if let keypair = unsafe previous, unsafe keypair.pointee.localIndex == localIndex {
            return unsafe keypair
        }
        return nil
    }

    /// Takes in a keypair of a handshake that this host started: the response confirmed it, so it is sent on.
    ///
    /// A keypair that waits for its confirmation stays as the previous one: the peer may use it already.
    mutating func insertAsInitiator(_ keypair: consuming Keypair, released: (UInt32) -> Void) {
        unsafe Self.release(&previous, released)
        if unsafe next != nil {
            unsafe Self.release(&current, released)
            unsafe previous = unsafe next
            unsafe next = nil
        } else {
            unsafe previous = unsafe current
        }
        unsafe current = Self.allocate(keypair)
    }

    /// Takes in a keypair of a handshake that the peer started: it waits until the peer's first packet on it.
    ///
    /// Until then nothing proves that the initiation was not a replay, so an attacker could make this host
    /// send on keys that nobody has.
    mutating func insertAsResponder(_ keypair: consuming Keypair, released: (UInt32) -> Void) {
        unsafe Self.release(&next, released)
        unsafe Self.release(&previous, released)
        unsafe next = Self.allocate(keypair)
    }

    /// Makes the waiting keypair the current one if it has this receiver index.
    ///
    /// - Returns: Whether it did, that is, whether a handshake is complete now.
    mutating func confirm(localIndex: UInt32, released: (UInt32) -> Void) -> Bool {
        guard let keypair = unsafe next, unsafe keypair.pointee.localIndex == localIndex else { return false }
        unsafe Self.release(&previous, released)
        unsafe previous = unsafe current
        unsafe current = unsafe keypair
        unsafe next = nil
        return true
    }

    /// Erases the keypairs that are too old for anything.
    ///
    /// To be called before a keypair comes in, which puts off the erasure of all: otherwise whoever lets only
    /// initiations through could have the keys of an old session kept for ever.
    mutating func removeExpired(at now: Instant, released: (UInt32) -> Void) {
        if unsafe previous?.pointee.isExpired(at: now) ?? false { unsafe Self.release(&previous, released) }
        if unsafe current?.pointee.isExpired(at: now) ?? false { unsafe Self.release(&current, released) }
        if unsafe next?.pointee.isExpired(at: now) ?? false { unsafe Self.release(&next, released) }
    }

    /// Erases all keys.
    mutating func removeAll(released: (UInt32) -> Void) {
        unsafe Self.release(&previous, released)
        unsafe Self.release(&current, released)
        unsafe Self.release(&next, released)
    }

    /// Moves a keypair to memory of its own, where it keeps its address.
    private static func allocate(_ keypair: consuming Keypair) -> UnsafeMutablePointer<Keypair> {
        let pointer = UnsafeMutablePointer<Keypair>.allocate(capacity: 1)
        unsafe pointer.initialize(to: keypair)
        return unsafe pointer
    }

    /// Erases one keypair.
    private static func release(_ keypair: inout UnsafeMutablePointer<Keypair>?, _ released: (UInt32) -> Void)
    {
        guard let index = unsafe keypair?.pointee.localIndex else { return }
        unsafe destroy(keypair)
        unsafe keypair = nil
        released(index)
    }

    /// Erases the keys and gives the memory back.
    private static func destroy(_ keypair: UnsafeMutablePointer<Keypair>?) {
        unsafe keypair?.deinitialize(count: 1)
        unsafe keypair?.deallocate()
    }

    deinit {
        unsafe Self.destroy(previous)
        unsafe Self.destroy(current)
        unsafe Self.destroy(next)
    }
}
