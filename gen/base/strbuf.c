/* Growable strings. */
#include "base/strbuf.h"
#include "base/diag.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(StrBuf *sb, size_t more)
{
    size_t needed = sb->length + more + 1;
    if (needed <= sb->capacity)
        return;
    size_t capacity = sb->capacity * 2 > needed ? sb->capacity * 2 : needed + 64;
    char *text = realloc(sb->text, capacity);
    if (!text)
        user_error((Pos){0}, "free some memory on this machine", "out of memory (%zu bytes)",
                   capacity);
    sb->text = text;
    sb->capacity = capacity;
}

void sb_append(StrBuf *sb, const char *bytes, size_t size)
{
    reserve(sb, size);
    if (size)
        memcpy(sb->text + sb->length, bytes, size);
    sb->length += size;
    sb->text[sb->length] = 0;
}

void sb_puts(StrBuf *sb, const char *text)
{
    sb_append(sb, text, strlen(text));
}

void sb_vprintf(StrBuf *sb, const char *format, va_list args)
{
    char probe[1];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(probe, sizeof probe, format, args);
    ENSURE(length >= 0, "bad format %s", format);
    reserve(sb, (size_t)length);
    vsnprintf(sb->text + sb->length, (size_t)length + 1, format, again);
    va_end(again);
    sb->length += (size_t)length;
}

void sb_printf(StrBuf *sb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sb_vprintf(sb, format, args);
    va_end(args);
}

void sb_put_real(StrBuf *sb, double value)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    sb_puts(sb, text);
    if (isfinite(value) && !strpbrk(text, ".e"))
        sb_puts(sb, ".0");
}

void sb_free(StrBuf *sb)
{
    free(sb->text);
    *sb = (StrBuf){0};
}
