#include "base/format.h"
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    char *to;
    size_t room, length; /* length includes what does not fit */
} Text;

static void put(Text *text, const char *bytes, size_t size) {
    if (text->length < text->room) {
        size_t left = text->room - text->length;
        memcpy(text->to + text->length, bytes, size < left ? size : left);
    }
    text->length += size;
}

/* Most pieces between arguments are a few characters: too few to search and copy. */
static void put_char(Text *text, char c) {
    if (text->length < text->room)
        text->to[text->length] = c;
    text->length++;
}

char *format_int(long long value, char *end) {
    unsigned long long rest = value < 0 ? 0ull - (unsigned long long)value : (unsigned long long)value;
    do
        *--end = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--end = '-';
    return end;
}

static void put_int(Text *text, long long value) {
    char digits[INT_TEXT_SIZE], *end = digits + sizeof digits, *begin = format_int(value, end);
    put(text, begin, (size_t)(end - begin));
}

/* A negative width puts the string on the left. */
static void put_padded(Text *text, const char *string, int width) {
    int length = (int)strlen(string);
    for (int column = length; column < width; column++)
        put(text, " ", 1);
    put(text, string, (size_t)length);
    for (int column = length; column < -width; column++)
        put(text, " ", 1);
}

static void put_rest(Text *text, const char *format, va_list args) {
    size_t left = text->length < text->room ? text->room - text->length : 0;
    int length = vsnprintf(left ? text->to + text->length : NULL, left, format, args);
    ENSURE(length >= 0, "cannot format %s", format);
    text->length += (size_t)length;
}

static void end(const Text *text) {
    if (text->room)
        text->to[text->length < text->room ? text->length : text->room - 1] = '\0';
}

size_t format_text(char *to, size_t room, const char *format, va_list args) {
    Text text = {to, room, 0};
    while (*format) {
        if (*format != '%') {
            put_char(&text, *format++);
            continue;
        }
        const char *percent = format;
        if (percent[1] == 's') {
            const char *string = va_arg(args, const char *);
            put(&text, string, strlen(string));
            format = percent + 2;
        } else if (percent[1] == 'd') {
            put_int(&text, va_arg(args, int));
            format = percent + 2;
        } else if (!strncmp(percent, "%lld", 4)) {
            put_int(&text, va_arg(args, long long));
            format = percent + 4;
        } else if (!strncmp(percent, "%*s", 3)) {
            int width = va_arg(args, int);
            put_padded(&text, va_arg(args, const char *), width);
            format = percent + 3;
        } else if (!strncmp(percent, "%.*s", 4)) {
            size_t most = (size_t)va_arg(args, int);
            const char *string = va_arg(args, const char *);
            put(&text, string, strnlen(string, most));
            format = percent + 4;
        } else {
            put_rest(&text, percent, args);
            break;
        }
    }
    end(&text);
    return text.length;
}
