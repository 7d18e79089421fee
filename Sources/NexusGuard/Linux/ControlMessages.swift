// SPDX-License-Identifier: MIT

internal import CLinux
internal import Glibc
internal import WireGuardProtocol

/// Writes the control messages of one `sendmsg` one behind the other.
///
/// Each is a header of 16 bytes (length in 8, level in 4, type in 4), the value, and zeros up to a multiple of
/// 8: the layout of every 64-bit Linux. The header's length leaves out the zeros; the sum counts them.
struct ControlWriter {
    /// Room for a packet information, a traffic class and a segment size.
    static let capacity = 128

    private let bytes: UnsafeMutableRawPointer
    /// The number of bytes written so far.
    private(set) var byteCount = 0

    /// Starts at the beginning of `capacity` bytes.
    init(_ bytes: UnsafeMutableRawPointer) {
        self.bytes = bytes
    }

    /// Has the datagrams leave from this host's address of a path, if the path names one.
    ///
    /// The interface is named only for link-local addresses. For others the routing table goes on to choose
    /// it, so that a changed route is followed.
    @inline(__always)
    mutating func appendSource(of path: DatagramPath) {
        guard let local = path.localAddress, local.isIPv6 == path.remote.address.isIPv6 else { return }
        if local.isIPv6 {
            // struct in6_pktinfo: address, interface index.
            let value = append(level: Int32(IPPROTO_IPV6), type: IPV6_PKTINFO, valueByteCount: 20)
            local.store(to: value)
            let index = local.isLinkLocalIPv6 ? path.interfaceIndex : 0
            value.storeBytes(of: index, toByteOffset: 16, as: UInt32.self)
        } else {
            // struct in_pktinfo: interface index, source address, and one that only receivers get.
            let value = append(level: Int32(IPPROTO_IP), type: IP_PKTINFO, valueByteCount: 12)
            local.store(to: value + 4)
        }
    }

    /// Sets the traffic class octet of the outer header; without it the octet is zero.
    @inline(__always)
    mutating func appendTrafficClass(_ trafficClass: UInt8, isIPv6: Bool) {
        let value =
            isIPv6
            ? append(level: Int32(IPPROTO_IPV6), type: IPV6_TCLASS, valueByteCount: 4)
            : append(level: Int32(IPPROTO_IP), type: IP_TOS, valueByteCount: 4)
        value.storeBytes(of: Int32(trafficClass), as: Int32.self)
    }

    /// Has the kernel or the device cut what is sent into datagrams of this size.
    @inline(__always)
    mutating func appendSegmentSize(_ byteCount: Int) {
        let value = append(level: linux_sol_udp, type: linux_udp_segment, valueByteCount: 2)
        value.storeBytes(of: UInt16(truncatingIfNeeded: byteCount), as: UInt16.self)
    }

    @inline(__always)
    private mutating func append(level: Int32, type: Int32, valueByteCount: Int) -> UnsafeMutableRawPointer {
        let header = bytes + byteCount
        let footprint = 16 + (valueByteCount + 7) & ~7
        precondition(byteCount + footprint <= Self.capacity, "there is room for one of each kind")
        header.initializeMemory(as: UInt8.self, repeating: 0, count: footprint)
        header.storeBytes(of: 16 + valueByteCount, as: Int.self)
        header.storeBytes(of: level, toByteOffset: 8, as: Int32.self)
        header.storeBytes(of: type, toByteOffset: 12, as: Int32.self)
        byteCount += footprint
        return header + 16
    }
}

/// What the control messages of one `recvmsg` say.
struct ReceivedControl {
    /// Room for all that the kernel adds.
    static let capacity = 256

    /// This host's address that the datagrams came to, unless that was a group.
    private(set) var localAddress: IPAddress?
    /// The interface of `localAddress`, if that has link-local scope, otherwise zero.
    private(set) var interfaceIndex: UInt32 = 0
    /// The two ECN bits of the outer header.
    private(set) var congestion: UInt8 = 0
    /// The size of each datagram but the last, or zero when there is only one.
    private(set) var segmentByteCount = 0

    /// Reads control messages as `recvmsg` left them.
    @inline(__always)
    init(_ bytes: UnsafeRawPointer, byteCount: Int) {
        var offset = 0
        while offset + 16 <= byteCount {
            let length = bytes.load(fromByteOffset: offset, as: Int.self)
            guard length >= 16, length <= byteCount - offset else { return }
            let level = bytes.load(fromByteOffset: offset + 8, as: Int32.self)
            let type = bytes.load(fromByteOffset: offset + 12, as: Int32.self)
            read(level: level, type: type, bytes + offset + 16, length - 16)
            offset += (length + 7) & ~7
        }
    }

    @inline(__always)
    private mutating func read(level: Int32, type: Int32, _ value: UnsafeRawPointer, _ byteCount: Int) {
        switch (level, type) {
        case (linux_sol_udp, linux_udp_gro) where byteCount >= 4:
            segmentByteCount = Int(value.load(as: Int32.self))
        case (Int32(IPPROTO_IP), IP_TOS) where byteCount >= 1:
            congestion = value.load(as: UInt8.self) & 3
        case (Int32(IPPROTO_IPV6), IPV6_TCLASS) where byteCount >= 4:
            congestion = UInt8(truncatingIfNeeded: value.load(as: Int32.self)) & 3
        case (Int32(IPPROTO_IP), IP_PKTINFO) where byteCount >= 12:
            // The second field is the address to answer from, also for a broadcast.
            let address = IPAddress(ipv4Bytes: value + 4)
            localAddress = address.high == 0 || address.isMulticast ? nil : address
        case (Int32(IPPROTO_IPV6), IPV6_PKTINFO) where byteCount >= 20:
            let address = IPAddress(ipv6Bytes: value)
            guard !address.isMulticast else { return }
            localAddress = address
            interfaceIndex = address.isLinkLocalIPv6 ? value.load(fromByteOffset: 16, as: UInt32.self) : 0
        default: break
        }
    }
}
