// SPDX-License-Identifier: MIT

/// Where inner packets come from and go to: a TUN interface, or whatever stands in for one.
///
/// A tunnel calls one function a batch, on its own thread, never two at a time; none may block. The tunnel
/// does not close the interface.
public protocol PacketInterface: AnyObject, Sendable {
    /// The name, for the log and the control socket.
    var name: String { get }
    /// The largest inner packet in bytes; sealed packets are not padded beyond it.
    var mtu: Int { get }
    /// A descriptor that is readable, as `poll` has it, while `read` has something to give.
    var readinessDescriptor: Int32 { get }

    /// Adds the packets that are there and fit to the batch.
    ///
    /// - Returns: Whether packets were left for want of room; `read` is then called again without a wait.
    /// - Throws: `PacketInterfaceError`, which ends the tunnel.
    func read(into batch: inout OutboundBatch) throws(PacketInterfaceError) -> Bool

    /// Takes the packets of the batch, in order.
    ///
    /// - Returns: How many it refused.
    func write(_ batch: inout InboundBatch) -> Int
}

/// Why no packet will come from an interface any more.
public enum PacketInterfaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The interface was removed.
    case removed
    /// The interface failed for the reason given.
    case failed(String)

    /// One sentence.
    public var description: String {
        switch self {
        case .removed: "the interface was removed"
        case .failed(let reason): "the interface failed: \(reason)"
        }
    }
}
