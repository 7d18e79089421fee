// SPDX-License-Identifier: MIT

/// The loop's side of the interface for inner packets.
///
/// One call a batch goes through this; the TUN interface and a custom one differ behind it.
protocol LoopInterface: AnyObject {
    /// The name, for the log.
    var name: String { get }
    /// The largest inner packet in bytes.
    var mtu: Int { get }
    /// Whether the interface is up.
    var isUp: Bool { get }
    /// Readable while `read` has something to give.
    var descriptor: Int32 { get }
    /// Readable while `takeLinkChange` has something to tell; `nil` for an interface that never changes.
    var linkDescriptor: Int32? { get }

    /// Brings the interface up.
    func bringUp() throws(TunnelError)

    /// Adds packets to the batch, and says whether some were left for want of room.
    ///
    /// - Parameter once: Whether one read that brings packets is enough; `descriptor` tells if there are more.
    func read(into batch: inout OutboundBatch, once: Bool) throws(PacketInterfaceError) -> Bool

    /// Delivers the `ready` packets of the batch in order, and says how many were refused.
    func write(_ batch: inout InboundBatch) -> Int

    /// Takes in what the system tells about the interface; `isUp`, `mtu` and `linkDescriptor` are then new.
    ///
    /// - Throws: `PacketInterfaceError.removed`.
    func takeLinkChanges() throws(PacketInterfaceError)
}
