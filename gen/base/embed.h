/* Files that are built into the compiler: device files, templates and the runtime's sources, under
 * their paths in the repository ("gen/devices/h100-sxm.toml"). embed.sh makes the table at build
 * time. */
#pragma once
#include <stddef.h>

typedef struct {
    const char *path;
    const char *text; /* size bytes, and a NUL behind them */
    size_t size;
    const char *sha256; /* in hex */
} Embedded;

/* NULL: no such file. */
const Embedded *embedded_find(const char *path);
/* The index-th file, ordered by path; NULL after the last. */
const Embedded *embedded_at(int index);
