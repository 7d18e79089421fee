// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CGNUTLS_H
#define NEXUSGUARD_CGNUTLS_H
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#endif
