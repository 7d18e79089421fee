// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CSQLITE_H
#define NEXUSGUARD_CSQLITE_H

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast that Swift cannot import: SQLite makes its own copy of what is bound.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int byte_count) {
    return sqlite3_bind_text(statement, index, text, byte_count, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int byte_count) {
    return sqlite3_bind_blob(statement, index, bytes, byte_count, SQLITE_TRANSIENT);
}

// The call is variadic. Bars statements that could damage the file, such as writes to its schema.
static inline int csqlite_make_defensive(sqlite3 *database) {
    int is_on = 0;
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, &is_on);
}

#endif
