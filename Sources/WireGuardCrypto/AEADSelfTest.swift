// SPDX-License-Identifier: MIT

/// A short check of an implementation before its first use.
///
/// It takes well under two milliseconds, and protects against a processor, a virtual machine or a compiler that
/// does not do what it should: a tunnel is then slow, not broken.
package enum AEADSelfTest {
    /// The lengths of packets: all ends of blocks of 16 and 64 bytes, and sizes that are common in tunnels.
    private static let byteCounts = [
        0, 1, 15, 16, 17, 31, 32, 47, 63, 64, 65, 96, 111, 112, 127, 128, 129, 176, 191, 192, 193, 255, 256,
        257,
        320, 447, 511, 512, 576, 703, 1_024, 1_087, 1_264, 1_280, 1_328, 1_344, 1_376, 1_408, 1_420, 1_424,
    ]

    /// Whether sealing and opening give what was computed elsewhere from RFC 8439, and what libsodium gives.
    package static func passes(_ implementation: AEADImplementation) -> Bool {
        // Both seeds take every length: once a packet a batch, once all in one batch, over three keys.
        knownAnswer(implementation) && equalsReference(implementation, seed: 1, batch: 1)
            && equalsReference(implementation, seed: 2, batch: byteCounts.count)
    }

    /// The tag of 421 bytes under the key 00 to 1F; it depends on every byte of the ciphertext.
    private static func knownAnswer(_ implementation: AEADImplementation) -> Bool {
        let expected: [16 of UInt8] = [
            0xBB, 0xEF, 0x1C, 0xAE, 0x55, 0x76, 0xC3, 0x1C, 0x18, 0xC6, 0xFA, 0xAE, 0x52, 0xE1, 0x9C, 0x18,
        ]
        let byteCount = 421
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 32 + footprint(byteCount), alignment: 64)
        defer { unsafe memory.deallocate() }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: 32 + footprint(byteCount))
        for index in 0..<32 {
            unsafe memory.storeBytes(of: UInt8(index), toByteOffset: index, as: UInt8.self)
        }
        let start = unsafe memory + 32 + PacketAEAD.headroom
        for index in 0..<byteCount {
            unsafe start.storeBytes(of: UInt8(index % 251), toByteOffset: index, as: UInt8.self)
        }
        var job = unsafe PacketAEADJob(
            key: UnsafeRawPointer(memory), source: UnsafeRawPointer(start), destination: start,
            counter: 0x0807_0605_0403_0201, byteCount: byteCount)
        unsafe withUnsafeMutablePointer(to: &job) { job in
            unsafe PacketAEAD.seal(UnsafeMutableBufferPointer(start: job, count: 1), using: implementation)
        }
        return expected.indices.allSatisfy { index in
            unsafe start.load(fromByteOffset: byteCount + index, as: UInt8.self) == expected[index]
        }
    }

    /// Whether batches of random packets are sealed as libsodium seals them, opened again, and refused when
    /// one bit was changed.
    private static func equalsReference(
        _ implementation: AEADImplementation, seed: UInt64, batch: Int
    ) -> Bool {
        let byteCounts = byteCounts
        let slabByteCount = byteCounts.reduce(0) { $0 + footprint($1) }
        let keysByteCount = 128
        // Keys, plaintext, what libsodium makes of it, what the implementation makes of it, opened packets.
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: keysByteCount + 4 * slabByteCount, alignment: 64)
        let jobs = UnsafeMutableBufferPointer<PacketAEADJob>.allocate(capacity: byteCounts.count)
        defer {
            unsafe memory.deallocate()
            unsafe jobs.deallocate()
        }
        let plain = unsafe memory + keysByteCount
        var random = seed
        for offset in stride(from: 0, to: keysByteCount + slabByteCount, by: 8) {
            unsafe memory.storeBytes(of: next(&random), toByteOffset: offset, as: UInt64.self)
        }
        for copy in 1...3 {
            unsafe (plain + copy * slabByteCount).copyMemory(from: plain, byteCount: slabByteCount)
        }
        var offset = PacketAEAD.headroom
        for (index, byteCount) in byteCounts.enumerated() {
            let start = unsafe plain + slabByteCount + offset
            unsafe jobs.initializeElement(
                at: index,
                to: PacketAEADJob(
                    key: UnsafeRawPointer(memory + 32 * (index / 3 % 3)), source: UnsafeRawPointer(start),
                    destination: start, counter: next(&random), byteCount: byteCount))
            offset += footprint(byteCount)
        }
        unsafe PacketAEAD.seal(jobs, using: .libsodium)
        unsafe move(jobs, bySource: slabByteCount, byDestination: slabByteCount)
        unsafe inBatches(jobs, of: batch) { unsafe PacketAEAD.seal($0, using: implementation) }
        let isSealedAlike = jobs.indices.allSatisfy { index in
            let job = unsafe jobs[index]
            return unsafe isEqual(job.source, job.source - slabByteCount, job.byteCount + 16)
        }
        unsafe move(jobs, bySource: 0, byDestination: slabByteCount)
        let changed = Int(next(&random) % UInt64(byteCounts.count))
        let place = unsafe jobs[changed].destination - slabByteCount
        let byte = Int(next(&random) % UInt64(byteCounts[changed] + 16))
        unsafe (place + byte).assumingMemoryBound(to: UInt8.self).pointee ^= 0x10
        unsafe inBatches(jobs, of: batch) { unsafe PacketAEAD.open($0, using: implementation) }
        return isSealedAlike
            && jobs.indices.allSatisfy { index in
                let job = unsafe jobs[index]
                if index == changed { return unsafe !job.isAuthentic }
                let plaintext = unsafe UnsafeRawPointer(job.destination - 3 * slabByteCount)
                return unsafe job.isAuthentic && isEqual(job.destination, plaintext, job.byteCount)
            }
    }

    /// Hands over the jobs, so many at a time.
    private static func inBatches(
        _ jobs: UnsafeMutableBufferPointer<PacketAEADJob>, of batch: Int,
        _ body: (UnsafeMutableBufferPointer<PacketAEADJob>) -> Void
    ) {
        for start in stride(from: 0, to: jobs.count, by: batch) {
            let range = start..<min(start + batch, jobs.count)
            unsafe body(UnsafeMutableBufferPointer(rebasing: jobs[range]))
        }
    }

    /// Moves the addresses of all jobs.
    private static func move(
        _ jobs: UnsafeMutableBufferPointer<PacketAEADJob>, bySource source: Int,
        byDestination destination: Int
    ) {
        for index in jobs.indices {
            unsafe jobs[index].source += source
            unsafe jobs[index].destination += destination
        }
    }

    /// Whether bytes are equal; they are no secrets.
    private static func isEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ byteCount: Int) -> Bool
    {
        (0..<byteCount).allSatisfy { offset in
            unsafe left.load(fromByteOffset: offset, as: UInt8.self)
                == right.load(fromByteOffset: offset, as: UInt8.self)
        }
    }

    /// The bytes of a packet and the room around it.
    private static func footprint(_ byteCount: Int) -> Int {
        PacketAEAD.headroom + byteCount + PacketAEAD.tailroom
    }

    /// The next number of a generator with fixed seeds (SplitMix64).
    private static func next(_ state: inout UInt64) -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
