// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CMICROHTTPD_H
#define NEXUSGUARD_CMICROHTTPD_H
#include <stdarg.h>
#include <microhttpd.h>
#endif
