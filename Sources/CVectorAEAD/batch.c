// SPDX-License-Identifier: MIT

#include "kernels.h"

#if defined(__x86_64__)

/// The packets that may be under way: each has at least one block, so that a full set of lanes touches at most
/// one more than there are lanes. A power of two.
#define RING 32

static const uint8_t zeros[64];

/// Secrets and places of the packets that are under way.
struct work {
    struct lanes lanes;
    /// The first block of each packet's key stream, whose 32 bytes are the Poly1305 key.
    _Alignas(64) uint8_t first[RING][64];
    /// Where lanes without a packet write.
    uint8_t unused[64];
};

/// Clears the stack below the caller's frame, where the kernels' frames were: registers and arguments that the
/// compiler put there are secrets too. No kernel's frames are as large.
static __attribute__((noinline)) void erase_frames(void) {
    uint8_t frames[4096];
    erase(frames, sizeof frames);
}

/// Whether two tags are equal, in a time that does not depend on where they differ.
static bool is_equal(const uint8_t *a, const uint8_t *b) {
    uint64_t x[2], y[2];
    memcpy(x, a, 16);
    memcpy(y, b, 16);
    uint64_t difference = (x[0] ^ y[0]) | (x[1] ^ y[1]);
    __asm__("" : "+r"(difference));
    return difference == 0;
}

/// Writes or checks the tag of a packet whose blocks have all been through the stream cipher.
static void finish(
    const struct kernels *kernels, struct vector_aead_job *job, const uint8_t *key, bool opens) {
    size_t byte_count = (size_t)job->byte_count;
    uint8_t *destination = job->destination;
    if (!opens) {
        kernels->authenticate(key, destination, byte_count, destination + byte_count);
        return;
    }
    const uint8_t *source = job->source;
    uint8_t tag[16];
    kernels->authenticate(key, source, byte_count, tag);
    job->is_authentic = is_equal(tag, source + byte_count);
    if (!job->is_authentic) memset(destination, 0, byte_count);
    // The right tag of a forged packet is not for anybody's eyes.
    erase(tag, sizeof tag);
}

void vector_aead_run(
    const struct kernels *kernels, struct vector_aead_job *jobs, size_t count, bool opens) {
    struct work work;
    struct lanes *lanes = &work.lanes;
    // How many packets have been put into lanes as a whole, and how many have their tags.
    size_t complete = 0, done = 0, lane = 0;
    lanes->has_one_key = true;
    for (size_t index = 0; index < count; index++) {
        struct vector_aead_job *job = &jobs[index];
        const uint8_t *source = zeros;
        uint8_t *destination = work.first[index % RING];
        uint32_t block_count = 1 + (uint32_t)(((size_t)job->byte_count + 63) / 64);
        uint32_t block = 0;
        while (block < block_count) {
            lanes->key[lane] = job->key;
            lanes->has_one_key &= lanes->key[0] == job->key;
            // The blocks of this packet that fit into the lanes that are left.
            size_t end = lane + (block_count - block);
            if (end > kernels->lane_count) end = kernels->lane_count;
            for (; lane < end; lane++) {
                lanes->block[lane] = block;
                lanes->low[lane] = (uint32_t)job->counter;
                lanes->high[lane] = (uint32_t)(job->counter >> 32);
                lanes->key[lane] = job->key;
                lanes->source[lane] = source;
                lanes->destination[lane] = destination;
                source = (const uint8_t *)job->source + (size_t)block * 64;
                destination = (uint8_t *)job->destination + (size_t)block * 64;
                block++;
            }
            if (block == block_count) complete = index + 1;
            if (lane == kernels->lane_count) {
                kernels->encrypt(lanes);
                for (; done < complete; done++)
                    finish(kernels, &jobs[done], work.first[done % RING], opens);
                lanes->has_one_key = true;
                lane = 0;
            }
        }
    }
    if (lane > 0) {
        for (size_t other = lane; other < kernels->lane_count; other++) {
            lanes->block[other] = 0;
            lanes->low[other] = 0;
            lanes->high[other] = 0;
            lanes->key[other] = lanes->key[0];
            lanes->source[other] = zeros;
            lanes->destination[other] = work.unused;
        }
        kernels->encrypt(lanes);
        for (; done < complete; done++) finish(kernels, &jobs[done], work.first[done % RING], opens);
    }
    erase(&work.first, sizeof work.first);
    erase(&work.unused, sizeof work.unused);
    erase_frames();
}

#endif
