#include "base/dotted.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

/* ---- parts ---------------------------------------------------------------------------------- */

size_t part_length(const char *part) { return (size_t)(strchrnul(part, '.') - part); }

const char *next_part(const char *part) {
    part += part_length(part);
    return *part ? part + 1 : part;
}

const char *previous_part(const char *name, const char *part) {
    if (part == name)
        return part;
    part--; /* the dot */
    while (part > name && part[-1] != '.')
        part--;
    return part;
}

const char *name_last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

bool same_part(const char *a, const char *b) {
    size_t length = part_length(a);
    return length == part_length(b) && memcmp(a, b, length) == 0;
}

bool part_is_number(const char *part) {
    size_t length = part_length(part);
    return length > 0 && strspn(part, "0123456789") == length;
}

const char *first_number(const char *name) {
    for (; *name; name = next_part(name))
        if (isdigit((unsigned char)*name) || *name == '*')
            return name;
    return NULL;
}

/* ---- two names and more --------------------------------------------------------------------- */

size_t common_length(const char *a, const char *b) {
    size_t common = 0, at = 0;
    for (; a[at] && a[at] == b[at]; at++)
        if (a[at] == '.')
            common = at;
    bool whole = (!a[at] || a[at] == '.') && (!b[at] || b[at] == '.');
    return whole ? at : common;
}

bool differ_in_one_part(const char *a, const char *b, const char *c) {
    int differing = 0;
    for (; *a && *b && *c; a = next_part(a), b = next_part(b), c = next_part(c))
        differing += !same_part(a, b) || !same_part(a, c);
    return differing <= 1 && !*a && !*b && !*c;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Writes the part, or a star instead of it, and the dot after it; returns where that ends. */
static char *put_part(char *to, const char *part, bool star) {
    size_t length = part_length(part), written = star ? 1 : length;
    memcpy(to, star ? "*" : part, written);
    if (part[length])
        to[written++] = '.';
    to[written] = '\0';
    return to + written;
}

const char *without_numbers(Arena *arena, const char *name) {
    char *out = arena_strdup(arena, name), *to = out; /* a star is no longer than its number */
    for (; *name; name = next_part(name))
        to = put_part(to, name, part_is_number(name));
    return out;
}

const char *starred_name(Arena *arena, const char *a, const char *b) {
    char *out = arena_strdup(arena, b), *to = out;
    for (; *b; a = next_part(a), b = next_part(b))
        to = put_part(to, b, part_is_number(a) && part_is_number(b) && !same_part(a, b));
    return out;
}

/* Returns the end of a part that is a number, up to INT_MAX; NULL if it is none. */
static const char *read_number(const char *part, int *number) {
    const char *end = part;
    int64_t value = 0;
    for (; isdigit((unsigned char)*end) && value <= INT_MAX; end++)
        value = 10 * value + (*end - '0');
    *number = (int)value;
    return end > part && (!*end || *end == '.') && value <= INT_MAX ? end : NULL;
}

bool differ_in_number(const char *a, const char *b, size_t *at, int *number_a, int *number_b) {
    size_t before = common_length(a, b);
    before += a[before] == '.' && b[before] == '.';
    const char *rest_a = read_number(a + before, number_a);
    const char *rest_b = read_number(b + before, number_b);
    *at = before;
    return rest_a && rest_b && strcmp(rest_a, rest_b) == 0;
}

const char *with_star(Arena *arena, const char *name, size_t at) {
    return arena_printf(arena, "%.*s*%s", (int)at, name, name + at + part_length(name + at));
}

const char *counted_name(Arena *arena, const char *a, const char *b, int *number_a, int *number_b) {
    size_t at;
    return differ_in_number(a, b, &at, number_a, number_b) ? with_star(arena, a, at) : NULL;
}

bool number_in(const char *pattern, const char *name, int *number) {
    for (; *pattern != '*' && *pattern == *name && *name; pattern++)
        name++;
    const char *rest = name;
    while (isdigit((unsigned char)*rest))
        rest++;
    if (*pattern != '*' || rest == name || strcmp(pattern + 1, rest) != 0)
        return false;
    long found = strtol(name, NULL, 10);
    *number = (int)found;
    return found <= INT_MAX;
}

/* Whether the parts are consecutive numbers, up or down. */
static bool is_count(const char *const *part, int count) {
    long first = strtol(part[0], NULL, 10), step = strtol(part[1], NULL, 10) - first;
    for (int i = 0; i < count; i++)
        if (!part_is_number(part[i]) || strtol(part[i], NULL, 10) != first + i * step)
            return false;
    return count > 2 && labs(step) == 1;
}

const char *spanned_name(Arena *arena, const char *const *names, int count) {
    size_t head = common_length(names[0], names[count - 1]);
    if (!strcmp(names[0], names[count - 1]))
        return names[0];
    head += names[0][head] == '.';
    const char **part = arena_array(arena, (size_t)count, sizeof *part);
    for (int i = 0; i < count; i++)
        part[i] = arena_strndup(arena, names[i] + head, part_length(names[i] + head));
    StrBuf text = {0};
    sb_printf(&text, "%.*s{%s", (int)head, names[0], part[0]);
    if (is_count(part, count))
        sb_printf(&text, "..%s", part[count - 1]);
    else
        for (int i = 1; i < count; i++)
            sb_printf(&text, ",%s", part[i]);
    sb_printf(&text, "}%s", names[0] + head + strlen(part[0]));
    const char *name = arena_strdup(arena, text.text);
    sb_free(&text);
    return name;
}
