// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_NETWORK_H
#define NEXUSGUARD_CLINUX_NETWORK_H

#include <stdint.h>

#endif
