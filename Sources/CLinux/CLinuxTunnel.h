// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_TUNNEL_H
#define NEXUSGUARD_CLINUX_TUNNEL_H

#include <stdint.h>

#endif
