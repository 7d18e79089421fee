// SPDX-License-Identifier: MIT

/// Makes packets of a few flows out of an input: mostly neighbours that can be joined, with faults in between.
struct FlowPacketMaker {
    private struct Flow {
        var sequence: UInt32 = 1
        var identification: UInt16 = 1
    }

    private var flows = [Flow](repeating: Flow(), count: 8)

    /// The next packet: a byte of choices, one of faults, one of size, and what the choices ask for.
    ///
    /// Of the choices, bit 0 is IPv6, bit 1 UDP, bits 2 and 3 the ports, bit 4 TCP options, bit 5 a size of two
    /// bytes, bit 6 raw bytes instead of all this, bit 7 that the other end's checksums are kept after a fault.
    mutating func next(_ reader: inout ByteReader) -> [UInt8] {
        let choices = reader.byte()
        let faults = reader.byte()
        let size = choices & 0x20 == 0 ? Int(reader.byte()) : reader.word() % 1_400
        if choices & 0x40 != 0 {
            let bytes = reader.bytes(size)
            return bytes.isEmpty ? [0] : bytes
        }
        var packet = whole(choices, payload: size, flags: faults & 0x40 == 0 ? 0x10 : 0x18)
        for _ in 0..<Int(faults & 3) {
            // A place in the headers, and what is added there.
            let place = Int(reader.byte()) % min(packet.count, 72)
            packet[place] = packet[place] &+ reader.byte()
        }
        if faults & 4 != 0 { packet.removeLast(min(packet.count - 1, Int(reader.byte()))) }
        if choices & 0x80 == 0 { Checksums.write(into: &packet) }
        return packet
    }

    private mutating func whole(_ choices: UInt8, payload: Int, flags: UInt8) -> [UInt8] {
        let isIPv6 = choices & 1 != 0
        let isUDP = choices & 2 != 0
        let options: [UInt8] = choices & 0x10 == 0 ? [] : [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]
        let number = Int(choices & 7)
        let transportByteCount = isUDP ? 8 : 20 + options.count
        var packet: [UInt8] = []
        if isIPv6 {
            packet += [0x60, 0, 0, 0] + big(UInt16(transportByteCount + payload)) + [isUDP ? 17 : 6, 64]
            packet += [0xFD] + [UInt8](repeating: 0, count: 14) + [1]
            packet += [0xFD] + [UInt8](repeating: 0, count: 14) + [2]
        } else {
            packet += [0x45, 0] + big(UInt16(20 + transportByteCount + payload))
            packet += big(flows[number].identification) + [0x40, 0, 64, isUDP ? 17 : 6, 0, 0]
            packet += [10, 0, 0, 1, 10, 0, 0, 2]
            flows[number].identification &+= 1
        }
        packet += [0x10, choices >> 2 & 3, 0x20, 0]
        if isUDP {
            packet += big(UInt16(8 + payload)) + [0, 0]
        } else {
            let sequence = flows[number].sequence
            packet += big(UInt16(sequence >> 16)) + big(UInt16(truncatingIfNeeded: sequence)) + [0, 0, 0, 9]
            packet += [UInt8((20 + options.count) / 4) << 4, flags, 1, 0, 0, 0, 0, 0] + options
            flows[number].sequence &+= UInt32(payload)
        }
        packet += (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        Checksums.write(into: &packet)
        return packet
    }

    private func big(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
}

/// Internet checksums (RFC 1071), written as the RFC says it, without any of the engine's tricks.
private enum Checksums {
    /// Writes those of the IPv4 header and of TCP or UDP, as far as there are headers for them.
    static func write(into packet: inout [UInt8]) {
        guard packet.count >= 20 else { return }
        let isIPv6 = packet[0] >> 4 == 6
        guard packet[0] == 0x45 || isIPv6 && packet.count >= 40 else { return }
        if !isIPv6 {
            (packet[10], packet[11]) = (0, 0)
            put(~sum(packet[..<20]), into: &packet, at: 10)
        }
        let start = isIPv6 ? 40 : 20
        let transport = packet[isIPv6 ? 6 : 9]
        let place = start + (transport == 17 ? 6 : 16)
        guard transport == 17 || transport == 6, packet.count >= place + 2 else { return }
        (packet[place], packet[place + 1]) = (0, 0)
        let byteCount = packet.count - start
        let addresses = isIPv6 ? packet[8..<40] : packet[12..<20]
        let pseudoHeader = addresses + [0, transport, UInt8(byteCount >> 8 & 0xFF), UInt8(byteCount & 0xFF)]
        let value = ~sum(pseudoHeader + packet[start...])
        put(value == 0 && transport == 17 ? 0xFFFF : value, into: &packet, at: place)
    }

    private static func put(_ value: UInt16, into packet: inout [UInt8], at place: Int) {
        packet[place] = UInt8(value >> 8)
        packet[place + 1] = UInt8(value & 0xFF)
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var sum = 0
        for (number, byte) in bytes.enumerated() { sum += number % 2 == 0 ? Int(byte) << 8 : Int(byte) }
        while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
        return UInt16(sum)
    }
}
