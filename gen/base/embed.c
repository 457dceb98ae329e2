/* Looks up files in the table that embed.sh made. */
#include "base/embed.h"

#include "base/diag.h"

#include <stdio.h>
#include <string.h>

extern const Embedded embedded_files[];
extern const int embedded_file_count;

const Embedded *embedded_at(int index) {
    return index >= 0 && index < embedded_file_count ? &embedded_files[index] : NULL;
}

const Embedded *embedded_find(const char *path) {
    for (int i = 0; i < embedded_file_count; i++)
        if (strcmp(embedded_files[i].path, path) == 0)
            return &embedded_files[i];
    return NULL;
}

const Embedded *embedded_template(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "gen/templates/%s", name);
    const Embedded *file = embedded_find(path);
    ENSURE(file, "%s is not built in", path);
    return file;
}
