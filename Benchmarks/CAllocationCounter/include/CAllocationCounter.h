// SPDX-License-Identifier: MIT
//
// Counts the heap allocations of a programme: linking this target replaces malloc and its relatives by
// functions that count and then call those of glibc.
#ifndef NEXUSGUARD_ALLOCATION_COUNTER_H
#define NEXUSGUARD_ALLOCATION_COUNTER_H

#include <stdint.h>

// The number of blocks that were allocated, by any thread, since the programme started. A block that realloc
// changes counts once more.
uint64_t allocation_count(void);

#endif
