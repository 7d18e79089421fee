// SPDX-License-Identifier: MIT

#include "batch.h"

#include <stdlib.h>

const char *vector_aead_setting(void) { return getenv("NEXUSGUARD_AEAD"); }

#if defined(__x86_64__)

// The compiler's own check asks cpuid and whether the system saves the wide registers.

bool vector_aead_has_avx2(void) { return __builtin_cpu_supports("avx2"); }

bool vector_aead_has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512ifma");
}

static const struct kernels avx2 = {8, vector_aead_encrypt_avx2, vector_aead_authenticate_avx2};
static const struct kernels avx512 = {16, vector_aead_encrypt_avx512, vector_aead_authenticate_avx512};

AVX2 void vector_aead_seal_avx2(struct vector_aead_job *jobs, size_t count) {
    run(avx2, jobs, count, false);
}

AVX2 void vector_aead_open_avx2(struct vector_aead_job *jobs, size_t count) {
    run(avx2, jobs, count, true);
}

AVX512 void vector_aead_seal_avx512(struct vector_aead_job *jobs, size_t count) {
    run(avx512, jobs, count, false);
}

AVX512 void vector_aead_open_avx512(struct vector_aead_job *jobs, size_t count) {
    run(avx512, jobs, count, true);
}

#else

bool vector_aead_has_avx2(void) { return false; }

bool vector_aead_has_avx512(void) { return false; }

// Never called, since the processor has none of them.

void vector_aead_seal_avx2(struct vector_aead_job *jobs, size_t count) { __builtin_trap(); }

void vector_aead_open_avx2(struct vector_aead_job *jobs, size_t count) { __builtin_trap(); }

void vector_aead_seal_avx512(struct vector_aead_job *jobs, size_t count) { __builtin_trap(); }

void vector_aead_open_avx512(struct vector_aead_job *jobs, size_t count) { __builtin_trap(); }

#endif
