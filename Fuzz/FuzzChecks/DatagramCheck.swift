// SPDX-License-Identifier: MIT

internal import WireGuardCrypto
internal import WireGuardProtocol
internal import WireGuardSimulation

/// Two devices with a session, and a network that does with their datagrams whatever the input says.
///
/// The input is a byte of choices for the whole run, then steps: a made-up datagram, a datagram of before that is
/// changed or not, an inner packet, time, a change of the configuration.
struct DatagramCheck {
    private static let mostSteps = 300
    /// No further seconds pass after so many nanoseconds, half an hour.
    private static let mostNanoseconds = 1_800 * 1_000_000_000 as Int64

    private let simulation: Simulation
    private let ledger = DeliveryLedger()

    static func failure(_ reader: inout ByteReader) -> String? {
        let check = DatagramCheck(choices: reader.byte())
        for _ in 0..<mostSteps where !reader.isAtEnd {
            check.step(&reader)
            if let failure = check.problem { return failure }
        }
        // What is under way arrives, and the last key is erased after 540 s.
        check.simulation.run(for: .seconds(600))
        return check.problem
    }

    private init(choices: UInt8) {
        simulation =
            choices & 1 == 0
            ? Simulation.session(seed: 1, keepsRecords: true)
            : Simulation.pair(seed: 1, load: LoadDetector(rate: 1, capacity: choices & 2 == 0 ? 1_000 : 1))
        simulation.network.delay = .milliseconds(1)
        for device in simulation.devices {
            let (ledger, number) = (ledger, device.number)
            for datagram in device.sent { ledger.record(datagram) }
            device.keepsRecords = false
            device.onSend = { datagram in ledger.record(datagram) }
            device.onDelivery = { _, packet in ledger.noteDelivery(packet, at: number) }
        }
        if choices & 4 != 0 {
            // Datagrams then arrive only when the input says so.
            simulation.filter = { _, _ in false }
        }
    }

    /// What is wrong now.
    private var problem: String? {
        if let failure = ledger.failure { return failure }
        for device in simulation.devices {
            if let deadline = device.nextDeadline, deadline < simulation.now {
                return "a deadline of device \(device.number) lies in the past"
            }
        }
        return nil
    }

    private func step(_ reader: inout ByteReader) {
        let choice = reader.byte()
        let device = simulation.devices[Int(choice >> 7)]
        switch choice & 7 {
        case 0:
            let bytes = reader.bytes(reader.number(below: 300))
            simulation.inject(bytes, from: source(reader.byte()), to: device)
        case 1, 2:
            guard !ledger.records.isEmpty else { return }
            // Counted from the last one, which is the most interesting.
            let number = ledger.records.count - 1 - reader.number(below: min(ledger.records.count, 256))
            var bytes = ledger.records[number].bytes
            for _ in 0..<Int(choice >> 3 & 3) { change(&bytes, &reader) }
            simulation.inject(bytes, from: source(reader.byte()), to: device)
        case 3:
            let packet = reader.bytes(reader.number(below: 200))
            guard !packet.isEmpty else { return }
            send(packet, from: device)
        case 4:
            let isIPv6 = choice & 8 != 0
            let packet = InnerPacket.make(
                from: Simulation.innerAddress(of: reader.number(below: 4), isIPv6: isIPv6),
                to: Simulation.innerAddress(of: reader.number(below: 4), isIPv6: isIPv6),
                byteCount: 48 + reader.number(below: 1_400), tag: UInt64(ledger.records.count))
            send(packet, from: device)
        case 5: simulation.run(for: .milliseconds(Int64(reader.number(below: 256))))
        case 6:
            let seconds = Int64(reader.byte())
            guard simulation.now.nanoseconds < Self.mostNanoseconds else { return }
            simulation.run(for: .seconds(seconds))
        default: configure(device, reader.byte())
        }
        simulation.run(for: simulation.network.delay)
    }

    private func send(_ packet: [UInt8], from device: SimulatedDevice) {
        ledger.noteSent(packet, by: device.number)
        device.send([packet], at: simulation.now)
    }

    /// The address of one of the devices, or another one.
    private func source(_ choice: UInt8) -> SocketAddress {
        switch choice & 3 {
        case 0: simulation.devices[0].address
        case 1: simulation.devices[1].address
        case 2: SocketAddress(address: IPAddress(ipv4: 0xC633_6400 | UInt32(choice >> 2)), port: 1)
        default: SocketAddress(address: IPAddress(ipv6High: 0x2001_0DB8_0000_0000, low: 7), port: 65_535)
        }
    }

    /// Flips a bit, sets a byte, cuts off the end or adds to it.
    private func change(_ bytes: inout [UInt8], _ reader: inout ByteReader) {
        let place = bytes.isEmpty ? 0 : reader.number(below: bytes.count)
        let choice = reader.byte()
        switch choice >> 6 {
        case 0 where !bytes.isEmpty: bytes[place] ^= 1 << (choice & 7)
        case 1 where !bytes.isEmpty: bytes[place] = choice & 0x3F
        case 2: bytes.removeLast(min(bytes.count, Int(choice & 0x3F)))
        default: bytes += [UInt8](repeating: choice, count: Int(choice & 0x3F))
        }
    }

    /// Changes what a device knows of the other one, but not which addresses that one has.
    private func configure(_ device: SimulatedDevice, _ choice: UInt8) {
        let other = simulation.devices[1 - device.number]
        let now = simulation.now
        switch choice & 7 {
        case 0:
            device.setPeer(other.publicKey, at: now) { $0.isRemoval = true }
        case 1, 2:
            device.setPeer(other.publicKey, at: now) { peer in
                peer.endpoint = other.address
                peer.persistentKeepalive = 5 * UInt16(choice >> 3)
                peer.allowedIPs = [false, true].compactMap { isIPv6 in
                    let address = Simulation.innerAddress(of: other.number, isIPv6: isIPv6)
                    return IPPrefix(address: address, length: address.bitCount).map { .init($0) }
                }
            }
        case 3:
            let bytes = [UInt8](repeating: choice >> 3, count: 32)
            guard let key = try? PresharedKey(rawRepresentation: bytes.span.bytes) else { return }
            device.setPeer(other.publicKey, at: now) { peer in
                peer.isUpdateOnly = true
                peer.presharedKey = key
            }
        case 4, 5:
            device.withDevice(at: now) { $0.setUp(choice & 1 == 0, at: now, into: &$1) }
        case 6:
            device.setPeer(other.publicKey, at: now) { peer in
                peer.isUpdateOnly = true
                peer.replacesAllowedIPs = true
            }
        default: device.wallClock.shift(by: .seconds(-Int64(choice >> 3)))
        }
    }
}
