// SPDX-License-Identifier: MIT

internal import WireGuardConfiguration
internal import WireGuardCrypto
internal import WireGuardProtocol

/// Set and get operations of the userspace interface; the time is that of a whole operation.
enum ConfigurationBenchmarks {
    static let all = [1_000, 24_000].flatMap { [parse($0), apply($0), snapshot($0), write($0)] }

    private static func parse(_ peerCount: Int) -> Benchmark {
        Benchmark("uapi.set.parse.\(peerCount)") {
            let text = RandomPeers.setOperation(peerCount)
            return { count in
                for _ in 0..<count { keep(change(text).peers.count) }
            }
        }
    }

    /// To a device without peers; most of the time goes into one Diffie-Hellman computation a peer.
    private static func apply(_ peerCount: Int) -> Benchmark {
        Benchmark("uapi.set.apply.\(peerCount)") {
            let change = change(RandomPeers.setOperation(peerCount))
            return { count in
                for _ in 0..<count {
                    let device = device(change)
                    keep(device.mtu)
                }
            }
        }
    }

    private static func snapshot(_ peerCount: Int) -> Benchmark {
        Benchmark("uapi.get.snapshot.\(peerCount)") {
            let device = device(change(RandomPeers.setOperation(peerCount)))
            return { count in
                for _ in 0..<count { keep(device.snapshot().peers.count) }
            }
        }
    }

    private static func write(_ peerCount: Int) -> Benchmark {
        Benchmark("uapi.get.write.\(peerCount)") {
            let snapshot = device(change(RandomPeers.setOperation(peerCount))).snapshot()
            return { count in
                for _ in 0..<count { keep(UAPIGetWriter.write(snapshot).byteCount) }
            }
        }
    }

    private static func change(_ text: [UInt8]) -> ConfigurationChange {
        do {
            return try UAPISetParser.parse(text.span.bytes) { _ in nil }
        } catch {
            preconditionFailure("the text is a set operation: \(error)")
        }
    }

    /// A device that is down and has the peers of a change.
    private static func device(_ change: ConfigurationChange) -> Device {
        var outbox = Outbox()
        var device = Device(
            random: SystemRandomSource(), wallClock: { WallTime(seconds: 0, nanoseconds: 0) }, mtu: 1_420)
        device.apply(change, at: Instant(nanoseconds: 0), into: &outbox)
        return device
    }
}
