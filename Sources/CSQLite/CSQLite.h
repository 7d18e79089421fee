// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CSQLITE_H
#define NEXUSGUARD_CSQLITE_H
#include <sqlite3.h>
#endif
