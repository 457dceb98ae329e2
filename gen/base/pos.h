/* A position in the user's input. Separate from diag.h so that C++ can include it. */
#pragma once

/* Where something was written. line and col count from 1 (col in characters of UTF-8).
 * line 0: the file as a whole. file NULL: no file, the command line as a whole.
 * file "--set": the line-th --set of the command line. */
typedef struct {
    const char *file;
    int line, col;
} Pos;
