// SPDX-License-Identifier: MIT
//
// Linux calls, structures and constants that Swift's Glibc module does not have.
//
// Neither _GNU_SOURCE nor <linux/if.h> may appear here: their types would clash with those of the
// Glibc module. What needs either is declared anew, with the kernel's layout.
#ifndef NEXUSGUARD_CLINUX_H
#define NEXUSGUARD_CLINUX_H

#include <stdint.h>

#include "CLinuxControl.h"
#include "CLinuxEvents.h"
#include "CLinuxNetwork.h"
#include "CLinuxProcess.h"
#include "CLinuxTunnel.h"

#endif
