// SPDX-License-Identifier: MIT

#include "kernels.h"

#if defined(__x86_64__)

#include "poly1305.h"

#include <immintrin.h>

#define MASK26 ((UINT64_C(1) << 26) - 1)

/// Four numbers modulo 2^130 - 5, limbs of 26 bits.
struct wide {
    __m256i limb[5];
};

/// A number whose limbs are in their ranges, in limbs of 26 bits.
static inline void narrow(struct element a, uint64_t limbs[5]) {
    limbs[0] = a.limb[0] & MASK26;
    limbs[1] = (a.limb[0] >> 26 | a.limb[1] << 18) & MASK26;
    limbs[2] = a.limb[1] >> 8 & MASK26;
    limbs[3] = (a.limb[1] >> 34 | a.limb[2] << 10) & MASK26;
    limbs[4] = a.limb[2] >> 16;
}

AVX2 static inline __m256i times5(__m256i a) { return _mm256_add_epi64(a, _mm256_slli_epi64(a, 2)); }

/// A factor with its multiple of 5.
struct factor {
    struct wide number, times5;
};

AVX2 static ALWAYS_INLINE void set_factor(struct factor *factor, struct wide number) {
#pragma clang loop unroll(full)
    for (int i = 0; i < 5; i++) {
        factor->number.limb[i] = number.limb[i];
        factor->times5.limb[i] = times5(number.limb[i]);
    }
}

/// The products of the low halves of 64-bit lanes.
///
/// Not the intrinsic: the compiler takes its clearing of the high halves out of the loop, then no longer sees that
/// they are zero, and multiplies all 64 bits in three steps.
AVX2 static ALWAYS_INLINE __m256i multiply_low(__m256i a, const __m256i *b) {
    __m256i result;
    __asm__("vpmuludq %2, %1, %0" : "=x"(result) : "x"(a), "m"(*b));
    return result;
}

/// Adds the products, lane by lane, without carries; limbs of `a` below 2^28 and of `b` below 2^27.
AVX2 static ALWAYS_INLINE void add_product(
    __m256i d[5], struct wide a, const struct factor *b) {
#pragma clang loop unroll(full)
    for (int j = 0; j < 5; j++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < 5; i++) {
            const __m256i *other = j <= i ? &b->number.limb[i - j] : &b->times5.limb[5 + i - j];
            d[i] = _mm256_add_epi64(d[i], multiply_low(a.limb[j], other));
        }
    }
}

/// Brings the limbs of sums of products back to 26 bits, or very little above.
AVX2 static ALWAYS_INLINE struct wide reduce(__m256i d[5]) {
    const __m256i mask = _mm256_set1_epi64x((long long)MASK26);
    // Two chains of carries side by side: 0 to 1 to 2 to 3, and 3 to 4 to 0 to 1.
    d[1] = _mm256_add_epi64(d[1], _mm256_srli_epi64(d[0], 26));
    d[0] = _mm256_and_si256(d[0], mask);
    d[4] = _mm256_add_epi64(d[4], _mm256_srli_epi64(d[3], 26));
    d[3] = _mm256_and_si256(d[3], mask);
    d[2] = _mm256_add_epi64(d[2], _mm256_srli_epi64(d[1], 26));
    d[1] = _mm256_and_si256(d[1], mask);
    d[0] = _mm256_add_epi64(d[0], times5(_mm256_srli_epi64(d[4], 26)));
    d[4] = _mm256_and_si256(d[4], mask);
    d[3] = _mm256_add_epi64(d[3], _mm256_srli_epi64(d[2], 26));
    d[2] = _mm256_and_si256(d[2], mask);
    d[1] = _mm256_add_epi64(d[1], _mm256_srli_epi64(d[0], 26));
    d[0] = _mm256_and_si256(d[0], mask);
    d[4] = _mm256_add_epi64(d[4], _mm256_srli_epi64(d[3], 26));
    d[3] = _mm256_and_si256(d[3], mask);
    return (struct wide){{d[0], d[1], d[2], d[3], d[4]}};
}

/// `a` times `b` plus `c` times `d`, lane by lane.
AVX2 static ALWAYS_INLINE struct wide multiply(
    struct wide a, const struct factor *b, struct wide c, const struct factor *d) {
    __m256i sums[5] = {
        _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
        _mm256_setzero_si256(),
    };
    // What does not wait for the blocks before comes first.
    add_product(sums, c, d);
    add_product(sums, a, b);
    return reduce(sums);
}

/// Four blocks as numbers; lanes hold blocks 0, 2, 1, 3. `top` has 1 << 24 in each lane in use.
AVX2 static ALWAYS_INLINE struct wide split(
    __m256i first, __m256i second, __m256i top) {
    const __m256i mask = _mm256_set1_epi64x((long long)MASK26);
    __m256i low = _mm256_unpacklo_epi64(first, second);
    __m256i high = _mm256_unpackhi_epi64(first, second);
    __m256i middle = _mm256_or_si256(_mm256_srli_epi64(low, 52), _mm256_slli_epi64(high, 12));
    return (struct wide){{
        _mm256_and_si256(low, mask),
        _mm256_and_si256(_mm256_srli_epi64(low, 26), mask),
        _mm256_and_si256(middle, mask),
        _mm256_and_si256(_mm256_srli_epi64(high, 14), mask),
        _mm256_or_si256(_mm256_srli_epi64(high, 40), top),
    }};
}

/// The lanes added up.
AVX2 static inline struct element total(struct wide a) {
    uint64_t limbs[5];
    for (int i = 0; i < 5; i++) {
        __m128i half = _mm_add_epi64(
            _mm256_castsi256_si128(a.limb[i]), _mm256_extracti128_si256(a.limb[i], 1));
        limbs[i] = (uint64_t)_mm_cvtsi128_si64(half) + (uint64_t)_mm_extract_epi64(half, 1);
    }
    // Limbs are below 2^29: what reaches into the next limb is added there.
    struct element sum = {{
        limbs[0] + ((limbs[1] & ((1 << 18) - 1)) << 26),
        (limbs[1] >> 18) + (limbs[2] << 8) + ((limbs[3] & ((1 << 10) - 1)) << 34),
        (limbs[3] >> 10) + (limbs[4] << 16),
    }};
    return carried(sum);
}

/// Eight times no bits, then eight times all bits: masks from a place in between.
static const int64_t window[16] = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};

/// Blocks from which on the powers of r cost less than they save.
#define LEAST_BLOCKS 16

AVX2 static ALWAYS_INLINE struct wide load_blocks(const uint8_t *data) {
    return split(
        _mm256_loadu_si256((const __m256i *)data), _mm256_loadu_si256((const __m256i *)(data + 32)),
        _mm256_set1_epi64x(1 << 24));
}

/// Four blocks of which the first `missing` are not there and count as zero.
AVX2 static inline struct wide load_first_blocks(uintptr_t place, size_t missing) {
    const int64_t *masks = window + 8 - 2 * missing;
    __m256i first = _mm256_loadu_si256((const __m256i *)masks);
    __m256i second = _mm256_loadu_si256((const __m256i *)(masks + 4));
    return split(
        _mm256_maskload_epi64((const long long *)place, first),
        _mm256_maskload_epi64((const long long *)(place + 32), second),
        _mm256_and_si256(_mm256_set1_epi64x(1 << 24), _mm256_unpacklo_epi64(first, second)));
}

AVX2 static inline void authenticate(
    const uint8_t *key, const uint8_t *data, size_t byte_count, uint8_t *tag) {
    size_t block_count = byte_count / 16;
    if (block_count < LEAST_BLOCKS) {
        authenticate_blocks(key, data, byte_count, tag);
        return;
    }
    struct element r = clamped(key);
    struct {
        uint64_t powers[4][5];
        // r^4 and r^8 in all lanes, and r^4 to r and r^8 to r^5 in the order of the blocks.
        struct factor fourth, eighth, low, high;
    } secret;
    struct element square = carried(product(r, r));
    narrow(r, secret.powers[0]);
    narrow(square, secret.powers[1]);
    narrow(carried(product(square, r)), secret.powers[2]);
    narrow(carried(product(square, square)), secret.powers[3]);
    struct wide fourth, low;
    for (int i = 0; i < 5; i++) {
        fourth.limb[i] = _mm256_set1_epi64x((long long)secret.powers[3][i]);
        low.limb[i] = _mm256_set_epi64x(
            (long long)secret.powers[0][i], (long long)secret.powers[2][i], (long long)secret.powers[1][i],
            (long long)secret.powers[3][i]);
    }
    set_factor(&secret.fourth, fourth);
    set_factor(&secret.low, low);
    __m256i sums[5];
    for (int i = 0; i < 5; i++) sums[i] = _mm256_setzero_si256();
    add_product(sums, low, &secret.fourth);
    struct wide high = reduce(sums);
    set_factor(&secret.high, high);
    for (int i = 0; i < 5; i++) high.limb[i] = _mm256_broadcastq_epi64(_mm256_castsi256_si128(high.limb[i]));
    set_factor(&secret.eighth, high);

    // Blocks of value zero before the first ones change nothing: the count becomes a multiple of eight.
    size_t missing = -block_count % 8;
    uintptr_t place = (uintptr_t)data - 16 * missing;
    struct wide sum = load_first_blocks(place, missing < 4 ? missing : 4);
    struct wide other = load_first_blocks(place + 64, missing < 4 ? 0 : missing - 4);
    const uint8_t *next = (const uint8_t *)(place + 128);
    for (size_t left = (block_count + missing) / 8 - 1; left > 0; left--, next += 128) {
        sum = multiply(sum, &secret.eighth, other, &secret.fourth);
        struct wide blocks = load_blocks(next);
#pragma clang loop unroll(full)
        for (int i = 0; i < 5; i++) sum.limb[i] = _mm256_add_epi64(sum.limb[i], blocks.limb[i]);
        other = load_blocks(next + 64);
    }
    sum = multiply(sum, &secret.high, other, &secret.low);
    write_tag(total(sum), r, key, data, byte_count, tag);
    erase(&secret, sizeof secret);
}

AVX2 void vector_aead_authenticate_avx2(const struct message *messages, size_t count) {
    for (size_t i = 0; i < count; i++)
        authenticate(messages[i].key, messages[i].data, messages[i].byte_count, messages[i].tag);
}

#endif
