// SPDX-License-Identifier: MIT
//
// The files of the folder NexusGuardAgent/Page/Web, which are texts. A change of one of them rebuilds this file; a new
// one gets three lines here.

#include "CAgentPage.h"

// Clang and GCC have #embed in every version of the language.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct ng_page_file files[] = {
    {"api.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/api.js" suffix(, 0) if_empty(0)
    }},
    {"chart.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/chart.js" suffix(, 0) if_empty(0)
    }},
    {"condition.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/condition.js" suffix(, 0) if_empty(0)
    }},
    {"dom.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/dom.js" suffix(, 0) if_empty(0)
    }},
    {"icon.svg", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/icon.svg" suffix(, 0) if_empty(0)
    }},
    {"index.html", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/index.html" suffix(, 0) if_empty(0)
    }},
    {"log.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/log.js" suffix(, 0) if_empty(0)
    }},
    {"main.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/main.js" suffix(, 0) if_empty(0)
    }},
    {"page.css", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/page.css" suffix(, 0) if_empty(0)
    }},
    {"settings.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/settings.js" suffix(, 0) if_empty(0)
    }},
    {"status.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/status.js" suffix(, 0) if_empty(0)
    }},
    {"views.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/views.js" suffix(, 0) if_empty(0)
    }},
    {"words.js", (const unsigned char[]) {
#embed "../NexusGuardAgent/Page/Web/words.js" suffix(, 0) if_empty(0)
    }},
    {NULL, NULL},
};

const struct ng_page_file *ng_page_first_file(void) {
    return files;
}
