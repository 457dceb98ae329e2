/* Whole files in and out. Functions that can fail return NULL on success or the reason as a short
 * text ("No such file or directory"): the caller knows the position to report it at. */
#pragma once
#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>

/* Reads a regular file of at most max_size bytes. *text belongs to the arena and has a NUL behind
 * its last byte. */
const char *file_read(Arena *arena, const char *path, size_t max_size, char **text, size_t *size);
/* Whether there is a file of just these bytes. */
bool file_holds(const char *path, const char *bytes, size_t size);
/* Leaves the file untouched, its time stamp too, when it holds these bytes already; else writes
 * beside it and renames, so that a reader sees the old file or the new one. *changed may be NULL.
 */
const char *file_write(const char *path, const char *bytes, size_t size, bool *changed);
/* mkdir -p. */
const char *make_folder(const char *path);
bool is_folder(const char *path);
bool is_file(const char *path);
