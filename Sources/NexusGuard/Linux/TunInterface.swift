// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
package import WireGuardProtocol

/// A TUN interface: batches of inner packets from the host and to it.
///
/// Segmentation offload is used both ways where the kernel has it: one system call then moves up to 64 KiB.
/// The interface goes when this value goes, unless it was made persistent by others.
@safe
package struct TunInterface: ~Copyable {
    private let tun: TunDescriptor
    private var control: InterfaceControl
    private var splitter: TunSplitter
    private var coalescer: TunCoalescer
    private let readBuffer: UnsafeMutableRawPointer

    /// The MTU of a new interface: 1,500 less the outer IPv6, UDP and transport headers and the tag.
    package static let defaultMTU = 1_420
    /// The bytes of one read: the largest virtio header, and the largest IPv6 packet.
    package static let readBufferByteCount = 64 + 40 + 65_535 + 25

    /// Creates an interface and sets its MTU.
    ///
    /// - Parameter name: A name of 1 to 15 bytes; `%d` in it stands for the first free number.
    /// - Throws: `TunError`.
    package init(name: String, mtu: Int = defaultMTU) throws(TunError) {
        try self.init(tun: TunDescriptor(creating: name), mtu: mtu)
    }

    /// Takes over a descriptor that is attached to an interface, as the one that `WG_TUN_FD` names.
    ///
    /// - Parameter mtu: The MTU to set; `nil` leaves it.
    /// - Throws: `TunError`; the descriptor is then left open, unless it was the MTU that was refused.
    package init(adopting descriptor: Int32, mtu: Int? = nil) throws(TunError) {
        try self.init(tun: TunDescriptor(adopting: descriptor), mtu: mtu)
    }

    private init(tun: consuming TunDescriptor, mtu: Int?) throws(TunError) {
        control = try Self.openControl(tun, mtu: mtu)
        splitter = TunSplitter()
        coalescer = TunCoalescer(virtioByteCount: tun.virtioByteCount, joinsUDP: tun.hasUDPSegments)
        readBuffer = .allocate(byteCount: Self.readBufferByteCount, alignment: 64)
        self.tun = tun
    }

    private static func openControl(
        _ tun: borrowing TunDescriptor, mtu: Int?
    ) throws(TunError) -> InterfaceControl {
        do throws(SystemCallError) {
            let control = try InterfaceControl()
            if let mtu, let name = tun.name { try control.setMTU(mtu, of: name) }
            return control
        } catch {
            throw .refused(error)
        }
    }

    /// The descriptor, for epoll; it stays this value's own.
    package var descriptor: Int32 { tun.number }

    /// Whether packets carry virtio headers, and so segmentation offload.
    package var hasOffload: Bool { tun.virtioByteCount > 0 }

    /// Whether UDP segmentation offload is on as well.
    package var hasUDPOffload: Bool { tun.hasUDPSegments }

    /// Reads packets into the batch until none is left or the batch is full.
    ///
    /// One read may hold more packets than the batch has room for; the next call goes on with them first.
    ///
    /// - Parameter once: Whether one read that brings packets is enough; epoll tells if the kernel has more.
    package mutating func read(into batch: inout PacketBatch, once: Bool = false) -> TunReadResult {
        var result = TunReadResult()
        while true {
            result.packetCount += splitter.split(into: &batch)
            if splitter.isPending || !batch.hasRoom(for: 1) {
                result.isFull = true
                return result
            }
            if once, result.packetCount > 0 { return result }
            let (descriptor, buffer) = (tun.number, readBuffer)
            let count = SystemCall.orNegativeErrno {
                Glibc.read(descriptor, buffer, Self.readBufferByteCount)
            }
            if count < 0 {
                result.isGone = Self.isGone(Int32(truncatingIfNeeded: count))
                return result
            }
            let headerByteCount = tun.virtioByteCount
            guard count > headerByteCount else {
                // Nothing at all is no packet; the kernel never says so while the interface lives.
                if count == 0 { return result }
                result.malformedCount += 1
                continue
            }
            let header = headerByteCount > 0 ? VirtioHeader(reading: buffer) : VirtioHeader()
            if !splitter.load(buffer + headerByteCount, byteCount: count - headerByteCount, header: header) {
                result.malformedCount += 1
            }
        }
    }

    /// Whether packets that were read already wait for room in a batch: epoll does not tell of them.
    package var hasPending: Bool { splitter.isPending }

    /// Writes every packet of the batch that is `ready`, in order; neighbours of a flow are joined.
    ///
    /// It never waits: what the kernel refuses is dropped and counted.
    package mutating func write(_ batch: inout PacketBatch) -> TunWriteResult {
        let descriptor = tun.number
        return coalescer.write(batch) { pieces, count in
            SystemCall.orNegativeErrno { writev(descriptor, pieces, count) }
        }
    }

    private static func isGone(_ error: Int32) -> Bool {
        error == -EBADFD || error == -ENODEV || error == -ENXIO
    }

    /// The interface's name now; `nil` when the interface is gone.
    package var name: String? { tun.name }

    /// The interface's number in its namespace.
    ///
    /// - Throws: `TunError.refused`, with ENODEV when the interface is gone or was moved and not followed.
    package func index() throws(TunError) -> UInt32 {
        let name = try presentName()
        do throws(SystemCallError) { return try control.index(of: name) } catch { throw .refused(error) }
    }

    /// The size of the largest inner packet.
    ///
    /// - Throws: `TunError.refused`, with ENODEV when the interface is gone or was moved and not followed.
    package func mtu() throws(TunError) -> Int {
        let name = try presentName()
        do throws(SystemCallError) { return try control.mtu(of: name) } catch { throw .refused(error) }
    }

    /// Sets the size of the largest inner packet.
    ///
    /// - Throws: `TunError.refused`; EINVAL below 68 or above 65,535.
    package func setMTU(_ mtu: Int) throws(TunError) {
        let name = try presentName()
        do throws(SystemCallError) { try control.setMTU(mtu, of: name) } catch { throw .refused(error) }
    }

    /// Whether the interface is up.
    ///
    /// - Throws: `TunError.refused`, with ENODEV when the interface is gone or was moved and not followed.
    package func isUp() throws(TunError) -> Bool {
        let name = try presentName()
        do throws(SystemCallError) { return try control.isUp(name) } catch { throw .refused(error) }
    }

    /// Takes the interface up or down.
    ///
    /// - Throws: `TunError.refused`, with ENODEV when the interface is gone or was moved and not followed.
    package func setUp(_ isUp: Bool) throws(TunError) {
        let name = try presentName()
        do throws(SystemCallError) { try control.setUp(isUp, name) } catch { throw .refused(error) }
    }

    /// Watches the interface where it is after `LinkEvent.moved`; this value's other calls reach it there too.
    ///
    /// - Throws: `TunError.refused`; EPERM when this process may not enter the namespace.
    package mutating func follow() throws(TunError) -> LinkWatch {
        let name = try presentName()
        do throws(SystemCallError) {
            let namespace = try tun.namespace()
            defer { SystemCall.close(namespace) }
            let sockets = try LinkSockets(in: namespace)
            control = InterfaceControl(adopting: sockets.control)
            do throws(SystemCallError) {
                let index = try control.index(of: name)
                return LinkWatch(adopting: sockets.watch, interfaceIndex: index)
            } catch {
                // It moved on or went in this moment.
                SystemCall.close(sockets.watch)
                throw error
            }
        } catch {
            throw .refused(error)
        }
    }

    /// Closes the descriptor, whereupon the interface goes.
    package consuming func close() {}

    private func presentName() throws(TunError) -> String {
        guard let name = tun.name else {
            throw .refused(SystemCallError(call: "ioctl TUNGETIFF", errno: ENODEV))
        }
        return name
    }

    deinit {
        readBuffer.deallocate()
    }
}
