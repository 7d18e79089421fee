// SPDX-License-Identifier: MIT

#include "kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define ADD(a, b) _mm512_add_epi32(a, b)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define ROTATE(a, count) _mm512_rol_epi32(a, count)

/// A quarter round on four words, in all lanes.
#define QUARTER(a, b, c, d)            \
    do {                               \
        a = ADD(a, b);                 \
        d = ROTATE(XOR(d, a), 16);     \
        c = ADD(c, d);                 \
        b = ROTATE(XOR(b, c), 12);     \
        a = ADD(a, b);                 \
        d = ROTATE(XOR(d, a), 8);      \
        c = ADD(c, d);                 \
        b = ROTATE(XOR(b, c), 7);      \
    } while (0)

AVX512 static ALWAYS_INLINE __m512i words(uint32_t value) {
    return _mm512_set1_epi32((int)value);
}

/// Combines the 64 bytes of one lane with its block.
AVX512 static ALWAYS_INLINE void combine(
    const struct lanes *lanes, int lane, __m512i block) {
    _mm512_storeu_si512(lanes->destination[lane], XOR(_mm512_loadu_si512(lanes->source[lane]), block));
}

/// Turns four words of all lanes into quarters of blocks: `rows[i]` then holds those of lanes i, 4 + i, 8 + i
/// and 12 + i.
AVX512 static ALWAYS_INLINE void transpose(__m512i *rows) {
    __m512i a = _mm512_unpacklo_epi32(rows[0], rows[1]);
    __m512i b = _mm512_unpackhi_epi32(rows[0], rows[1]);
    __m512i c = _mm512_unpacklo_epi32(rows[2], rows[3]);
    __m512i d = _mm512_unpackhi_epi32(rows[2], rows[3]);
    rows[0] = _mm512_unpacklo_epi64(a, c);
    rows[1] = _mm512_unpackhi_epi64(a, c);
    rows[2] = _mm512_unpacklo_epi64(b, d);
    rows[3] = _mm512_unpackhi_epi64(b, d);
}

/// Sixteen blocks from the keys' words, one vector a word, lanes side by side.
AVX512 static ALWAYS_INLINE void encrypt(
    const struct lanes *lanes, const __m512i key[8]) {
    const __m512i block = _mm512_load_si512(lanes->block);
    const __m512i low = _mm512_load_si512(lanes->low);
    const __m512i high = _mm512_load_si512(lanes->high);
    __m512i x[16] = {
        words(0x61707865), words(0x3320646E), words(0x79622D32), words(0x6B206574),
        key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
        block, _mm512_setzero_si512(), low, high,
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
    x[12] = ADD(x[12], block);
    x[14] = ADD(x[14], low);
    x[15] = ADD(x[15], high);
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 4) transpose(x + i);
#pragma clang loop unroll(full)
    for (int i = 0; i < 4; i++) {
        __m512i a = _mm512_shuffle_i32x4(x[i], x[4 + i], 0x44);
        __m512i b = _mm512_shuffle_i32x4(x[i], x[4 + i], 0xEE);
        __m512i c = _mm512_shuffle_i32x4(x[8 + i], x[12 + i], 0x44);
        __m512i d = _mm512_shuffle_i32x4(x[8 + i], x[12 + i], 0xEE);
        combine(lanes, i, _mm512_shuffle_i32x4(a, c, 0x88));
        combine(lanes, 4 + i, _mm512_shuffle_i32x4(a, c, 0xDD));
        combine(lanes, 8 + i, _mm512_shuffle_i32x4(b, d, 0x88));
        combine(lanes, 12 + i, _mm512_shuffle_i32x4(b, d, 0xDD));
    }
}

AVX512 static __attribute__((noinline)) void encrypt_with_keys(const struct lanes *lanes) {
    _Alignas(64) uint32_t keys[8][16];
    for (int lane = 0; lane < 16; lane++) {
        uint32_t key[8];
        memcpy(key, lanes->key[lane], 32);
        for (int i = 0; i < 8; i++) keys[i][lane] = key[i];
        erase(key, sizeof key);
    }
    __m512i key[8];
    for (int i = 0; i < 8; i++) key[i] = _mm512_load_si512(keys[i]);
    encrypt(lanes, key);
    erase(keys, sizeof keys);
}

AVX512 void vector_aead_encrypt_avx512(const struct lanes *lanes) {
    if (!lanes->has_one_key) {
        encrypt_with_keys(lanes);
        return;
    }
    __m512i key[8];
    for (int i = 0; i < 8; i++) {
        uint32_t word;
        memcpy(&word, lanes->key[0] + 4 * i, 4);
        key[i] = words(word);
    }
    encrypt(lanes, key);
}

#endif
