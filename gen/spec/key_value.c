/* Values of keys: from TOML into the typed field, with checks of type and range, and back. */
#include "base/nearest.h"
#include "spec/key_info.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void *field(Spec *spec, Key key) { return (char *)spec + key_info[key].offset; }

static const void *const_field(const Spec *spec, Key key) {
    return (const char *)spec + key_info[key].offset;
}

/* Whether the choice is spelled like a TOML boolean. */
static bool is_boolean(const char *choice) {
    return !strcmp(choice, "true") || !strcmp(choice, "false");
}

static const char *choice_list(Arena *arena, const KeyInfo *info) {
    const char *list = "";
    for (int i = 0; i < info->nchoices; i++)
        list = arena_printf(arena, is_boolean(info->choices[i]) ? "%s%s%s" : "%s%s\"%s\"", list,
                            i ? ", " : "", info->choices[i]);
    return list;
}

const char *key_default(Arena *arena, Key key) {
    const KeyInfo *info = &key_info[key];
    if (info->kind != KIND_CHOICE || is_boolean(info->fallback))
        return info->fallback;
    return arena_printf(arena, "\"%s\"", info->fallback);
}

const char *key_domain(Arena *arena, Key key) {
    const KeyInfo *info = &key_info[key];
    switch (info->kind) {
    case KIND_INT:
        return arena_printf(arena, "integer in %s", info->range);
    case KIND_REAL:
        return arena_printf(arena, "number in %s", info->range);
    case KIND_REAL_OR_AUTO:
        return arena_printf(arena, "\"auto\" or a number in %s", info->range);
    case KIND_BOOL:
        return "true or false";
    case KIND_REALS:
        return arena_printf(arena, "list of numbers in %s", info->range);
    case KIND_STRING:
        return "string";
    case KIND_STRINGS:
        return "list of strings";
    case KIND_CHOICE:
        return arena_printf(arena, info->nchoices > 1 ? "one of %s" : "%s",
                            choice_list(arena, info));
    }
    return "";
}

const char *key_hint(Arena *arena, Key key) {
    return arena_printf(arena, "%s: %s. %s", key_info[key].name, key_domain(arena, key),
                        key_info[key].help);
}

/* Whether the value is one of a set like "{18, 34, 50}". */
static bool in_set(const char *set, long double value) {
    for (const char *at = set; *at != '}';) {
        char *end;
        long double item = strtold(at + 1, &end);
        ENSURE(end > at + 1 && (*end == ',' || *end == '}'), "set %s", set);
        if (value == item)
            return true;
        at = end;
    }
    return false;
}

/* Ranges are written as in mathematics: "[0, 1)" includes 0 but not 1. A long double holds any
 * integer exactly. */
static bool in_range(const char *range, long double value) {
    char open, close;
    double low, high;
    if (range[0] == '{')
        return in_set(range, value);
    ENSURE(sscanf(range, "%c%lf, %lf%c", &open, &low, &high, &close) == 4, "range %s", range);
    return (open == '[' ? value >= low : value > low) &&
           (close == ']' ? value <= high : value < high);
}

bool key_in_range(Key key, double value) { return in_range(key_info[key].range, value); }

static bool wrong_type(Arena *arena, Key key, const Toml *value) {
    static const char *const wanted[] = {
        [KIND_INT] = "an integer",
        [KIND_REAL] = "a number",
        [KIND_BOOL] = "true or false",
        [KIND_REALS] = "a list of numbers",
        [KIND_STRING] = "a string",
        [KIND_STRINGS] = "a list of strings",
        [KIND_REAL_OR_AUTO] = "a number or \"auto\"",
    };
    const KeyInfo *info = &key_info[key];
    error_at(value->pos, key_hint(arena, key), "%s must be %s, not %s", info->name,
             info->kind == KIND_CHOICE ? key_domain(arena, key) : wanted[info->kind],
             toml_kind_name(value->kind));
    return false;
}

static bool is_number(Arena *arena, Key key, const Toml *value) {
    const KeyInfo *info = &key_info[key];
    if (value->kind != TOML_INT && (info->kind == KIND_INT || value->kind != TOML_REAL))
        return wrong_type(arena, key, value);
    if (in_range(info->range, value->kind == TOML_INT ? (long double)value->integer : value->real))
        return true;
    StrBuf text = {0};
    if (value->kind == TOML_INT)
        sb_printf(&text, "%lld", (long long)value->integer);
    else
        sb_put_real(&text, value->real);
    const char *shown = arena_strdup(arena, text.text);
    sb_free(&text);
    error_at(value->pos, key_hint(arena, key), "%s = %s is not in %s", info->name, shown,
             info->range);
    return false;
}

static bool is_auto(const Toml *value) {
    return value->kind == TOML_STRING && !strcmp(value->string, "auto");
}

/* What other tools call our choices. */
static const struct {
    const char *spelling, *choice;
} choice_aliases[] = {
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"float64", "fp64"},
    {"double", "fp64"},
    {"fp8", "float8_e4m3fn"},
    {"8bit", "int8"},
    {"4bit", "nf4"},
    {"adam", "adamw"},
    {"adamw_torch", "adamw"},
    {"constant_with_warmup", "constant"},
    {"qlora", "lora"},
    {"channels_last", "nhwc"},
    {"channels_first", "nchw"},
};

static const char *other_spelling(const char *word) {
    for (size_t i = 0; i < sizeof choice_aliases / sizeof *choice_aliases; i++)
        if (!strcasecmp(choice_aliases[i].spelling, word))
            return choice_aliases[i].choice;
    return word;
}

/* Returns the choice that the word may stand for, or NULL. */
static const char *likely_choice(const KeyInfo *info, const char *word) {
    const char *spelling = other_spelling(word);
    for (int i = 0; i < info->nchoices; i++)
        if (!strcasecmp(info->choices[i], spelling))
            return info->choices[i];
    return nearest_name(word, info->choices, info->nchoices);
}

static const char *choice_hint(Arena *arena, Key key, const char *word) {
    const char *choice = likely_choice(&key_info[key], word), *hint = key_hint(arena, key);
    if (!choice)
        return hint;
    const char *format = is_boolean(choice) ? "did you mean %s? %s" : "did you mean \"%s\"? %s";
    return arena_printf(arena, format, choice, hint);
}

static bool find_choice(Arena *arena, Key key, const Toml *value, int *choice) {
    const KeyInfo *info = &key_info[key];
    const char *word = value->kind == TOML_STRING ? value->string
                       : value->kind == TOML_BOOL ? (value->boolean ? "true" : "false")
                                                  : "";
    for (int i = 0; i < info->nchoices; i++)
        if (!strcmp(info->choices[i], word)) {
            *choice = i;
            return true;
        }
    if (value->kind != TOML_STRING)
        return wrong_type(arena, key, value);
    error_at(value->pos, choice_hint(arena, key, word), "%s = \"%s\" is not a valid value",
             info->name, word);
    return false;
}

/* A single value is a list of one. */
static const Toml *list_items(const Toml *value, int *count) {
    *count = value->kind == TOML_ARRAY ? value->count : 1;
    return value->kind == TOML_ARRAY ? value->items : value;
}

static bool real_list(Arena *arena, Key key, const Toml *value, Reals *list) {
    int count;
    const Toml *items = list_items(value, &count);
    double *reals = arena_array(arena, (size_t)count, sizeof *reals);
    for (int i = 0; i < count; i++) {
        if (!is_number(arena, key, &items[i]))
            return false;
        reals[i] = items[i].real;
    }
    *list = (Reals){count, reals};
    return true;
}

static bool string_list(Arena *arena, Key key, const Toml *value, Strings *strings) {
    int count;
    const Toml *items = list_items(value, &count);
    Strings list = {
        .items = arena_array(arena, (size_t)count, sizeof *list.items),
        .at = arena_array(arena, (size_t)count, sizeof *list.at),
    };
    for (; list.count < count; list.count++) {
        const Toml *item = &items[list.count];
        if (item->kind != TOML_STRING)
            return wrong_type(arena, key, item);
        list.items[list.count] = item->string;
        list.at[list.count] = item->pos;
    }
    *strings = list;
    return true;
}

/* Stores the value at `at`. Notes an error and returns false if it is not valid for the key. */
static bool put_value(Arena *arena, Key key, const Toml *value, void *at) {
    KeyKind kind = key_info[key].kind;
    bool automatic = kind == KIND_REAL_OR_AUTO && is_auto(value);
    switch (kind) {
    case KIND_INT:
        if (!is_number(arena, key, value))
            return false;
        *(int64_t *)at = value->integer;
        return true;
    case KIND_REAL:
    case KIND_REAL_OR_AUTO:
        if (!automatic && !is_number(arena, key, value))
            return false;
        *(double *)at = automatic ? 0 : value->real;
        return true;
    case KIND_BOOL:
        if (value->kind != TOML_BOOL)
            return wrong_type(arena, key, value);
        *(bool *)at = value->boolean;
        return true;
    case KIND_STRING:
        if (value->kind != TOML_STRING)
            return wrong_type(arena, key, value);
        *(const char **)at = value->string;
        return true;
    case KIND_REALS:
        return real_list(arena, key, value, at);
    case KIND_STRINGS:
        return string_list(arena, key, value, at);
    case KIND_CHOICE:
        return find_choice(arena, key, value, at);
    }
    return false;
}

bool key_assign(Arena *arena, Spec *spec, Key key, const Toml *value, Origin origin) {
    if (!put_value(arena, key, value, field(spec, key)))
        return false;
    spec->origin[key] = origin;
    return true;
}

static void place(Toml *value, Pos pos) {
    value->pos = pos;
    for (int i = 0; i < value->count; i++)
        place(&value->items[i], pos);
}

/* Whether the text is itself the string: --set adapter.type=lora, --set data.train=book.txt. */
static bool is_bare_string(Key key, const char *text) {
    KeyKind kind = key_info[key].kind;
    if (kind == KIND_REAL_OR_AUTO)
        return !strcmp(text, "auto");
    return kind >= KIND_STRING && text[0] != '"' && text[0] != '\'' &&
           !(kind == KIND_STRINGS && text[0] == '[');
}

const Toml *key_parse(Arena *arena, Key key, const char *text, Pos pos) {
    if (is_bare_string(key, text)) {
        Toml *value = arena_alloc(arena, sizeof *value);
        *value = (Toml){.kind = TOML_STRING, .pos = pos, .string = text};
        return value;
    }
    TomlError error;
    const char *line = arena_printf(arena, "value = %s", text);
    Toml *root = toml_parse(arena, pos.file, line, strlen(line), &error);
    if (!root || root->count != 1 || strcmp(root->items[0].key, "value")) {
        error_at(pos, key_hint(arena, key), "%s cannot be \"%s\"", key_info[key].name, text);
        return NULL;
    }
    place(&root->items[0], pos);
    return &root->items[0];
}

static void print_string(const char *text, StrBuf *out) {
    sb_puts(out, "\"");
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\')
            sb_printf(out, "\\%c", byte);
        else if (byte < ' ' || byte == 127)
            sb_printf(out, "\\u%04X", byte);
        else
            sb_append(out, text, 1);
    }
    sb_puts(out, "\"");
}

static void print_strings(const Strings *list, StrBuf *out) {
    sb_puts(out, "[");
    for (int i = 0; i < list->count; i++) {
        sb_puts(out, i ? ", " : "");
        print_string(list->items[i], out);
    }
    sb_puts(out, "]");
}

static void print_reals(const Reals *list, StrBuf *out) {
    sb_puts(out, "[");
    for (int i = 0; i < list->count; i++) {
        sb_puts(out, i ? ", " : "");
        sb_put_real(out, list->items[i]);
    }
    sb_puts(out, "]");
}

static void print_choice(const char *choice, StrBuf *out) {
    if (is_boolean(choice))
        sb_puts(out, choice);
    else
        print_string(choice, out);
}

void key_print(const Spec *spec, Key key, StrBuf *out) {
    const void *at = const_field(spec, key);
    switch (key_info[key].kind) {
    case KIND_INT:
        sb_printf(out, "%lld", (long long)*(const int64_t *)at);
        break;
    case KIND_REAL:
        sb_put_real(out, *(const double *)at);
        break;
    case KIND_REAL_OR_AUTO:
        if (*(const double *)at > 0)
            sb_put_real(out, *(const double *)at);
        else
            print_string("auto", out);
        break;
    case KIND_BOOL:
        sb_puts(out, *(const bool *)at ? "true" : "false");
        break;
    case KIND_REALS:
        print_reals(at, out);
        break;
    case KIND_STRING:
        print_string(*(const char *const *)at, out);
        break;
    case KIND_STRINGS:
        print_strings(at, out);
        break;
    case KIND_CHOICE:
        print_choice(choice_name(key, *(const int *)at), out);
        break;
    }
}

bool key_same(const Spec *a, const Spec *b, Key key) {
    StrBuf texts[2] = {{0}, {0}};
    key_print(a, key, &texts[0]);
    key_print(b, key, &texts[1]);
    bool same = !strcmp(texts[0].text, texts[1].text);
    sb_free(&texts[0]);
    sb_free(&texts[1]);
    return same;
}

void key_copy(Spec *to, const Spec *from, Key key) {
    static const size_t sizes[] = {
        [KIND_INT] = sizeof(int64_t),         [KIND_REAL] = sizeof(double),
        [KIND_BOOL] = sizeof(bool),           [KIND_REALS] = sizeof(Reals),
        [KIND_STRING] = sizeof(const char *), [KIND_STRINGS] = sizeof(Strings),
        [KIND_CHOICE] = sizeof(int),          [KIND_REAL_OR_AUTO] = sizeof(double),
    };
    memcpy(field(to, key), const_field(from, key), sizes[key_info[key].kind]);
}
