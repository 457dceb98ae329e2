/* Reads and writes whole files. Functions that can fail return NULL on success, or the reason as a
 * short text ("No such file or directory"): the caller knows the position for the message. */
#pragma once
#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads a regular file of at most max_size bytes. *text belongs to the arena and has a NUL after
 * its last byte. */
const char *file_read(Arena *arena, const char *path, size_t max_size, char **text, size_t *size);
/* FILE_SAME: a regular file that holds exactly these bytes. */
typedef enum { FILE_MISSING, FILE_SAME, FILE_OTHER } FileState;
FileState file_compare(const char *path, const char *bytes, size_t size);
/* Writes a temporary file and renames it, so that readers see either the old file or the new one. */
const char *file_write(const char *path, const char *bytes, size_t size);
/* mkdir -p. */
const char *make_folder(const char *path);
bool is_folder(const char *path);
bool is_file(const char *path);
