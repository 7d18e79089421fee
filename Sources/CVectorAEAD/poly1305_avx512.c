// SPDX-License-Identifier: MIT

#include "kernels.h"

#if defined(__x86_64__)

#include "poly1305.h"

#include <immintrin.h>

/// Eight numbers modulo 2^130 - 5, limbs of 44, 44 and 42 bits or a little above.
struct wide {
    __m512i limb[3];
};

/// A factor with 20 times its two upper limbs: what is above 2^132 comes back times 20.
struct factor {
    __m512i limb[3], times20[2];
};

/// The lanes of the powers of r with which the eight blocks of a group are multiplied at the end, in the order
/// in which `split` puts the blocks.
static const int power_of_lane[8] = {8, 4, 7, 3, 6, 2, 5, 1};

/// What is computed for eight messages side by side.
struct powers {
    /// For each message the powers r^8 to r, in the order of the blocks of a group.
    __m512i last[8][3];
    /// The factors r^8 and r^16: three limbs, 20 times the two upper ones, each for all messages.
    uint64_t eighth[5][8], sixteenth[5][8];
};

AVX512 static ALWAYS_INLINE __m512i times5(__m512i a) {
    return _mm512_add_epi64(a, _mm512_slli_epi64(a, 2));
}

AVX512 static ALWAYS_INLINE struct factor as_factor(struct wide number) {
    return (struct factor){
        {number.limb[0], number.limb[1], number.limb[2]},
        {_mm512_slli_epi64(times5(number.limb[1]), 2), _mm512_slli_epi64(times5(number.limb[2]), 2)},
    };
}

/// Sums of products, not yet carried: the low 52 bits and the bits above them.
struct sums {
    __m512i low[3], high[3];
};

/// Adds lane by lane products; limbs of `a` below 2^47.
AVX512 static ALWAYS_INLINE void add_product(
    struct sums *sums, struct wide a, const struct factor *b) {
    const __m512i factors[3][3] = {
        {b->limb[0], b->times20[1], b->times20[0]},
        {b->limb[1], b->limb[0], b->times20[1]},
        {b->limb[2], b->limb[1], b->limb[0]},
    };
#pragma clang loop unroll(full)
    for (int j = 0; j < 3; j++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < 3; i++) {
            sums->low[i] = _mm512_madd52lo_epu64(sums->low[i], a.limb[j], factors[i][j]);
            sums->high[i] = _mm512_madd52hi_epu64(sums->high[i], a.limb[j], factors[i][j]);
        }
    }
}

/// Carries once, all limbs at the same time: they end at most 2^17 above their ranges.
AVX512 static ALWAYS_INLINE struct wide reduce(const struct sums *sums) {
    const __m512i mask44 = _mm512_set1_epi64((long long)MASK44);
    const __m512i mask42 = _mm512_set1_epi64((long long)MASK42);
    // The high half starts at bit 52, the next limb at bit 44.
    __m512i l0 = _mm512_add_epi64(sums->low[0], _mm512_slli_epi64(times5(sums->high[2]), 10));
    __m512i l1 = _mm512_add_epi64(sums->low[1], _mm512_slli_epi64(sums->high[0], 8));
    __m512i l2 = _mm512_add_epi64(sums->low[2], _mm512_slli_epi64(sums->high[1], 8));
    return (struct wide){{
        _mm512_add_epi64(_mm512_and_si512(l0, mask44), times5(_mm512_srli_epi64(l2, 42))),
        _mm512_add_epi64(_mm512_and_si512(l1, mask44), _mm512_srli_epi64(l0, 44)),
        _mm512_add_epi64(_mm512_and_si512(l2, mask42), _mm512_srli_epi64(l1, 44)),
    }};
}

AVX512 static ALWAYS_INLINE struct sums no_sums(void) {
    const __m512i zero = _mm512_setzero_si512();
    return (struct sums){{zero, zero, zero}, {zero, zero, zero}};
}

AVX512 static ALWAYS_INLINE struct wide multiply(struct wide a, const struct factor *b) {
    struct sums sums = no_sums();
    add_product(&sums, a, b);
    return reduce(&sums);
}

AVX512 static ALWAYS_INLINE struct wide product_of(struct wide a, struct wide b) {
    struct factor factor = as_factor(b);
    return multiply(a, &factor);
}

/// Eight numbers from their halves; `top` is what is added to the third limbs, which have 40 bits.
AVX512 static ALWAYS_INLINE struct wide as_limbs(__m512i low, __m512i high, __m512i top) {
    const __m512i mask44 = _mm512_set1_epi64((long long)MASK44);
    __m512i middle = _mm512_or_si512(_mm512_srli_epi64(low, 44), _mm512_slli_epi64(high, 20));
    return (struct wide){{_mm512_and_si512(low, mask44), _mm512_and_si512(middle, mask44),
                          _mm512_or_si512(_mm512_srli_epi64(high, 24), top)}};
}

/// Eight blocks as numbers; lanes hold blocks 0, 4, 1, 5, 2, 6, 3, 7. `top` has 1 << 40 in each lane in use.
AVX512 static ALWAYS_INLINE struct wide split(__m512i first, __m512i second, __m512i top) {
    return as_limbs(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second), top);
}

AVX512 static ALWAYS_INLINE struct wide add(struct wide a, struct wide b) {
    for (int i = 0; i < 3; i++) a.limb[i] = _mm512_add_epi64(a.limb[i], b.limb[i]);
    return a;
}

/// Rows to columns.
AVX512 static ALWAYS_INLINE void transpose(__m512i rows[8]) {
    __m512i a[8], b[8];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
        a[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i += 4) {
#pragma clang loop unroll(full)
        for (int j = 0; j < 2; j++) {
            b[i + j] = _mm512_shuffle_i64x2(a[i + j], a[i + 2 + j], 0x88);
            b[i + 2 + j] = _mm512_shuffle_i64x2(a[i + j], a[i + 2 + j], 0xDD);
        }
    }
#pragma clang loop unroll(full)
    for (int j = 0; j < 4; j++) {
        rows[j] = _mm512_shuffle_i64x2(b[j], b[4 + j], 0x88);
        rows[4 + j] = _mm512_shuffle_i64x2(b[j], b[4 + j], 0xDD);
    }
}

/// The powers of r of up to eight messages.
AVX512 static __attribute__((noinline)) void raise(
    struct powers *powers, const struct message *messages, size_t count) {
    _Alignas(64) uint64_t halves[2][8];
    for (size_t i = 0; i < 8; i++) {
        const uint8_t *key = messages[i < count ? i : 0].key;
        halves[0][i] = load64(key) & CLAMP_LOW;
        halves[1][i] = load64(key + 8) & CLAMP_HIGH;
    }
    struct wide power[9];
    power[1] = as_limbs(
        _mm512_load_si512(halves[0]), _mm512_load_si512(halves[1]), _mm512_setzero_si512());
    erase(halves, sizeof halves);
    power[2] = product_of(power[1], power[1]);
    power[3] = product_of(power[2], power[1]);
    power[4] = product_of(power[2], power[2]);
    power[5] = product_of(power[3], power[2]);
    power[6] = product_of(power[3], power[3]);
    power[7] = product_of(power[4], power[3]);
    power[8] = product_of(power[4], power[4]);
    struct factor eighth = as_factor(power[8]);
    struct factor sixteenth = as_factor(product_of(power[8], power[8]));
    for (int i = 0; i < 3; i++) {
        _mm512_storeu_si512(powers->eighth[i], eighth.limb[i]);
        _mm512_storeu_si512(powers->sixteenth[i], sixteenth.limb[i]);
    }
    for (int i = 0; i < 2; i++) {
        _mm512_storeu_si512(powers->eighth[3 + i], eighth.times20[i]);
        _mm512_storeu_si512(powers->sixteenth[3 + i], sixteenth.times20[i]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 3; i++) {
        __m512i rows[8];
#pragma clang loop unroll(full)
        for (int lane = 0; lane < 8; lane++) rows[lane] = power[power_of_lane[lane]].limb[i];
        transpose(rows);
#pragma clang loop unroll(full)
        for (int lane = 0; lane < 8; lane++) powers->last[lane][i] = rows[lane];
    }
}

AVX512 static ALWAYS_INLINE struct factor broadcast(uint64_t numbers[5][8], size_t index) {
    struct factor factor;
    for (int i = 0; i < 3; i++) factor.limb[i] = _mm512_set1_epi64((long long)numbers[i][index]);
    for (int i = 0; i < 2; i++) factor.times20[i] = _mm512_set1_epi64((long long)numbers[3 + i][index]);
    return factor;
}

// Vectors are loaded whole and what is not data is cleared in registers: loads with masks that leave something
// out take some processors much longer.

/// The bits of the first `count` bytes of a vector.
static ALWAYS_INLINE uint64_t bytes(size_t count) {
    return count < 64 ? ~(~UINT64_C(0) << count) : ~UINT64_C(0);
}

/// The block of lengths, as the last one of a group.
AVX512 static ALWAYS_INLINE __m512i lengths(const struct message *message) {
    return _mm512_maskz_set1_epi64(0x80, (long long)message->byte_count);
}

/// The first group: its first `missing` blocks are zero and do not count, the start of the data follows.
///
/// - is_last: Whether the block of lengths is in it too.
AVX512 static ALWAYS_INLINE struct wide load_first(
    const struct message *message, size_t missing, bool is_last) {
    size_t count = message->byte_count;
    __m512i a = _mm512_setzero_si512(), b = _mm512_setzero_si512();
    if (count > 0) a = _mm512_maskz_mov_epi8(bytes(count), _mm512_loadu_si512(message->data));
    if (count > 64) b = _mm512_maskz_mov_epi8(bytes(count - 64), _mm512_loadu_si512(message->data + 64));
    // All blocks move up by the missing ones.
    const __m512i places = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    __m512i from = _mm512_sub_epi64(places, _mm512_set1_epi64(2 * (long long)missing));
    unsigned used = 0xFFFFu << 2 * missing;
    __m512i first = _mm512_maskz_permutexvar_epi64((__mmask8)used, from, a);
    __m512i second = _mm512_maskz_permutex2var_epi64(
        (__mmask8)(used >> 8), a, _mm512_add_epi64(from, _mm512_set1_epi64(8)), b);
    if (is_last) second = _mm512_or_si512(second, lengths(message));
    const __m512i blocks = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    __mmask8 lanes = _mm512_cmpge_epu64_mask(blocks, _mm512_set1_epi64((long long)missing));
    return split(first, second, _mm512_maskz_set1_epi64(lanes, 1LL << 40));
}

/// The last group: the 97 to 112 bytes of data that are left, and the block of lengths.
AVX512 static ALWAYS_INLINE struct wide load_last(const uint8_t *data, const struct message *message) {
    size_t left = (size_t)(message->data + message->byte_count - data);
    __m512i second = _mm512_maskz_mov_epi8(bytes(left - 64), _mm512_loadu_si512(data + 64));
    return split(
        _mm512_loadu_si512(data), _mm512_or_si512(second, lengths(message)), _mm512_set1_epi64(1LL << 40));
}

AVX512 static ALWAYS_INLINE struct wide load_group(const uint8_t *data) {
    return split(
        _mm512_loadu_si512(data), _mm512_loadu_si512(data + 64), _mm512_set1_epi64(1LL << 40));
}

/// The lanes added up.
AVX512 static ALWAYS_INLINE struct element total(struct wide a) {
    struct element sum;
    for (int i = 0; i < 3; i++) sum.limb[i] = (uint64_t)_mm512_reduce_add_epi64(a.limb[i]);
    return carried(sum);
}

/// Bytes in all messages together up to which the powers of r cost more than they save.
#define FEW_BYTES 320

AVX512 void vector_aead_authenticate_avx512(const struct message *messages, size_t count) {
    size_t total_count = 0;
    for (size_t i = 0; i < count; i++) total_count += messages[i].byte_count;
    if (total_count <= FEW_BYTES) {
        for (size_t i = 0; i < count; i++)
            authenticate_blocks(messages[i].key, messages[i].data, messages[i].byte_count, messages[i].tag);
        return;
    }
    struct powers powers;
    raise(&powers, messages, count);
    for (size_t index = 0; index < count; index++) {
        const struct message *message = &messages[index];
        // The data, and the block of lengths; blocks of zero before the first one make groups of eight.
        size_t block_count = (message->byte_count + 15) / 16 + 1;
        size_t group_count = (block_count + 7) / 8;
        size_t missing = 8 * group_count - block_count;
        struct wide sum = load_first(message, missing, group_count == 1);
        if (group_count > 1) {
            struct factor eighth = broadcast(powers.eighth, index);
            struct factor sixteenth = broadcast(powers.sixteenth, index);
            const uint8_t *next = message->data + 16 * (8 - missing);
            size_t left = group_count - 2;
            if (left % 2 == 1) {
                sum = add(multiply(sum, &eighth), load_group(next));
                next += 128;
            }
            for (left /= 2; left > 0; left--, next += 256) {
                struct sums sums = no_sums();
                // What does not wait for the blocks before comes first.
                add_product(&sums, load_group(next), &eighth);
                add_product(&sums, sum, &sixteenth);
                sum = add(reduce(&sums), load_group(next + 128));
            }
            sum = add(multiply(sum, &eighth), load_last(next, message));
        }
        const __m512i *last = powers.last[index];
        sum = product_of((struct wide){{last[0], last[1], last[2]}}, sum);
        write_sum(total(sum), message->key, message->tag);
    }
    erase(&powers, sizeof powers);
}

#endif
