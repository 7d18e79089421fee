// SPDX-License-Identifier: MIT

#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer, which comes with the compiler's `-sanitize=fuzzer`.
int LLVMFuzzerRunDriver(int *count, char ***words, int (*check)(const uint8_t *input, size_t byte_count));

#endif
