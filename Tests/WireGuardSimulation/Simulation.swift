// SPDX-License-Identifier: MIT

package import WireGuardCrypto
package import WireGuardProtocol

/// How the network between the devices of a simulation treats datagrams.
package struct NetworkConditions: Sendable {
    /// The time that each datagram takes.
    package var delay = Interval.milliseconds(10)
    /// The exclusive upper end of a random time added to it, which reorders.
    package var jitter = Interval.milliseconds(0)
    /// How many of a thousand datagrams are lost.
    package var lossPerMille: UInt64 = 0
    /// How many of a thousand datagrams arrive twice.
    package var duplicationPerMille: UInt64 = 0
    /// How many of a thousand datagrams arrive with one bit flipped.
    package var corruptionPerMille: UInt64 = 0

    /// A network that only takes 10 ms.
    package init() {}
}

/// Devices, a network between them, and virtual time: hours pass in milliseconds.
///
/// Time moves from event to event; an event is the arrival of a datagram, a deadline of a device, or an action
/// of the test.
package final class Simulation {
    /// How the network treats datagrams.
    package var network = NetworkConditions()
    /// The present instant.
    package private(set) var now = Instant(nanoseconds: 0)
    /// The devices, by their numbers.
    package private(set) var devices: [SimulatedDevice] = []
    /// Decides about datagrams before the network does: `false` loses the datagram.
    package var filter: ((_ datagram: SimulatedDevice.Sent, _ source: SimulatedDevice) -> Bool)?
    /// The source of all chance in the simulation.
    package let random: SeededRandom
    /// How often a device was woken by its deadline.
    package private(set) var wakeUps = 0

    private var arrivals = EventQueue()

    /// A simulation without devices.
    package init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// Adds a device with a fresh key and an address of its own.
    @discardableResult
    package func addDevice(
        privateKey: PrivateKey? = nil, isIPv6: Bool = false, mtu: Int = 1420,
        load: LoadDetector = LoadDetector()
    ) -> SimulatedDevice {
        let number = devices.count
        let address =
            isIPv6
            ? IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: UInt64(number + 1))
            : IPAddress(ipv4: 0xC000_0201 + UInt32(number))
        let device = SimulatedDevice(
            number: number, privateKey: privateKey ?? PrivateKey(SecretKey(randomFrom: random)),
            address: SocketAddress(address: address, port: 51820), random: random, mtu: mtu, load: load)
        devices.append(device)
        return device
    }

    /// Two devices that know each other, with 10.0.0.1 and fd00::1, and 10.0.0.2 and fd00::2, behind them.
    package static func pair(
        seed: UInt64, presharedKey: PresharedKey? = nil, network: NetworkConditions = NetworkConditions(),
        load: LoadDetector = LoadDetector()
    ) -> Simulation {
        let simulation = Simulation(seed: seed)
        simulation.network = network
        let first = simulation.addDevice(load: load)
        let second = simulation.addDevice(load: load)
        for (own, other) in [(first, second), (second, first)] {
            own.setPeer(other.publicKey) { peer in
                peer.endpoint = other.address
                peer.presharedKey = presharedKey
                peer.allowedIPs = [false, true].compactMap { isIPv6 in
                    let address = innerAddress(of: other.number, isIPv6: isIPv6)
                    return IPPrefix(address: address, length: address.bitCount).map { .init($0) }
                }
            }
        }
        return simulation
    }

    /// A pair with a session: the first device sent a packet with the tag 1 at the start, a second ago.
    ///
    /// - Parameter keepsRecords: Whether the records of that packet and its handshake stay.
    package static func session(seed: UInt64, keepsRecords: Bool = false) -> Simulation {
        let simulation = pair(seed: seed)
        simulation.send(from: 0, to: 1, tag: 1)
        simulation.run(for: .seconds(1))
        if !keepsRecords { for device in simulation.devices { device.clearRecords() } }
        return simulation
    }

    /// The address behind a device of `pair`.
    package static func innerAddress(of number: Int, isIPv6: Bool = false) -> IPAddress {
        isIPv6
            ? IPAddress(ipv6High: 0xFD00_0000_0000_0000, low: UInt64(number + 1))
            : IPAddress(ipv4: 0x0A00_0001 + UInt32(number))
    }

    /// Sends one inner packet from one device of a pair to the other, now.
    package func send(
        from source: Int, to destination: Int, byteCount: Int = 100, tag: UInt64 = 0, isIPv6: Bool = false
    ) {
        let packet = InnerPacket.make(
            from: Self.innerAddress(of: source, isIPv6: isIPv6),
            to: Self.innerAddress(of: destination, isIPv6: isIPv6), byteCount: byteCount, tag: tag)
        devices[source].send([packet], at: now)
        carry(from: devices[source])
    }

    /// Calls `action` at an instant.
    package func schedule(at time: Instant, _ action: @escaping (Simulation) -> Void) {
        arrivals.insert(.init(time: time, kind: .action(action)))
    }

    /// Puts a datagram on the network as if it came from `source`.
    package func inject(_ bytes: [UInt8], from source: SocketAddress, to device: SimulatedDevice) {
        arrivals.insert(.init(time: now + network.delay, kind: .datagram(bytes, source, device.address)))
    }

    /// Runs until `end`, which becomes the present instant.
    package func run(until end: Instant) {
        for device in devices { carry(from: device) }
        while let time = nextEvent, time <= end {
            now = time
            step()
        }
        now = end
    }

    /// Runs for a time.
    package func run(for interval: Interval) {
        run(until: now + interval)
    }

    /// The earliest arrival, action or deadline.
    private var nextEvent: Instant? {
        var earliest = arrivals.first
        for device in devices {
            guard let deadline = device.nextDeadline else { continue }
            precondition(deadline >= now, "a deadline lies in the past")
            if earliest.map({ deadline < $0 }) ?? true { earliest = deadline }
        }
        return earliest
    }

    /// Handles everything that is due at the present instant.
    private func step() {
        while let event = arrivals.popFirst(notAfter: now) {
            switch event.kind {
            case .datagram(let bytes, let source, let destination):
                guard let device = devices.first(where: { $0.address == destination }) else { continue }
                device.receive([(source, bytes)], at: now)
                carry(from: device)
            case .action(let action):
                action(self)
                for device in devices { carry(from: device) }
            }
        }
        for device in devices {
            guard let deadline = device.nextDeadline, deadline <= now else { continue }
            wakeUps += 1
            device.expireTimers(at: now)
            carry(from: device)
        }
    }

    /// Puts what a device sent on the network.
    private func carry(from device: SimulatedDevice) {
        for datagram in device.takePending() {
            if let filter, !filter(datagram, device) { continue }
            if chance(network.lossPerMille) { continue }
            let copies = chance(network.duplicationPerMille) ? 2 : 1
            for _ in 0..<copies {
                var bytes = datagram.bytes
                if chance(network.corruptionPerMille) {
                    bytes[Int(random.next(below: UInt64(bytes.count)))] ^= 1 << UInt8(random.next(below: 8))
                }
                var time = now + network.delay
                if network.jitter.nanoseconds > 0 {
                    time =
                        time
                        + Interval(nanoseconds: Int64(random.next(below: UInt64(network.jitter.nanoseconds))))
                }
                arrivals.insert(
                    .init(time: time, kind: .datagram(bytes, device.address, datagram.destination)))
            }
        }
    }

    /// Whether something with a probability in thousandths happens.
    private func chance(_ perMille: UInt64) -> Bool {
        perMille > 0 && random.next(below: 1000) < perMille
    }
}
