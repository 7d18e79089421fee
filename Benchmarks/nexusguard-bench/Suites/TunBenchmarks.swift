// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard
internal import WireGuardProtocol

/// The splitting of reads from a TUN and the joining of writes to it; the time is that of one packet.
enum TunBenchmarks {
    static let all = [64, 1_420].flatMap { [split($0), coalesce($0)] }

    /// The number of packets in a read or a write.
    private static let packetCount = 45

    private static func split(_ byteCount: Int) -> Benchmark {
        Benchmark("tun.split.\(byteCount)", operationsPerCall: packetCount, byteCount: byteCount) {
            var batch = PacketBatch(slotCapacity: packetCount, byteCapacity: 128 << 10)
            let segment = SyntheticSegment(packetByteCount: byteCount, count: packetCount)
            var splitter = TunSplitter()
            return { count in
                for _ in 0..<count {
                    batch.removeAll()
                    split(segment, with: &splitter, into: &batch)
                }
            }
        }
    }

    private static func coalesce(_ byteCount: Int) -> Benchmark {
        Benchmark("tun.coalesce.\(byteCount)", operationsPerCall: packetCount, byteCount: byteCount) {
            var batch = PacketBatch(slotCapacity: packetCount, byteCapacity: 128 << 10)
            let segment = SyntheticSegment(packetByteCount: byteCount, count: packetCount)
            var splitter = TunSplitter()
            split(segment, with: &splitter, into: &batch)
            for index in 0..<batch.count { batch.slots[index].state = .ready }
            var coalescer = TunCoalescer(virtioByteCount: VirtioHeader.byteCount, joinsUDP: true)
            return { count in
                for _ in 0..<count {
                    let result = coalescer.write(batch) { _, _ in 0 }
                    precondition(result.writeCount == 1, "one flow makes one write")
                }
            }
        }
    }

    private static func split(
        _ segment: borrowing SyntheticSegment, with splitter: inout TunSplitter, into batch: inout PacketBatch
    ) {
        let accepted = segment.withRead(of: packetCount, fromFirst: true) { bytes, byteCount, header in
            splitter.load(bytes, byteCount: byteCount, header: header)
        }
        let added = splitter.split(into: &batch)
        precondition(accepted && added == packetCount, "the read is well formed and fits")
    }
}
