// SPDX-License-Identifier: MIT

#include "kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define ADD(a, b) _mm256_add_epi32(a, b)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define ROTATE(a, count) _mm256_or_si256(_mm256_slli_epi32(a, count), _mm256_srli_epi32(a, 32 - (count)))
#define SHUFFLE(a, order) _mm256_shuffle_epi8(a, order)

/// A quarter round on four words, in all lanes.
#define QUARTER(a, b, c, d)                \
    do {                                   \
        a = ADD(a, b);                     \
        d = SHUFFLE(XOR(d, a), by16);      \
        c = ADD(c, d);                     \
        b = XOR(b, c);                     \
        b = ROTATE(b, 12);                 \
        a = ADD(a, b);                     \
        d = SHUFFLE(XOR(d, a), by8);       \
        c = ADD(c, d);                     \
        b = XOR(b, c);                     \
        b = ROTATE(b, 7);                  \
    } while (0)

AVX2 static ALWAYS_INLINE __m256i words(uint32_t value) {
    return _mm256_set1_epi32((int)value);
}

/// Combines 32 of the 64 bytes of one lane with a half of its block.
AVX2 static ALWAYS_INLINE void combine(
    const struct lanes *lanes, int lane, int offset, __m256i half) {
    __m256i source = _mm256_loadu_si256((const __m256i *)(lanes->source[lane] + offset));
    _mm256_storeu_si256((__m256i *)(lanes->destination[lane] + offset), XOR(source, half));
}

/// Turns eight words of all lanes into one half of each lane's block, and combines it.
AVX2 static ALWAYS_INLINE void combine_halves(
    const struct lanes *lanes, int offset, const __m256i *words) {
    __m256i x[8];
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i += 4) {
        __m256i a = _mm256_unpacklo_epi32(words[i], words[i + 1]);
        __m256i b = _mm256_unpackhi_epi32(words[i], words[i + 1]);
        __m256i c = _mm256_unpacklo_epi32(words[i + 2], words[i + 3]);
        __m256i d = _mm256_unpackhi_epi32(words[i + 2], words[i + 3]);
        x[i] = _mm256_unpacklo_epi64(a, c);
        x[i + 1] = _mm256_unpackhi_epi64(a, c);
        x[i + 2] = _mm256_unpacklo_epi64(b, d);
        x[i + 3] = _mm256_unpackhi_epi64(b, d);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
        combine(lanes, i, offset, _mm256_permute2x128_si256(x[i], x[4 + i], 0x20));
        combine(lanes, 4 + i, offset, _mm256_permute2x128_si256(x[i], x[4 + i], 0x31));
    }
}

/// Eight blocks from the keys' words, one vector a word, lanes side by side.
AVX2 static ALWAYS_INLINE void encrypt(
    const struct lanes *lanes, const __m256i key[8]) {
    const __m256i by16 = _mm256_set_epi8(
        13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0,
        3, 2);
    const __m256i by8 = _mm256_set_epi8(
        14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3, 14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1,
        0, 3);
    const __m256i *block = (const __m256i *)lanes->block;
    const __m256i *low = (const __m256i *)lanes->low;
    const __m256i *high = (const __m256i *)lanes->high;
    __m256i x[16] = {
        words(0x61707865), words(0x3320646E), words(0x79622D32), words(0x6B206574),
        key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
        *block, _mm256_setzero_si256(), *low, *high,
    };
#pragma clang loop unroll(disable)
    for (int round = 0; round < 10; round++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    x[0] = ADD(x[0], words(0x61707865));
    x[1] = ADD(x[1], words(0x3320646E));
    x[2] = ADD(x[2], words(0x79622D32));
    x[3] = ADD(x[3], words(0x6B206574));
#pragma clang loop unroll(full)
    for (int i = 0; i < 8; i++) x[4 + i] = ADD(x[4 + i], key[i]);
    x[12] = ADD(x[12], *block);
    x[14] = ADD(x[14], *low);
    x[15] = ADD(x[15], *high);
    combine_halves(lanes, 0, x);
    combine_halves(lanes, 32, x + 8);
}

AVX2 void vector_aead_encrypt_avx2(const struct lanes *lanes) {
    // Wide registers are too few for the keys' words too: they lie in memory in any case.
    __m256i keys[8];
    if (lanes->has_one_key) {
        for (int i = 0; i < 8; i++) {
            uint32_t word;
            memcpy(&word, lanes->key[0] + 4 * i, 4);
            keys[i] = words(word);
        }
    } else {
        for (int lane = 0; lane < 8; lane++)
            for (int i = 0; i < 8; i++)
                memcpy((uint8_t *)&keys[i] + 4 * lane, lanes->key[lane] + 4 * i, 4);
    }
    encrypt(lanes, keys);
    erase(keys, sizeof keys);
}

#endif
