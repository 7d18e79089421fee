// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CLINUX_EVENTS_H
#define NEXUSGUARD_CLINUX_EVENTS_H

#include <stdint.h>

#endif
