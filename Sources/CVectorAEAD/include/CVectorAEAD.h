// SPDX-License-Identifier: MIT
//
// ChaCha20-Poly1305 (RFC 8439) without associated data on batches of packets, with the vector units of x86-64.

#ifndef CVECTORAEAD_H
#define CVECTORAEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One packet of a batch.
struct vector_aead_job {
    /// The 32 bytes of the key.
    const void *key;
    /// The first byte of the plaintext to seal, or of the ciphertext to open.
    const void *source;
    /// Where the result starts.
    void *destination;
    /// The nonce's counter; the first four bytes of the nonce are zero.
    uint64_t counter;
    /// The number of plaintext bytes.
    intptr_t byte_count;
    /// Set by opening: whether the tag was valid.
    bool is_authentic;
};

/// Whether the processor and the system have AVX2.
bool vector_aead_has_avx2(void);
/// Whether the processor and the system have AVX-512 with F, VL, BW, DQ and IFMA.
bool vector_aead_has_avx512(void);

/// Encrypts each packet, whose source is its destination, and writes the tag behind it.
///
/// Up to 63 bytes behind the plaintext are left with unspecified contents, except for the tag.
void vector_aead_seal_avx2(struct vector_aead_job *jobs, size_t count);
/// As `vector_aead_seal_avx2`.
void vector_aead_seal_avx512(struct vector_aead_job *jobs, size_t count);

/// Decrypts each packet out of place and sets `is_authentic`.
///
/// Up to 63 bytes behind the ciphertext are read, and so many behind the plaintext are left with unspecified
/// contents. The plaintext of a packet that is not authentic is replaced by zeros.
void vector_aead_open_avx2(struct vector_aead_job *jobs, size_t count);
/// As `vector_aead_open_avx2`.
void vector_aead_open_avx512(struct vector_aead_job *jobs, size_t count);

/// The value of the environment variable NEXUSGUARD_AEAD, or null.
const char *vector_aead_setting(void);

#endif
