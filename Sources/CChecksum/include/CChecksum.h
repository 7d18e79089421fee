// SPDX-License-Identifier: MIT
//
// Partial sums of Internet checksums (RFC 1071) over payloads, with the vector units that the processor has.

#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// The vectors to use.
enum checksum_width {
    /// Those that every processor of the architecture has.
    checksum_width_any,
    checksum_width_avx2,
    checksum_width_avx512,
};

/// The widest vectors that the processor and the system have.
enum checksum_width checksum_widest(void);

/// The sum of the 32-bit words in this host's byte order; zeros fill up the last one.
///
/// The bytes need no alignment.
uint64_t checksum_sum(enum checksum_width width, const void *bytes, size_t byte_count);

/// Copies the bytes to a place that does not overlap theirs, and gives their sum as `checksum_sum` does.
uint64_t checksum_copy(enum checksum_width width, void *destination, const void *source, size_t byte_count);

#endif
