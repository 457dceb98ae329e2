/* Opens regular files only: opening a FIFO would block, and a device may never end. */
#ifndef GPUOPT_INFILE_H
#define GPUOPT_INFILE_H

#include <jansson.h>

/* Opens the file for reading. Returns NULL, or why it cannot be opened. */
const char *infile_open(const char *path, int *fd);
/* Like json_load_file(). If the file cannot be opened, error->line is -1 and error->text says why. */
json_t *infile_json(const char *path, size_t flags, json_error_t *error);

#endif
