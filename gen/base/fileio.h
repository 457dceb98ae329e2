/* Reads and writes whole files. Functions that can fail return NULL on success, or the reason as a
 * short text ("No such file or directory"): the caller knows the position for the message. */
#pragma once
#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads a regular file of at most max_size bytes. *text belongs to the arena and has a NUL after
 * its last byte. */
const char *file_read(Arena *arena, const char *path, size_t max_size, char **text, size_t *size);
/* Whether the file exists and holds exactly these bytes. */
bool file_holds(const char *path, const char *bytes, size_t size);
/* Writes a temporary file and renames it, so that readers see either the old file or the new one.
 * If the file already holds these bytes, leaves it and its time stamp untouched. *changed may be
 * NULL. */
const char *file_write(const char *path, const char *bytes, size_t size, bool *changed);
/* mkdir -p. */
const char *make_folder(const char *path);
bool is_folder(const char *path);
bool is_file(const char *path);
