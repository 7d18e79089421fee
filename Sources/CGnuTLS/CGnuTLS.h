// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CGNUTLS_H
#define NEXUSGUARD_CGNUTLS_H
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

// A variable that holds a function in the headers above; Swift wants a function.
static inline void ng_gnutls_free(void *memory) {
    gnutls_free(memory);
}

// A macro with casts.
static const unsigned int ng_gnutls_p256_bits = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
#endif
