// SPDX-License-Identifier: MIT

internal import Testing
internal import WireGuardCrypto
internal import WireGuardSimulation

@testable internal import WireGuardProtocol

/// Devices to which random things happen in random order, with the invariants that hold after each of them.
private final class RandomWalk {
    let simulation: Simulation
    let random: SeededRandom
    private var isUp: [Bool]
    /// Every datagram so far, to be replayed.
    private var seen: [[UInt8]] = []
    /// Sender, receiver index and counter of every transport data message.
    private var counters: Set<[UInt64]> = []
    private(set) var failures: [String] = []
    private(set) var deliveredCount = 0

    init(seed: UInt64) {
        simulation = Simulation(seed: seed)
        random = SeededRandom(seed: ~seed)
        simulation.network.jitter = .milliseconds(40)
        simulation.network.lossPerMille = 50
        simulation.network.duplicationPerMille = 50
        simulation.network.corruptionPerMille = 20
        isUp = [Bool](repeating: true, count: 3)
        for number in 0..<3 {
            let device = simulation.addDevice(
                isIPv6: number == 2, load: LoadDetector(rate: 2, capacity: 4))
            device.keepsRecords = false
            device.onSend = { [unowned self] in note($0, from: number) }
            device.onDelivery = { [unowned self] _, _ in deliveredCount += 1 }
        }
        for number in 0..<3 {
            for other in 0..<3 where other != number { configure(number, peer: other, isRemoval: false) }
        }
    }

    /// A number below `bound`.
    private func pick(_ bound: Int) -> Int { Int(random.next(below: UInt64(bound))) }

    /// Checks and keeps a datagram that left.
    private func note(_ datagram: SimulatedDevice.Sent, from number: Int) {
        if !isUp[number] { failures.append("device \(number) sent while it was down") }
        if seen.count < 200 { seen.append(datagram.bytes) } else { seen[pick(200)] = datagram.bytes }
        guard datagram.bytes.first == 4 else { return }
        let index = (0..<4).reduce(0) { $0 | UInt64(datagram.bytes[4 + $1]) << UInt64(8 * $1) }
        let counter = (0..<8).reduce(0) { $0 | UInt64(datagram.bytes[8 + $1]) << UInt64(8 * $1) }
        if !counters.insert([UInt64(number), index, counter]).inserted {
            failures.append("device \(number) used counter \(counter) of \(index) twice")
        }
    }

    /// Changes one peer of a device at random.
    private func configure(_ number: Int, peer other: Int, isRemoval: Bool) {
        let device = simulation.devices[number]
        let target = simulation.devices[other]
        device.setPeer(target.publicKey, at: simulation.now) { peer in
            peer.isRemoval = isRemoval
            if pick(4) > 0 { peer.endpoint = target.address }
            if pick(3) == 0 { peer.persistentKeepalive = [0, 1, 25, 65_535][pick(4)] }
            peer.replacesAllowedIPs = pick(4) == 0
            peer.allowedIPs = [false, true].compactMap { isIPv6 in
                let address = Simulation.innerAddress(of: other, isIPv6: isIPv6)
                return IPPrefix(address: address, length: address.bitCount).map {
                    .init($0, isRemoval: pick(20) == 0)
                }
            }
        }
    }

    /// A datagram that nobody sent like this: random, or an old one, perhaps changed or cut.
    private func hostileDatagram() -> [UInt8] {
        if seen.isEmpty || pick(4) == 0 {
            var bytes = (0..<pick(300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if bytes.count >= 4 { bytes.replaceSubrange(0..<4, with: [UInt8(pick(6)), 0, 0, 0]) }
            return bytes
        }
        var bytes = seen[pick(seen.count)]
        if pick(2) == 0 { bytes[pick(bytes.count)] ^= 1 << UInt8(pick(8)) }
        if bytes[0] == 4, pick(3) == 0 { bytes.replaceSubrange(8..<16, with: repeatElement(0xFF, count: 8)) }
        if pick(8) == 0 { bytes.removeLast(min(bytes.count, pick(20))) }
        return bytes
    }

    /// Lets one random thing happen.
    func step() {
        let number = pick(3)
        let device = simulation.devices[number]
        let now = simulation.now
        switch pick(22) {
        case 0...7:
            let packets = (0...pick(6)).map { _ in
                InnerPacket.make(
                    from: Simulation.innerAddress(of: pick(10) == 0 ? pick(3) : number),
                    to: Simulation.innerAddress(of: pick(3)), byteCount: 28 + pick(1500),
                    congestion: UInt8(pick(4)))
            }
            device.send(packets, at: now)
        case 8...10:
            let source = pick(2) == 0 ? simulation.devices[pick(3)].address : device.address
            device.receive((0...pick(8)).map { _ in (source, hostileDatagram()) }, at: now)
        case 11: configure(number, peer: pick(3), isRemoval: pick(3) == 0)
        case 12:
            var change = ConfigurationChange()
            change.privateKey =
                pick(3) == 0
                ? .clear
                : .set(
                    pick(2) == 0
                        ? PrivateKey(
                            SecretKey(randomFrom: random)) : device.privateKey)
            device.apply(change, at: now)
        case 13:
            let target = !isUp[number] || pick(2) == 0
            isUp[number] = target
            device.withDevice(at: now) { device, outbox in device.setUp(target, at: now, into: &outbox) }
        case 14:
            device.address = SocketAddress(address: device.address.address, port: UInt16(1 + pick(65_535)))
        case 15: device.withDevice(at: now) { device, _ in device.mtu = [0, 1, 576, 1420, 65_535][pick(5)] }
        case 16: device.wallClock.shift(by: .seconds(Int64(pick(20)) - 10))
        case 17: simulation.run(for: .seconds(Int64(pick(200))))
        default: simulation.run(for: .milliseconds(Int64(pick(2_000))))
        }
        if pick(40) == 0 { restore() }
        for device in simulation.devices { check(device) }
    }

    /// Brings every device back to its key and its peers, so that a walk does not end in silence.
    private func restore() {
        for number in 0..<3 {
            let device = simulation.devices[number]
            var change = ConfigurationChange()
            change.privateKey = .set(device.privateKey)
            device.apply(change, at: simulation.now)
            for other in 0..<3 where other != number { configure(number, peer: other, isRemoval: false) }
        }
    }

    /// What must hold between any two calls.
    private func check(_ simulated: SimulatedDevice) {
        let now = simulation.now
        var failures: [String] = []
        simulated.withDevice(at: now) { device, _ in
            var indexCount = 0
            var staged = 0
            var earliest: Instant?
            for number in device.peers.numbers {
                let keypairs = [
                    device.peers[number].keypairs.previous, device.peers[number].keypairs.current,
                    device.peers[number].keypairs.next,
                ].compactMap(\.self)
                for keypair in keypairs {
                    let entry = device.indices.entry(for: keypair.pointee.localIndex)
                    if entry != .init(peer: number, kind: IndexKind.keypair) {
                        failures.append("keypair index")
                    }
                    // 180 s until the last keypair that came later, and 540 s after that one.
                    if now - keypair.pointee.created > .seconds(720) { failures.append("key kept too long") }
                }
                indexCount += keypairs.count
                if let index = device.peers[number].handshake?.senderIndex {
                    indexCount += 1
                    let entry = device.indices.entry(for: index)
                    if entry != .init(peer: number, kind: IndexKind.handshake) {
                        failures.append("handshake index")
                    }
                }
                staged += device.peers[number].staged.byteCount
                if device.peers[number].staged.count > 128 { failures.append("too many packets wait") }
                if !device.peers[number].staged.isEmpty, device.peers[number].timers.next == nil {
                    failures.append("packets wait without a deadline")
                }
                if let next = device.peers[number].timers.next {
                    earliest = min(earliest ?? next, next)
                    if !device.isUp { failures.append("a timer runs while the device is down") }
                    let scheduled = device.peers[number].scheduled
                    if scheduled.map({ $0 > next }) ?? true { failures.append("scheduled too late") }
                }
            }
            if device.peerNumbers.count != device.peers.count { failures.append("peers by key") }
            if device.indices.count != indexCount {
                failures.append("\(device.indices.count) indices for \(indexCount) keys")
            }
            if device.stagedByteCount != staged { failures.append("staged bytes") }
            if device.nextDeadline != earliest { failures.append("next deadline") }
        }
        self.failures += failures.map { "device \(simulated.number) at \(now.inSeconds) s: \($0)" }
    }
}

@Suite("Random walks")
struct RandomWalkTests {
    @Test(
        "whatever happens in whatever order, the device's tables, deadlines and counters agree",
        arguments: seeds)
    func invariants(seed: UInt64) {
        let walk = RandomWalk(seed: seed)
        for step in 0..<1_500 {
            walk.step()
            if !walk.failures.isEmpty {
                Issue.record("seed \(seed), step \(step): \(walk.failures.joined(separator: "; "))")
                return
            }
        }
        #expect(walk.deliveredCount > 50, "seed \(seed)")
    }
}
