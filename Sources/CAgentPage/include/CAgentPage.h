// SPDX-License-Identifier: MIT
#ifndef NEXUSGUARD_CAGENTPAGE_H
#define NEXUSGUARD_CAGENTPAGE_H

#include <stddef.h>

/// A file of the page: its name, and its content with a zero byte after it.
struct ng_page_file {
    const char *name;
    const unsigned char *content;
};

/// The first of the files of the page; behind the last is one without a name.
const struct ng_page_file *ng_page_first_file(void);

#endif
