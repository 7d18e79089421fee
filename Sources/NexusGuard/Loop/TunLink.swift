// SPDX-License-Identifier: MIT

internal import WireGuardProtocol

/// The kernel's TUN interface in the loop.
final class TunLink: LoopInterface {
    let name: String
    private(set) var mtu: Int
    private(set) var isUp: Bool
    private var tun: TunInterface
    /// Absent when the interface lies in a network namespace that this process may not enter.
    private var watch: LinkWatch?

    /// Creates an interface, or takes over the one of a descriptor.
    ///
    /// - Throws: `TunnelError.invalidName` or `.interfaceUnavailable`; a descriptor to adopt then stays open.
    init(name: String, mtu: Int, adopting descriptor: Int32?) throws(TunnelError) {
        do throws(TunError) {
            if let descriptor {
                tun = try TunInterface(adopting: descriptor)
            } else {
                tun = try TunInterface(name: name, mtu: mtu)
            }
        } catch {
            switch error {
            case .invalidName(let name), .nameTooLong(let name): throw .invalidName(name)
            default: throw .interfaceUnavailable(name: name, reason: error.description)
            }
        }
        self.name = tun.name ?? name
        do throws(SystemCallError) {
            if let index = try? tun.index() { watch = try LinkWatch(interfaceIndex: index) }
        } catch {
            throw .interfaceUnavailable(name: name, reason: error.description)
        }
        if watch == nil { watch = try? tun.follow() }
        self.mtu = (try? tun.mtu()) ?? mtu
        // An interface that can not be asked is taken for up: its packets come and go all the same.
        isUp = (try? tun.isUp()) ?? true
    }

    var descriptor: Int32 { tun.descriptor }

    var linkDescriptor: Int32? {
        switch watch {
        case .some(let watch): watch.descriptor
        case nil: nil
        }
    }

    func bringUp() throws(TunnelError) {
        do {
            try tun.setUp(true)
            isUp = true
        } catch {
            throw .interfaceUnavailable(name: name, reason: error.description)
        }
    }

    func read(into batch: inout OutboundBatch, once: Bool) throws(PacketInterfaceError) -> Bool {
        let result = tun.read(into: &batch.packets, once: once)
        if result.isGone { throw .removed }
        return result.isFull
    }

    func write(_ batch: inout InboundBatch) -> Int {
        tun.write(&batch.packets).droppedCount
    }

    func takeLinkChanges() throws(PacketInterfaceError) {
        var events: [LinkEvent] = []
        watch?.poll { events.append($0) }
        for event in events {
            switch event {
            case .up: isUp = true
            case .down: isUp = false
            case .mtu(let mtu): self.mtu = mtu
            case .removed: throw .removed
            case .moved: follow()
            }
        }
    }

    /// Watches the interface in the network namespace to which it was moved.
    ///
    /// The sockets stay where the tunnel was started: that is what such a move is made for.
    private func follow() {
        do throws(TunError) {
            watch = try tun.follow()
            isUp = try tun.isUp()
            mtu = try tun.mtu()
        } catch {
            watch = nil
            isUp = true
        }
    }
}
