// SPDX-License-Identifier: MIT

internal import CLinux

/// The header before each packet that is read from or written to a TUN with `IFF_VNET_HDR`.
///
/// The layout is `struct virtio_net_hdr`: 10 bytes, numbers in this host's byte order.
package struct VirtioHeader: Hashable, Sendable {
    /// The size of the header.
    package static let byteCount = 10

    /// `VIRTIO_NET_HDR_F_` bits.
    package var flags: UInt8 = 0
    /// The kind of segments, and the bit `VIRTIO_NET_HDR_GSO_ECN`.
    package var segmentation: UInt8 = 0
    /// A hint how many bytes the headers of the packet take; the kernel may say more than is true.
    package var headerByteCount: UInt16 = 0
    /// The payload bytes of each segment but the last, which may have fewer.
    package var segmentByteCount: UInt16 = 0
    /// The offset where the checksum starts to count: that of the TCP or UDP header.
    package var checksumStart: UInt16 = 0
    /// The offset of the checksum behind `checksumStart`.
    package var checksumOffset: UInt16 = 0

    /// A header that says nothing: one whole packet whose checksums are done.
    package init() {}

    /// Reads a header from 10 bytes.
    package init(reading bytes: UnsafeRawPointer) {
        flags = bytes.load(as: UInt8.self)
        segmentation = bytes.load(fromByteOffset: 1, as: UInt8.self)
        headerByteCount = bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
        segmentByteCount = bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        checksumStart = bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self)
        checksumOffset = bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
    }

    /// Writes the header to 10 bytes.
    package func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: flags, as: UInt8.self)
        bytes.storeBytes(of: segmentation, toByteOffset: 1, as: UInt8.self)
        bytes.storeBytes(of: headerByteCount, toByteOffset: 2, as: UInt16.self)
        bytes.storeBytes(of: segmentByteCount, toByteOffset: 4, as: UInt16.self)
        bytes.storeBytes(of: checksumStart, toByteOffset: 6, as: UInt16.self)
        bytes.storeBytes(of: checksumOffset, toByteOffset: 8, as: UInt16.self)
    }

    /// Whether the packet's checksum holds only the sum of the pseudo-header and is to be completed.
    package var needsChecksum: Bool { flags & linux_virtio_needs_csum != 0 }
    /// The kind of segments without the bit for ECN.
    package var kind: UInt8 { segmentation & ~linux_virtio_gso_ecn }
}
