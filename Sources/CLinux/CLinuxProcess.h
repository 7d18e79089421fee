// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_PROCESS_H
#define NEXUSGUARD_CLINUX_PROCESS_H

#include <stdint.h>

#endif
