// SPDX-License-Identifier: MIT

//
// A batch of packets, for whatever kernels it is compiled with.

#ifndef BATCH_H
#define BATCH_H

#include "kernels.h"

/// The packets that may be under way: those of a full set of lanes, each of which has at least one block there,
/// one that goes on from the set before, and those that wait until there are enough for their tags. A power of
/// two.
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

/// Puts the blocks of a packet, from `block` on, into the lanes from `lane` on, as if there were MOST_LANES of
/// each: what is too much is written over or not used, and the loop is a few stores.
static ALWAYS_INLINE void fill(
    struct lanes *lanes, size_t lane, const struct vector_aead_job *job, size_t block) {
    // Block 0 is the Poly1305 key; the data starts with block 1.
    uintptr_t source = (uintptr_t)job->source - 64 + 64 * block;
    uintptr_t destination = (uintptr_t)job->destination - 64 + 64 * block;
    for (size_t i = 0; i < MOST_LANES; i++) {
        lanes->block[lane + i] = (uint32_t)(block + i);
        lanes->low[lane + i] = (uint32_t)job->counter;
        lanes->high[lane + i] = (uint32_t)(job->counter >> 32);
        lanes->key[lane + i] = job->key;
        lanes->source[lane + i] = (const uint8_t *)(source + 64 * i);
        lanes->destination[lane + i] = (uint8_t *)(destination + 64 * i);
    }
}

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

/// Writes or checks the tags of packets whose blocks have all been through the stream cipher.
///
/// - done, complete: The first of these packets, and the one behind the last.
static ALWAYS_INLINE void finish(
    const struct kernels kernels, const struct work *work, struct vector_aead_job *jobs, size_t done,
    size_t complete, bool opens) {
    struct message messages[MOST_MESSAGES];
    uint8_t tags[MOST_MESSAGES][16];
    size_t count = complete - done;
    for (size_t i = 0; i < count; i++) {
        const struct vector_aead_job *job = &jobs[done + i];
        size_t byte_count = (size_t)job->byte_count;
        messages[i] = (struct message){
            work->first[(done + i) % RING], opens ? job->source : job->destination, byte_count,
            opens ? tags[i] : (uint8_t *)job->destination + byte_count,
        };
    }
    kernels.authenticate(messages, count);
    if (!opens) return;
    for (size_t i = 0; i < count; i++) {
        struct vector_aead_job *job = &jobs[done + i];
        size_t byte_count = (size_t)job->byte_count;
        job->is_authentic = is_equal(tags[i], (const uint8_t *)job->source + byte_count);
        if (!job->is_authentic) memset(job->destination, 0, byte_count);
    }
    // The right tag of a forged packet is not for anybody's eyes.
    erase(tags, sizeof tags);
}

/// Seals or opens a batch.
static ALWAYS_INLINE void run(
    const struct kernels kernels, struct vector_aead_job *jobs, size_t count, bool opens) {
    struct work work;
    struct lanes *lanes = &work.lanes;
    // How many packets have been put into lanes as a whole, and how many have their tags.
    size_t complete = 0, done = 0, lane = 0;
    lanes->has_one_key = true;
    for (size_t index = 0; index < count; index++) {
        const struct vector_aead_job *job = &jobs[index];
        size_t block_count = 1 + ((size_t)job->byte_count + 63) / 64;
        size_t block = 0;
        while (block < block_count) {
            // The blocks of this packet that fit into the lanes that are left.
            size_t end = lane + (block_count - block);
            if (end > kernels.lane_count) end = kernels.lane_count;
            fill(lanes, lane, job, block);
            if (block == 0) {
                lanes->source[lane] = zeros;
                lanes->destination[lane] = work.first[index % RING];
            }
            lanes->has_one_key &= lanes->key[0] == job->key;
            block += end - lane;
            lane = end;
            if (block == block_count) complete = index + 1;
            if (lane == kernels.lane_count) {
                kernels.encrypt(lanes);
                for (; complete - done >= MOST_MESSAGES; done += MOST_MESSAGES)
                    finish(kernels, &work, jobs, done, done + MOST_MESSAGES, opens);
                lanes->has_one_key = true;
                lane = 0;
            }
        }
    }
    if (lane > 0) {
        // The packet before left its counters and its key in the lanes that are not used.
        for (size_t other = lane; other < kernels.lane_count; other++) {
            lanes->source[other] = zeros;
            lanes->destination[other] = work.unused;
        }
        kernels.encrypt(lanes);
    }
    while (done < complete) {
        size_t end = complete - done > MOST_MESSAGES ? done + MOST_MESSAGES : complete;
        finish(kernels, &work, jobs, done, end, opens);
        done = end;
    }
    erase(&work.first, sizeof work.first);
    erase(&work.unused, sizeof work.unused);
    erase_frames();
}

#endif
