// SPDX-License-Identifier: MIT

extension BLAKE2s {
    /// Compresses one block of 64 bytes into the chaining value (RFC 7693 section 3.2).
    ///
    /// The ten rounds are written out on local variables: with the message schedule in a table the compiler
    /// keeps neither the words nor the state in registers, at about twice the time for each block.
    ///
    /// - Parameters:
    ///   - block: 64 readable bytes of any alignment.
    ///   - byteCount: The length of the message up to the end of this block.
    ///   - isLast: Whether this is the last block of the message.
    static func compress(
        _ chain: inout SIMD8<UInt32>, _ block: UnsafeRawPointer, byteCount: UInt64, isLast: Bool
    ) {
        @inline(__always) func word(_ index: Int) -> UInt32 {
            unsafe UInt32(littleEndian: block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
        }
        let m0 = word(0)
        let m1 = word(1)
        let m2 = word(2)
        let m3 = word(3)
        let m4 = word(4)
        let m5 = word(5)
        let m6 = word(6)
        let m7 = word(7)
        let m8 = word(8)
        let m9 = word(9)
        let m10 = word(10)
        let m11 = word(11)
        let m12 = word(12)
        let m13 = word(13)
        let m14 = word(14)
        let m15 = word(15)

        var v0 = chain[0]
        var v1 = chain[1]
        var v2 = chain[2]
        var v3 = chain[3]
        var v4 = chain[4]
        var v5 = chain[5]
        var v6 = chain[6]
        var v7 = chain[7]
        var v8: UInt32 = 0x6A09_E667
        var v9: UInt32 = 0xBB67_AE85
        var v10: UInt32 = 0x3C6E_F372
        var v11: UInt32 = 0xA54F_F53A
        var v12: UInt32 = 0x510E_527F ^ UInt32(truncatingIfNeeded: byteCount)
        var v13: UInt32 = 0x9B05_688C ^ UInt32(truncatingIfNeeded: byteCount >> 32)
        var v14: UInt32 = 0x1F83_D9AB ^ (isLast ? UInt32.max : 0)
        var v15: UInt32 = 0x5BE0_CD19

        mix(&v0, &v4, &v8, &v12, m0, m1)
        mix(&v1, &v5, &v9, &v13, m2, m3)
        mix(&v2, &v6, &v10, &v14, m4, m5)
        mix(&v3, &v7, &v11, &v15, m6, m7)
        mix(&v0, &v5, &v10, &v15, m8, m9)
        mix(&v1, &v6, &v11, &v12, m10, m11)
        mix(&v2, &v7, &v8, &v13, m12, m13)
        mix(&v3, &v4, &v9, &v14, m14, m15)
        mix(&v0, &v4, &v8, &v12, m14, m10)
        mix(&v1, &v5, &v9, &v13, m4, m8)
        mix(&v2, &v6, &v10, &v14, m9, m15)
        mix(&v3, &v7, &v11, &v15, m13, m6)
        mix(&v0, &v5, &v10, &v15, m1, m12)
        mix(&v1, &v6, &v11, &v12, m0, m2)
        mix(&v2, &v7, &v8, &v13, m11, m7)
        mix(&v3, &v4, &v9, &v14, m5, m3)
        mix(&v0, &v4, &v8, &v12, m11, m8)
        mix(&v1, &v5, &v9, &v13, m12, m0)
        mix(&v2, &v6, &v10, &v14, m5, m2)
        mix(&v3, &v7, &v11, &v15, m15, m13)
        mix(&v0, &v5, &v10, &v15, m10, m14)
        mix(&v1, &v6, &v11, &v12, m3, m6)
        mix(&v2, &v7, &v8, &v13, m7, m1)
        mix(&v3, &v4, &v9, &v14, m9, m4)
        mix(&v0, &v4, &v8, &v12, m7, m9)
        mix(&v1, &v5, &v9, &v13, m3, m1)
        mix(&v2, &v6, &v10, &v14, m13, m12)
        mix(&v3, &v7, &v11, &v15, m11, m14)
        mix(&v0, &v5, &v10, &v15, m2, m6)
        mix(&v1, &v6, &v11, &v12, m5, m10)
        mix(&v2, &v7, &v8, &v13, m4, m0)
        mix(&v3, &v4, &v9, &v14, m15, m8)
        mix(&v0, &v4, &v8, &v12, m9, m0)
        mix(&v1, &v5, &v9, &v13, m5, m7)
        mix(&v2, &v6, &v10, &v14, m2, m4)
        mix(&v3, &v7, &v11, &v15, m10, m15)
        mix(&v0, &v5, &v10, &v15, m14, m1)
        mix(&v1, &v6, &v11, &v12, m11, m12)
        mix(&v2, &v7, &v8, &v13, m6, m8)
        mix(&v3, &v4, &v9, &v14, m3, m13)
        mix(&v0, &v4, &v8, &v12, m2, m12)
        mix(&v1, &v5, &v9, &v13, m6, m10)
        mix(&v2, &v6, &v10, &v14, m0, m11)
        mix(&v3, &v7, &v11, &v15, m8, m3)
        mix(&v0, &v5, &v10, &v15, m4, m13)
        mix(&v1, &v6, &v11, &v12, m7, m5)
        mix(&v2, &v7, &v8, &v13, m15, m14)
        mix(&v3, &v4, &v9, &v14, m1, m9)
        mix(&v0, &v4, &v8, &v12, m12, m5)
        mix(&v1, &v5, &v9, &v13, m1, m15)
        mix(&v2, &v6, &v10, &v14, m14, m13)
        mix(&v3, &v7, &v11, &v15, m4, m10)
        mix(&v0, &v5, &v10, &v15, m0, m7)
        mix(&v1, &v6, &v11, &v12, m6, m3)
        mix(&v2, &v7, &v8, &v13, m9, m2)
        mix(&v3, &v4, &v9, &v14, m8, m11)
        mix(&v0, &v4, &v8, &v12, m13, m11)
        mix(&v1, &v5, &v9, &v13, m7, m14)
        mix(&v2, &v6, &v10, &v14, m12, m1)
        mix(&v3, &v7, &v11, &v15, m3, m9)
        mix(&v0, &v5, &v10, &v15, m5, m0)
        mix(&v1, &v6, &v11, &v12, m15, m4)
        mix(&v2, &v7, &v8, &v13, m8, m6)
        mix(&v3, &v4, &v9, &v14, m2, m10)
        mix(&v0, &v4, &v8, &v12, m6, m15)
        mix(&v1, &v5, &v9, &v13, m14, m9)
        mix(&v2, &v6, &v10, &v14, m11, m3)
        mix(&v3, &v7, &v11, &v15, m0, m8)
        mix(&v0, &v5, &v10, &v15, m12, m2)
        mix(&v1, &v6, &v11, &v12, m13, m7)
        mix(&v2, &v7, &v8, &v13, m1, m4)
        mix(&v3, &v4, &v9, &v14, m10, m5)
        mix(&v0, &v4, &v8, &v12, m10, m2)
        mix(&v1, &v5, &v9, &v13, m8, m4)
        mix(&v2, &v6, &v10, &v14, m7, m6)
        mix(&v3, &v7, &v11, &v15, m1, m5)
        mix(&v0, &v5, &v10, &v15, m15, m11)
        mix(&v1, &v6, &v11, &v12, m9, m14)
        mix(&v2, &v7, &v8, &v13, m3, m12)
        mix(&v3, &v4, &v9, &v14, m13, m0)

        chain ^= SIMD8(
            v0 ^ v8, v1 ^ v9, v2 ^ v10, v3 ^ v11, v4 ^ v12, v5 ^ v13, v6 ^ v14, v7 ^ v15)
    }

    /// The quarter-round G of RFC 7693 section 3.1.
    @inline(__always)
    private static func mix(
        _ a: inout UInt32, _ b: inout UInt32, _ c: inout UInt32, _ d: inout UInt32, _ x: UInt32, _ y: UInt32
    ) {
        a = a &+ b &+ x
        d = rotateRight(d ^ a, 16)
        c = c &+ d
        b = rotateRight(b ^ c, 12)
        a = a &+ b &+ y
        d = rotateRight(d ^ a, 8)
        c = c &+ d
        b = rotateRight(b ^ c, 7)
    }

    /// Rotates a word to the right.
    @inline(__always)
    private static func rotateRight(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 &- count)
    }
}
