/* Formats into memory like vsnprintf, but faster: %s, %*s, %.*s, %d and %lld, nearly all that names
 * and tables need, are done here. From any other conversion on, the rest of the format goes to
 * vsnprintf. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

/* Returns the length of the whole text without its NUL, even if it does not fit. */
size_t format_text(char *to, size_t room, const char *format, va_list args);

enum { INT_TEXT_SIZE = 24 };
/* Writes value in decimal so that it ends before `end`; returns where it begins. */
char *format_int(long long value, char *end);
