// SPDX-License-Identifier: MIT
//
// Poly1305 in 64-bit arithmetic: limbs of 44, 44 and 42 bits.

#ifndef POLY1305_H
#define POLY1305_H

#include <stdint.h>
#include <string.h>

#define MASK44 ((UINT64_C(1) << 44) - 1)
#define MASK42 ((UINT64_C(1) << 42) - 1)

/// A number modulo 2^130 - 5; the second limb may be a little above 44 bits.
struct element {
    uint64_t limb[3];
};

static inline uint64_t load64(const uint8_t *source) {
    uint64_t value;
    memcpy(&value, source, 8);
    return value;
}

/// The bits of the first half of the key that are used.
#define CLAMP_LOW UINT64_C(0x0FFFFFFC0FFFFFFF)
#define CLAMP_HIGH UINT64_C(0x0FFFFFFC0FFFFFFC)

/// The first half of the key, with the bits cleared that must be.
static inline struct element clamped(const uint8_t *key) {
    uint64_t low = load64(key) & CLAMP_LOW;
    uint64_t high = load64(key + 8) & CLAMP_HIGH;
    return (struct element){{low & MASK44, (low >> 44 | high << 20) & MASK44, high >> 24}};
}

/// Adds a block of 16 bytes; `top` is 1 << 40 for the bit behind it, or 0.
static inline void add_block(struct element *sum, uint64_t low, uint64_t high, uint64_t top) {
    sum->limb[0] += low & MASK44;
    sum->limb[1] += (low >> 44 | high << 20) & MASK44;
    sum->limb[2] += high >> 24 | top;
}

/// The product; limbs of `a` below 2^48 and of `b` below 2^45.
static inline struct element product(struct element a, struct element b) {
    typedef unsigned __int128 wide;
    // What is above 2^130 comes back times 5; the third limb ends 2 bits short of 132.
    uint64_t b1 = b.limb[1] * 20, b2 = b.limb[2] * 20;
    wide d0 = (wide)a.limb[0] * b.limb[0] + (wide)a.limb[1] * b2 + (wide)a.limb[2] * b1;
    wide d1 = (wide)a.limb[0] * b.limb[1] + (wide)a.limb[1] * b.limb[0] + (wide)a.limb[2] * b2;
    wide d2 = (wide)a.limb[0] * b.limb[2] + (wide)a.limb[1] * b.limb[1] + (wide)a.limb[2] * b.limb[0];
    d1 += (uint64_t)(d0 >> 44);
    d2 += (uint64_t)(d1 >> 44);
    uint64_t l0 = ((uint64_t)d0 & MASK44) + (uint64_t)(d2 >> 42) * 5;
    uint64_t l1 = ((uint64_t)d1 & MASK44) + (l0 >> 44);
    return (struct element){{l0 & MASK44, l1, (uint64_t)d2 & MASK42}};
}

/// Carries so that each limb is in its range; the number stays below 2^130, not always below 2^130 - 5.
static inline struct element carried(struct element a) {
    uint64_t l0 = a.limb[0], l1 = a.limb[1], l2 = a.limb[2];
    for (int round = 0; round < 2; round++) {
        l1 += l0 >> 44;
        l0 &= MASK44;
        l2 += l1 >> 44;
        l1 &= MASK44;
        l0 += (l2 >> 42) * 5;
        l2 &= MASK42;
    }
    l1 += l0 >> 44;
    l0 &= MASK44;
    return (struct element){{l0, l1, l2}};
}

/// Goes on with blocks of 16 bytes.
static inline struct element absorb(
    struct element sum, struct element r, const uint8_t *data, size_t block_count) {
    for (; block_count > 0; block_count--, data += 16) {
        add_block(&sum, load64(data), load64(data + 8), UINT64_C(1) << 40);
        sum = product(sum, r);
    }
    return sum;
}

/// Writes the tag once all blocks are in the sum, whose limbs are in their ranges.
static inline void write_sum(struct element sum, const uint8_t *key, uint8_t *tag) {
    uint64_t l0 = sum.limb[0], l1 = sum.limb[1], l2 = sum.limb[2];
    // The number minus 2^130 - 5; taken when that is not negative.
    uint64_t g0 = l0 + 5;
    uint64_t g1 = l1 + (g0 >> 44);
    uint64_t g2 = l2 + (g1 >> 44);
    uint64_t take = -(g2 >> 42 & 1);
    __asm__("" : "+r"(take));
    l0 = (l0 & ~take) | (g0 & MASK44 & take);
    l1 = (l1 & ~take) | (g1 & MASK44 & take);
    l2 = (l2 & ~take) | (g2 & MASK42 & take);
    unsigned __int128 number = (unsigned __int128)(l1 >> 20 | l2 << 24) << 64 | (l0 | l1 << 44);
    number += (unsigned __int128)load64(key + 24) << 64 | load64(key + 16);
    memcpy(tag, &number, 16);
}

/// Adds the incomplete block at the end of the data and the block of lengths, and writes the tag.
///
/// - data, byte_count: All of the data, of which the whole blocks are in `sum`.
static inline void write_tag(
    struct element sum, struct element r, const uint8_t *key, const uint8_t *data, size_t byte_count,
    uint8_t *tag) {
    size_t rest = byte_count % 16;
    if (rest > 0) {
        uint64_t last[2] = {0, 0};
        memcpy(last, data + byte_count - rest, rest);
        add_block(&sum, last[0], last[1], UINT64_C(1) << 40);
        sum = product(sum, r);
    }
    add_block(&sum, 0, byte_count, UINT64_C(1) << 40);
    write_sum(carried(product(sum, r)), key, tag);
}

/// Poly1305 one block after the other, the better way for little data.
static inline void authenticate_blocks(
    const uint8_t *key, const uint8_t *data, size_t byte_count, uint8_t *tag) {
    struct element r = clamped(key);
    struct element sum = absorb((struct element){{0, 0, 0}}, r, data, byte_count / 16);
    write_tag(sum, r, key, data, byte_count, tag);
}

#endif
