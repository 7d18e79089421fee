// SPDX-License-Identifier: MIT

import Glibc
import Testing

/// The writable memory of this process.
enum ProcessMemory {
    /// How often a text is there.
    ///
    /// - Parameter inverted: The text with each bit inverted, so that looking for it puts no copy of it there.
    static func count(ofInverted inverted: [UInt8]) throws -> Int {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        let size = 1 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { buffer.deallocate() }
        let own = UInt64(UInt(bitPattern: buffer.baseAddress))
        var found = 0
        for range in try writableRanges() {
            var address = range.lowerBound
            while address + UInt64(inverted.count) <= range.upperBound {
                let wanted = Int(min(UInt64(size), range.upperBound - address))
                let count = pread(memory, buffer.baseAddress, wanted, off_t(address))
                guard count >= inverted.count else { break }
                // What was just read is not what is looked for.
                if !(address..<address + UInt64(count)).overlaps(own..<own + UInt64(size)) {
                    found += occurrences(of: inverted, in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                }
                // The parts overlap, so that nothing hides between two of them.
                address += UInt64(count - inverted.count + 1)
            }
        }
        return found
    }

    private static func writableRanges() throws -> [Range<UInt64>] {
        let maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        try #require(maps >= 0)
        defer { close(maps) }
        var text: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(maps, &part, part.count)
            guard count > 0 else { break }
            text += part.prefix(count)
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            return fields[1].hasPrefix("rw") && ends.count == 2 ? ends[0]..<ends[1] : nil
        }
    }

    private static func occurrences(of inverted: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
        var found = 0
        var rest = bytes
        while rest.count >= inverted.count, let start = rest.baseAddress,
            let next = memchr(start, Int32(~inverted[0]), rest.count - inverted.count + 1)
        {
            let offset = UnsafeRawPointer(next) - start
            if inverted.indices.allSatisfy({ rest[offset + $0] == ~inverted[$0] }) { found += 1 }
            rest = UnsafeRawBufferPointer(rebasing: rest[(offset + 1)...])
        }
        return found
    }
}
