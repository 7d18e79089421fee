// SPDX-License-Identifier: MIT

#include "kernels.h"

#if defined(__x86_64__)

#include "poly1305.h"

#include <immintrin.h>

/// Eight numbers modulo 2^130 - 5, limbs of 44, 44 and 42 bits.
struct wide {
    __m512i limb[3];
};

/// A factor with what its multiples of 20 are.
struct factor {
    struct wide number;
    __m512i times20[2];
};

AVX512 static inline __m512i times5(__m512i a) { return _mm512_add_epi64(a, _mm512_slli_epi64(a, 2)); }

AVX512 static inline struct factor as_factor(struct wide number) {
    struct factor factor = {number, {_mm512_slli_epi64(times5(number.limb[1]), 2),
                                     _mm512_slli_epi64(times5(number.limb[2]), 2)}};
    return factor;
}

/// Lane by lane products; limbs of `a` below 2^47.
AVX512 static inline struct wide multiply(struct wide a, struct factor b) {
    const __m512i mask44 = _mm512_set1_epi64((long long)MASK44);
    const __m512i mask42 = _mm512_set1_epi64((long long)MASK42);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i factors[3][3] = {
        {b.number.limb[0], b.times20[1], b.times20[0]},
        {b.number.limb[1], b.number.limb[0], b.times20[1]},
        {b.number.limb[2], b.number.limb[1], b.number.limb[0]},
    };
    __m512i low[3], high[3];
#pragma clang loop unroll(full)
    for (int i = 0; i < 3; i++) {
        // Two short chains instead of a long one.
        __m512i l = _mm512_madd52lo_epu64(zero, a.limb[0], factors[i][0]);
        __m512i m = _mm512_madd52lo_epu64(zero, a.limb[2], factors[i][2]);
        l = _mm512_madd52lo_epu64(l, a.limb[1], factors[i][1]);
        low[i] = _mm512_add_epi64(l, m);
        __m512i h = _mm512_madd52hi_epu64(zero, a.limb[0], factors[i][0]);
        __m512i k = _mm512_madd52hi_epu64(zero, a.limb[2], factors[i][2]);
        h = _mm512_madd52hi_epu64(h, a.limb[1], factors[i][1]);
        // The high half starts at bit 52, the next limb at bit 44.
        high[i] = _mm512_slli_epi64(_mm512_add_epi64(h, k), 8);
    }
    __m512i l0 = low[0];
    __m512i l1 = _mm512_add_epi64(low[1], high[0]);
    __m512i l2 = _mm512_add_epi64(low[2], high[1]);
    __m512i l3 = _mm512_slli_epi64(times5(high[2]), 2);
    l1 = _mm512_add_epi64(l1, _mm512_srli_epi64(l0, 44));
    l0 = _mm512_add_epi64(_mm512_and_si512(l0, mask44), l3);
    l2 = _mm512_add_epi64(l2, _mm512_srli_epi64(l1, 44));
    l1 = _mm512_and_si512(l1, mask44);
    l0 = _mm512_add_epi64(l0, times5(_mm512_srli_epi64(l2, 42)));
    l2 = _mm512_and_si512(l2, mask42);
    l1 = _mm512_add_epi64(l1, _mm512_srli_epi64(l0, 44));
    l0 = _mm512_and_si512(l0, mask44);
    return (struct wide){{l0, l1, l2}};
}

/// Eight blocks as numbers; lanes hold blocks 0, 4, 1, 5, 2, 6, 3, 7. `top` has 1 << 40 in each lane in use.
AVX512 static inline struct wide split(__m512i first, __m512i second, __m512i top) {
    const __m512i mask44 = _mm512_set1_epi64((long long)MASK44);
    __m512i low = _mm512_unpacklo_epi64(first, second);
    __m512i high = _mm512_unpackhi_epi64(first, second);
    __m512i middle = _mm512_or_si512(_mm512_srli_epi64(low, 44), _mm512_slli_epi64(high, 20));
    return (struct wide){{_mm512_and_si512(low, mask44), _mm512_and_si512(middle, mask44),
                          _mm512_or_si512(_mm512_srli_epi64(high, 24), top)}};
}

AVX512 static inline struct wide add(struct wide a, struct wide b) {
    for (int i = 0; i < 3; i++) a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
    return a;
}

/// The lanes added up.
AVX512 static inline struct element total(struct wide a) {
    struct element sum;
    for (int i = 0; i < 3; i++) sum.limb[i] = (uint64_t)_mm512_reduce_add_epi64(a.limb[i]);
    return carried(sum);
}

/// Blocks from which on the powers of r cost less than they save.
#define LEAST_BLOCKS 12

AVX512 void vector_aead_authenticate_avx512(
    const uint8_t *key, const uint8_t *data, size_t byte_count, uint8_t *tag) {
    struct element powers[4];
    powers[0] = clamped(key);
    size_t block_count = byte_count / 16;
    if (block_count < LEAST_BLOCKS) {
        struct element sum = absorb((struct element){{0, 0, 0}}, powers[0], data, block_count);
        write_tag(sum, powers[0], key, data, byte_count, tag);
        erase(powers, sizeof powers[0]);
        return;
    }
    powers[1] = product(powers[0], powers[0]);
    powers[2] = product(powers[1], powers[0]);
    powers[3] = product(powers[1], powers[1]);
    // Lanes r^8, r^4, r^7, r^3, ... in the order of the blocks.
    struct wide small, large;
    for (int i = 0; i < 3; i++) {
        long long one = i == 0;
        long long fourth = (long long)powers[3].limb[i];
        small.limb[i] = _mm512_set_epi64(
            (long long)powers[0].limb[i], (long long)powers[0].limb[i], (long long)powers[1].limb[i],
            (long long)powers[1].limb[i], (long long)powers[2].limb[i], (long long)powers[2].limb[i], fourth,
            fourth);
        large.limb[i] = _mm512_set_epi64(one, fourth, one, fourth, one, fourth, one, fourth);
    }
    struct wide last = multiply(small, as_factor(large));
    struct wide eighth;
    for (int i = 0; i < 3; i++)
        eighth.limb[i] = _mm512_broadcastq_epi64(_mm512_castsi512_si128(last.limb[i]));
    struct factor step = as_factor(eighth);

    // Blocks of value zero before the first ones change nothing: the count becomes a multiple of eight.
    const __m512i top = _mm512_set1_epi64(1LL << 40);
    const __m512i blocks = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    unsigned missing = (unsigned)(-block_count % 8);
    unsigned used = 0xFFFFu << 2 * missing;
    uintptr_t place = (uintptr_t)data - 16 * (uintptr_t)missing;
    __mmask8 lanes = _mm512_cmpge_epu64_mask(blocks, _mm512_set1_epi64(missing));
    struct wide sum = split(
        _mm512_maskz_loadu_epi64((__mmask8)used, (const void *)place),
        _mm512_maskz_loadu_epi64((__mmask8)(used >> 8), (const void *)(place + 64)),
        _mm512_maskz_mov_epi64(lanes, top));
    const uint8_t *next = (const uint8_t *)(place + 128);
    for (size_t left = (block_count + missing) / 8 - 1; left > 0; left--, next += 128)
        sum = add(multiply(sum, step), split(_mm512_loadu_si512(next), _mm512_loadu_si512(next + 64), top));
    write_tag(total(multiply(sum, as_factor(last))), powers[0], key, data, byte_count, tag);
    erase(powers, sizeof powers);
}

#endif
