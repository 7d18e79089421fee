// SPDX-License-Identifier: MIT

#include "CChecksum.h"

#include <stdbool.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/// Eight words of 64 bits, in as many registers as the processor needs for them.
typedef uint64_t vector __attribute__((vector_size(64)));

/// Both functions, for whatever processor it is compiled for.
static ALWAYS_INLINE uint64_t run(
    uint8_t *restrict destination, const uint8_t *restrict source, size_t byte_count, bool copies) {
    vector low = {0}, high = {0};
    for (; byte_count >= 64; byte_count -= 64, source += 64) {
        vector words;
        memcpy(&words, source, 64);
        if (copies) {
            memcpy(destination, &words, 64);
            destination += 64;
        }
        low += words & 0xFFFFFFFF;
        high += words >> 32;
    }
    low += high;
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++) sum += low[i];
    for (; byte_count >= 4; byte_count -= 4, source += 4) {
        uint32_t word;
        memcpy(&word, source, 4);
        if (copies) {
            memcpy(destination, &word, 4);
            destination += 4;
        }
        sum += word;
    }
    uint8_t last[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < byte_count; i++) {
        last[i] = source[i];
        if (copies) destination[i] = last[i];
    }
    uint32_t word;
    memcpy(&word, last, 4);
    return sum + word;
}

#if defined(__x86_64__)

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw")))

AVX2 static uint64_t run_avx2(void *destination, const void *source, size_t byte_count, bool copies) {
    return copies ? run(destination, source, byte_count, true) : run(NULL, source, byte_count, false);
}

AVX512 static uint64_t run_avx512(void *destination, const void *source, size_t byte_count, bool copies) {
    return copies ? run(destination, source, byte_count, true) : run(NULL, source, byte_count, false);
}

enum checksum_width checksum_widest(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512bw"))
        return checksum_width_avx512;
    return __builtin_cpu_supports("avx2") ? checksum_width_avx2 : checksum_width_any;
}

uint64_t checksum_sum(enum checksum_width width, const void *bytes, size_t byte_count) {
    switch (width) {
    case checksum_width_avx512: return run_avx512(NULL, bytes, byte_count, false);
    case checksum_width_avx2: return run_avx2(NULL, bytes, byte_count, false);
    default: return run(NULL, bytes, byte_count, false);
    }
}

uint64_t checksum_copy(enum checksum_width width, void *destination, const void *source, size_t byte_count) {
    switch (width) {
    case checksum_width_avx512: return run_avx512(destination, source, byte_count, true);
    case checksum_width_avx2: return run_avx2(destination, source, byte_count, true);
    default: return run(destination, source, byte_count, true);
    }
}

#else

enum checksum_width checksum_widest(void) { return checksum_width_any; }

uint64_t checksum_sum(enum checksum_width width, const void *bytes, size_t byte_count) {
    (void)width;
    return run(NULL, bytes, byte_count, false);
}

uint64_t checksum_copy(enum checksum_width width, void *destination, const void *source, size_t byte_count) {
    (void)width;
    return run(destination, source, byte_count, true);
}

#endif
