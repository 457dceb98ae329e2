/* Output files of a run. Each replaces the previous file only when it is complete and on disk. */
#ifndef GPUOPT_OUTFILE_H
#define GPUOPT_OUTFILE_H

#include "runtime/base/rt.h"

#include <stdio.h>

typedef struct {
    FILE *stream; /* print here; failures are kept until outfile_finish() */
    char path[RT_MAX_PATH];
    char temporary[RT_MAX_PATH];
} OutFile;

/* On failure these return false and write a message that begins with the path to `error`. After a
 * failed outfile_open() there is nothing to finish; outfile_finish() always closes the file. */
bool outfile_open(OutFile *file, const char *dir, const char *name, char *error, size_t error_size);
bool outfile_finish(OutFile *file, char *error, size_t error_size);
bool outfile_write(const char *dir, const char *name, const char *text, char *error,
                   size_t error_size);
/* Returns whether a later outfile_write() could put its file there; call it before long work whose
 * result goes there. */
bool outfile_check(const char *dir, const char *name, char *error, size_t error_size);

/* Writes "DIR/NAME" to path[RT_MAX_PATH]; ends the process if it is too long. */
void join_path(char *path, const char *dir, const char *name);

/* Makes created and renamed names in the folder survive a crash, if the file system supports it. */
void folder_sync(const char *dir);

#endif
