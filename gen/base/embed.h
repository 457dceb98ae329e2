/* Files that are built into the compiler: device files, templates and the runtime's sources, named
 * by their paths in the repository ("gen/devices/h100-sxm.toml"). embed.sh makes the table at build
 * time. */
#pragma once
#include <stddef.h>

typedef struct {
    const char *path;
    const char *text; /* size bytes, followed by a NUL */
    size_t size;
    const char *sha256; /* in hex */
} Embedded;

/* Returns NULL if there is no such file. */
const Embedded *embedded_find(const char *path);
/* A file of gen/templates. */
const Embedded *embedded_template(const char *name);
/* Returns the index-th file, ordered by path; NULL after the last. */
const Embedded *embedded_at(int index);
