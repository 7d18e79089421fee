// SPDX-License-Identifier: MIT

package import WireGuardCrypto
package import WireGuardProtocol

/// One device of a simulation with its address, its clock, and a record of what came out of it.
package final class SimulatedDevice {
    /// A datagram that the device sent.
    package struct Sent {
        /// When it left.
        package let time: Instant
        /// Where it goes.
        package let destination: SocketAddress
        /// The traffic class octet of the outer header.
        package let trafficClass: UInt8
        /// Its bytes.
        package let bytes: [UInt8]
    }

    /// The device's place in the simulation.
    package let number: Int
    /// The device's key.
    package let privateKey: PrivateKey
    /// Where the device's datagrams come from.
    package var address: SocketAddress
    /// The device's wall clock.
    package let wallClock: VirtualWallClock
    /// The inner packets that came out of the tunnel, with their times.
    package private(set) var delivered: [(time: Instant, packet: [UInt8])] = []
    /// The events, with their times.
    package private(set) var events: [(time: Instant, event: DeviceEvent)] = []
    /// The datagrams that left, with their times.
    package private(set) var sent: [Sent] = []
    /// Whether `sent` and `delivered` are kept; a long run turns that off and uses `onDelivery`.
    package var keepsRecords = true
    /// Called with each inner packet that comes out of the tunnel.
    package var onDelivery: ((Instant, [UInt8]) -> Void)?
    /// Called with each datagram that leaves.
    package var onSend: ((Sent) -> Void)?

    private var device: Device
    private var batch = PacketBatch(slotCapacity: 128, byteCapacity: 256 << 10)
    private var outbox = Outbox()
    private var pending: [Sent] = []

    /// A device that is up.
    package init(
        number: Int, privateKey: PrivateKey, address: SocketAddress, random: SeededRandom, mtu: Int = 1420,
        load: LoadDetector = LoadDetector()
    ) {
        self.number = number
        self.privateKey = privateKey
        self.address = address
        let wallClock = VirtualWallClock()
        self.wallClock = wallClock
        device = Device(random: random, wallClock: { wallClock.now }, mtu: mtu, load: load)
        var change = ConfigurationChange()
        change.privateKey = .set(privateKey)
        device.apply(change, at: Instant(nanoseconds: 0), into: &outbox)
        device.setUp(true, at: Instant(nanoseconds: 0), into: &outbox)
    }

    /// The device's public key.
    package var publicKey: PublicKey { privateKey.publicKey }

    /// How many packets the device dropped, by reason.
    package var drops: DropCounters { device.drops }

    /// When the device wants to be woken.
    package var nextDeadline: Instant? { device.nextDeadline }

    /// The device's configuration and counters.
    package var snapshot: DeviceSnapshot { device.snapshot() }

    /// What the device shows of one peer.
    package func peer(_ publicKey: PublicKey) -> PeerSnapshot? {
        device.snapshot().peers.first { $0.publicKey == publicKey }
    }

    /// The highest timestamp given out, as a restarted device would get it.
    package var timestampFloor: TAI64N? {
        get { device.timestampFloor }
        set { device.timestampFloor = newValue }
    }

    /// Calls `body` with the device itself and records what it puts into the outbox.
    package func withDevice(at now: Instant, _ body: (inout Device, inout Outbox) -> Void) {
        wallClock.advance(to: now)
        body(&device, &outbox)
        collect(at: now)
    }

    /// Applies a change.
    package func apply(_ change: ConfigurationChange, at now: Instant) {
        withDevice(at: now) { device, outbox in device.apply(change, at: now, into: &outbox) }
    }

    /// Adds or changes a peer.
    package func setPeer(
        _ publicKey: PublicKey, at now: Instant = Instant(nanoseconds: 0),
        _ body: (inout PeerChange) throws -> Void
    ) rethrows {
        var peer = PeerChange(publicKey: publicKey)
        try body(&peer)
        var change = ConfigurationChange()
        change.peers = [peer]
        apply(change, at: now)
    }

    /// Does what is due.
    package func expireTimers(at now: Instant) {
        withDevice(at: now) { device, outbox in device.expireTimers(at: now, into: &outbox) }
    }

    /// Sends inner packets into the tunnel as one batch.
    package func send(_ packets: [[UInt8]], at now: Instant) {
        wallClock.advance(to: now)
        batch.removeAll()
        for packet in packets {
            guard let data = unsafe batch.append(byteCount: packet.count) else {
                preconditionFailure("the batch of a test fits")
            }
            packet.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress { data.copyMemory(from: start, byteCount: bytes.count) }
            }
        }
        device.planOutbound(&batch, at: now, into: &outbox)
        batch.seal()
        device.commitOutbound(&batch, at: now, into: &outbox)
        for index in 0..<batch.count where batch.slots[index].state == .ready {
            let path = batch.path(batch.slots[index].path)
            record(
                Sent(
                    time: now, destination: path.remote, trafficClass: batch.slots[index].congestion,
                    bytes: Array(batch.sealedDatagram(index))))
        }
        collect(at: now)
    }

    /// Hands the device datagrams from the network as one batch.
    package func receive(
        _ datagrams: [(source: SocketAddress, bytes: [UInt8])], congestion: UInt8 = 0, at now: Instant
    ) {
        wallClock.advance(to: now)
        batch.removeAll()
        var areas: [UnsafeMutableRawPointer] = []
        defer { for area in areas { area.deallocate() } }
        for datagram in datagrams {
            let byteCount = datagram.bytes.count
            let area = UnsafeMutableRawPointer.allocate(byteCount: 64 + byteCount + 256, alignment: 16)
            area.initializeMemory(as: UInt8.self, repeating: 0xA5, count: 64 + byteCount + 256)
            areas.append(area)
            datagram.bytes.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress { (area + 64).copyMemory(from: start, byteCount: byteCount) }
            }
            let path = batch.addPath(DatagramPath(remote: datagram.source))
            let fits = batch.append(
                datagram: UnsafeRawBufferPointer(start: area + 64, count: byteCount), congestion: congestion,
                path: path)
            precondition(fits, "the batch of a test fits")
        }
        device.planInbound(&batch, at: now, into: &outbox)
        batch.open()
        device.commitInbound(&batch, at: now, into: &outbox)
        for index in 0..<batch.count where batch.slots[index].state == .ready {
            let slot = batch.slots[index]
            let packet = Array(UnsafeRawBufferPointer(start: slot.data, count: slot.byteCount))
            if keepsRecords { delivered.append((now, packet)) }
            onDelivery?(now, packet)
        }
        collect(at: now)
    }

    /// Takes the datagrams that left since the last call.
    package func takePending() -> [Sent] {
        defer { pending.removeAll(keepingCapacity: true) }
        return pending
    }

    /// Forgets what was recorded.
    package func clearRecords() {
        delivered = []
        events = []
        sent = []
    }

    /// Moves the outbox into the records.
    private func collect(at now: Instant) {
        for entry in outbox.entries {
            record(
                Sent(
                    time: now, destination: entry.path.remote, trafficClass: entry.trafficClass,
                    bytes: Array(outbox.bytes(of: entry))))
        }
        if keepsRecords { events.append(contentsOf: outbox.events.map { (now, $0) }) }
        outbox.removeAll()
    }

    /// Records one datagram.
    private func record(_ datagram: Sent) {
        if keepsRecords { sent.append(datagram) }
        pending.append(datagram)
        onSend?(datagram)
    }
}
