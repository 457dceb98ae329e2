/* printf's formats into memory, by vsnprintf's contract. Names and tables are nearly all %s, %d and
 * %lld, which are done here; what else a format holds, from there on, is left to vsnprintf. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

/* How long the text is, without its NUL, room or not. */
size_t format_text(char *to, size_t room, const char *format, va_list args);

enum { INT_TEXT_SIZE = 24 };
/* Writes value in decimal so that it ends before `end`; where it begins. */
char *format_int(long long value, char *end);
