/* A growable string. Starts as {0}; text is NULL until something is written, else NUL-terminated.
 * The compiler never calls setlocale, so numbers always print as in the C locale. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char *text;
    size_t length, capacity;
} StrBuf;

void sb_puts(StrBuf *sb, const char *text);
void sb_append(StrBuf *sb, const char *bytes, size_t size);
void sb_printf(StrBuf *sb, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sb_vprintf(StrBuf *sb, const char *format, va_list args);
/* Appends value in decimal, and a character after it. */
void sb_put_int(StrBuf *sb, long long value, char behind);
/* Appends the shortest decimal that reads back as the same double; always with '.', 'e', "inf"
 * or "nan", so that TOML, C and JSON read it as a real number (the last two never come from a
 * spec). */
void sb_put_real(StrBuf *sb, double value);
void sb_free(StrBuf *sb);

/* Whether both are the same text, or both are NULL. */
bool text_equal(const char *a, const char *b);
/* Whether the identifier occurs in the text as a whole word. */
bool text_mentions(const char *text, const char *identifier);
