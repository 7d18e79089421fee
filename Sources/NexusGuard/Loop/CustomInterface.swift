// SPDX-License-Identifier: MIT

/// An embedder's interface in the loop: always up.
final class CustomInterface: LoopInterface {
    private let interface: any PacketInterface

    /// Wraps an interface.
    init(_ interface: any PacketInterface) {
        self.interface = interface
    }

    var name: String { interface.name }
    var mtu: Int { interface.mtu }
    var isUp: Bool { true }
    var descriptor: Int32 { interface.readinessDescriptor }
    var linkDescriptor: Int32? { nil }

    func bringUp() {}

    func read(into batch: inout OutboundBatch, once: Bool) throws(PacketInterfaceError) -> Bool {
        try interface.read(into: &batch)
    }

    func write(_ batch: inout InboundBatch) -> Int {
        interface.write(&batch)
    }

    func takeLinkChanges() {}
}
