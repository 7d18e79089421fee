// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CSODIUM_H
#define NEXUSGUARD_CSODIUM_H
#include <sodium.h>
#endif
