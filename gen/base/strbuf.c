/* Growable strings. */
#include "base/strbuf.h"
#include "base/diag.h"
#include "base/format.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(StrBuf *sb, size_t more) {
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

void sb_append(StrBuf *sb, const char *bytes, size_t size) {
    reserve(sb, size);
    if (size)
        memcpy(sb->text + sb->length, bytes, size);
    sb->length += size;
    sb->text[sb->length] = 0;
}

void sb_puts(StrBuf *sb, const char *text) { sb_append(sb, text, strlen(text)); }

/* Appends formatted text; formats a second time if it is longer than a line and there was too little
 * room. */
void sb_vprintf(StrBuf *sb, const char *format, va_list args) {
    enum { LINE = 128 };
    va_list again;
    va_copy(again, args);
    reserve(sb, LINE);
    size_t room = sb->capacity - sb->length;
    size_t length = format_text(sb->text + sb->length, room, format, args);
    if (length >= room) {
        reserve(sb, length);
        format_text(sb->text + sb->length, length + 1, format, again);
    }
    va_end(again);
    sb->length += length;
}

void sb_printf(StrBuf *sb, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sb_vprintf(sb, format, args);
    va_end(args);
}

void sb_put_int(StrBuf *sb, long long value, char behind) {
    char text[INT_TEXT_SIZE + 1], *end = text + INT_TEXT_SIZE, *begin = format_int(value, end);
    *end = behind;
    sb_append(sb, begin, (size_t)(end - begin) + 1);
}

enum { REAL_TEXT_SIZE = 40 };

/* Writes value as d.ddde+xx; whether that reads back as value. */
static bool reads_back(double value, int digits, char text[REAL_TEXT_SIZE]) {
    snprintf(text, REAL_TEXT_SIZE, "%.*e", digits - 1, value);
    return strtod(text, NULL) == value;
}

/* The same with the fewest digits that read back; returns how many. If 15 do not, fewer do not
 * either; 17 always do. */
static int shortest_digits(double value, char text[REAL_TEXT_SIZE]) {
    int digits = reads_back(value, 15, text) ? 1 : 16;
    while (!reads_back(value, digits, text))
        digits++;
    return digits;
}

void sb_put_real(StrBuf *sb, double value) {
    char text[REAL_TEXT_SIZE];
    if (!isfinite(value)) {
        sb_printf(sb, "%g", value);
        return;
    }
    if (value == rint(value) && fabs(value) < 1e15 && !signbit(value)) {
        sb_printf(sb, "%lld.0", (long long)value);
        return;
    }
    int digits = shortest_digits(value, text);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    int decimals = digits - 1 - exponent;
    if (exponent < -4 || exponent >= 15)
        sb_puts(sb, text);
    else
        sb_printf(sb, "%.*f", decimals > 1 ? decimals : 1, value);
}

void sb_free(StrBuf *sb) {
    free(sb->text);
    *sb = (StrBuf){0};
}

bool text_equal(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

bool text_mentions(const char *text, const char *identifier) {
    static const char part[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    size_t length = strlen(identifier);
    for (const char *at = text; (at = strstr(at, identifier)); at++)
        if ((at == text || !strchr(part, at[-1])) && !(at[length] && strchr(part, at[length])))
            return true;
    return false;
}
