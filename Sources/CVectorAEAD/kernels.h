// SPDX-License-Identifier: MIT
//
// What the parts of this target share. Nothing here is seen outside of it.

#ifndef KERNELS_H
#define KERNELS_H

#include "CVectorAEAD.h"

#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512ifma")))

/// The most blocks that a kernel takes at once.
#define MOST_LANES 16

/// Blocks of key stream, one a lane, which may belong to different packets.
///
/// The second halves of the arrays belong to no lane: they take what is written past the last one.
struct lanes {
    /// The block counters.
    _Alignas(64) uint32_t block[2 * MOST_LANES];
    /// The low halves of the packets' counters.
    uint32_t low[2 * MOST_LANES];
    /// The high halves of the packets' counters.
    uint32_t high[2 * MOST_LANES];
    /// The keys, 32 bytes each.
    const uint8_t *key[2 * MOST_LANES];
    /// The 64 bytes that the block is combined with.
    const uint8_t *source[2 * MOST_LANES];
    /// Where the 64 bytes of the result go.
    uint8_t *destination[2 * MOST_LANES];
    /// Whether all lanes have the same key at the same address.
    bool has_one_key;
};

/// The most messages that are authenticated at once.
#define MOST_MESSAGES 8

/// Data that is to be authenticated.
struct message {
    /// The 32 bytes of the Poly1305 key.
    const uint8_t *key;
    const uint8_t *data;
    size_t byte_count;
    /// Where the 16 bytes of the tag go.
    uint8_t *tag;
};

/// The implementation for one kind of processor.
struct kernels {
    /// The number of lanes, at most MOST_LANES.
    size_t lane_count;
    /// ChaCha20: combines each lane's source with its block of key stream.
    void (*encrypt)(const struct lanes *lanes);
    /// Poly1305 over data, zeros up to a multiple of 16 bytes, and the two lengths, for 1 to MOST_MESSAGES.
    void (*authenticate)(const struct message *messages, size_t count);
};

HIDDEN void vector_aead_encrypt_avx2(const struct lanes *lanes);
HIDDEN void vector_aead_encrypt_avx512(const struct lanes *lanes);
HIDDEN void vector_aead_authenticate_avx2(const struct message *messages, size_t count);
HIDDEN void vector_aead_authenticate_avx512(const struct message *messages, size_t count);

/// Overwrites secrets with zeros, also where the compiler sees that nothing reads them any more.
static inline void erase(void *start, size_t byte_count) {
    memset(start, 0, byte_count);
    __asm__ volatile("" : : "r"(start) : "memory");
}

#endif
