// SPDX-License-Identifier: MIT
//
// What the parts of this target share. Nothing here is seen outside of it.

#ifndef KERNELS_H
#define KERNELS_H

#include "CVectorAEAD.h"

#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512ifma")))

/// The most blocks that a kernel takes at once.
#define MOST_LANES 16

/// Blocks of key stream, one a lane, which may belong to different packets.
struct lanes {
    /// The block counters.
    _Alignas(64) uint32_t block[MOST_LANES];
    /// The low halves of the packets' counters.
    uint32_t low[MOST_LANES];
    /// The high halves of the packets' counters.
    uint32_t high[MOST_LANES];
    /// The keys, 32 bytes each.
    const uint8_t *key[MOST_LANES];
    /// The 64 bytes that the block is combined with.
    const uint8_t *source[MOST_LANES];
    /// Where the 64 bytes of the result go.
    uint8_t *destination[MOST_LANES];
    /// Whether all lanes have the same key at the same address.
    bool has_one_key;
};

/// The implementation for one kind of processor.
struct kernels {
    /// The number of lanes, at most MOST_LANES.
    size_t lane_count;
    /// ChaCha20: combines each lane's source with its block of key stream.
    void (*encrypt)(const struct lanes *lanes);
    /// Poly1305 over data, zeros up to a multiple of 16 bytes, and the two lengths.
    void (*authenticate)(const uint8_t *key, const uint8_t *data, size_t byte_count, uint8_t *tag);
};

/// Seals or opens a batch.
HIDDEN void vector_aead_run(
    const struct kernels *kernels, struct vector_aead_job *jobs, size_t count, bool opens);


HIDDEN void vector_aead_encrypt_avx2(const struct lanes *lanes);
HIDDEN void vector_aead_encrypt_avx512(const struct lanes *lanes);
HIDDEN void vector_aead_authenticate_avx2(
    const uint8_t *key, const uint8_t *data, size_t byte_count, uint8_t *tag);
HIDDEN void vector_aead_authenticate_avx512(
    const uint8_t *key, const uint8_t *data, size_t byte_count, uint8_t *tag);

/// Overwrites secrets with zeros, also where the compiler sees that nothing reads them any more.
static inline void erase(void *start, size_t byte_count) {
    memset(start, 0, byte_count);
    __asm__ volatile("" : : "r"(start) : "memory");
}

#endif
