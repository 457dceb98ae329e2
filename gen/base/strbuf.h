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
/* value in decimal, and a character behind it. */
void sb_put_int(StrBuf *sb, long long value, char behind);
/* The shortest decimal that reads back as the same double; always with '.', 'e', "inf" or "nan",
 * so that TOML, C and JSON readers take it for a real (the last two never come from a spec). */
void sb_put_real(StrBuf *sb, double value);
void sb_free(StrBuf *sb);

/* Whether the identifier stands in the text, as a word of its own. */
bool text_mentions(const char *text, const char *identifier);
