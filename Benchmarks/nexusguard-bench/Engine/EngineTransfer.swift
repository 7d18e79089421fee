// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import NexusGuard
internal import WireGuardProtocol

/// The steps that carry packets from one end to the other.
enum EngineTransfer {
    /// Sends `count` packets as one batch, and checks that each comes out.
    static func carry(
        _ count: Int, of segment: borrowing SyntheticSegment, from source: inout EngineEnd,
        to destination: inout EngineEnd, _ options: EngineOptions
    ) {
        let now = EnginePair.start
        fill(&source, with: segment, count, options)
        source.device.planOutbound(&source.outbound, at: now, into: &source.outbox)
        source.outbound.seal()
        if options.usesLoopback {
            source.transport.send(&source.outbound, at: now) { _, problem in
                preconditionFailure("the loopback interface takes what is sent: \(problem)")
            }
        }
        source.device.commitOutbound(&source.outbound, at: now, into: &source.outbox)
        let delivered =
            options.usesLoopback
            ? receiveAll(count, at: &destination, options) : handOver(&source, &destination, options)
        precondition(delivered == count, "every packet comes out at the other end")
        source.outbound.removeAll()
        source.outbox.removeAll()
        destination.outbox.removeAll()
        _ = source.device.nextDeadline
        _ = destination.device.nextDeadline
    }

    /// Puts packets into the batch of an end, as if its host had sent them.
    static func fill(
        _ end: inout EngineEnd, with segment: borrowing SyntheticSegment, _ count: Int,
        _ options: EngineOptions
    ) {
        end.outbound.removeAll()
        guard options.usesTun else {
            for _ in 0..<count {
                guard let data = end.outbound.append(byteCount: segment.packetByteCount) else {
                    preconditionFailure("the batch is large enough")
                }
                segment.writePacket(to: data, fromFirst: end.isFirst)
            }
            return
        }
        var left = count
        while left > 0 {
            let part = min(left, segment.mostInOneRead)
            let accepted = segment.withRead(of: part, fromFirst: end.isFirst) { bytes, byteCount, header in
                end.splitter.load(bytes, byteCount: byteCount, header: header)
            }
            precondition(accepted, "the read is well formed")
            let added = end.splitter.split(into: &end.outbound)
            precondition(added == part, "the batch is large enough")
            left -= part
        }
    }

    /// Gives the sealed datagrams of one end to the other, without the kernel.
    private static func handOver(
        _ source: inout EngineEnd, _ destination: inout EngineEnd, _ options: EngineOptions
    ) -> Int {
        destination.inbound.removeAll()
        let path = destination.inbound.addPath(destination.remote)
        for index in 0..<source.outbound.count where source.outbound.slots[index].state == .ready {
            let fits = destination.inbound.append(
                datagram: source.outbound.sealedDatagram(index),
                congestion: source.outbound.slots[index].congestion, path: path)
            precondition(fits, "both batches have the same size")
        }
        return receive(&destination, options)
    }

    /// Receives from the sockets until `count` packets came.
    private static func receiveAll(_ count: Int, at end: inout EngineEnd, _ options: EngineOptions) -> Int {
        var delivered = 0
        while delivered < count {
            end.inbound.removeAll()
            let result = end.transport.receive(into: &end.inbound)
            if result.datagramCount > 0 {
                delivered += receive(&end, options)
            } else if !result.hasMore {
                var waiting = pollfd(fd: end.transport.descriptor4, events: Int16(POLLIN), revents: 0)
                guard poll(&waiting, 1, 1_000) > 0 else { break }
            }
        }
        return delivered
    }

    /// Takes a batch of datagrams through the device of an end.
    ///
    /// - Returns: The number of packets that came out.
    private static func receive(_ end: inout EngineEnd, _ options: EngineOptions) -> Int {
        end.device.planInbound(&end.inbound, at: EnginePair.start, into: &end.outbox)
        end.inbound.open()
        end.device.commitInbound(&end.inbound, at: EnginePair.start, into: &end.outbox)
        if options.usesTun {
            return end.coalescer.write(end.inbound) { _, _ in 0 }.packetCount
        }
        var count = 0
        for index in 0..<end.inbound.count where end.inbound.slots[index].state == .ready { count += 1 }
        return count
    }

    /// Gives what one end's device wants sent to the other end.
    static func deliverOutbox(of source: inout EngineEnd, to destination: inout EngineEnd) {
        destination.inbound.removeAll()
        let path = destination.inbound.addPath(destination.remote)
        for entry in source.outbox.entries {
            let fits = destination.inbound.append(
                datagram: source.outbox.bytes(of: entry), congestion: 0, path: path)
            precondition(fits, "there are only a few messages")
        }
        let now = EnginePair.start
        destination.device.planInbound(&destination.inbound, at: now, into: &destination.outbox)
        destination.inbound.open()
        destination.device.commitInbound(&destination.inbound, at: now, into: &destination.outbox)
        source.outbox.removeAll()
    }
}
