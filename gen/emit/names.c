/* Dotted names become C identifiers. */
#include "emit/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- macros of storages
 * -------------------------------------------------------------------------- */

const char *upper_text(Arena *arena, const char *name) {
    char *out = arena_printf(arena, "%s%s", isdigit((unsigned char)name[0]) ? "_" : "", name);
    for (char *p = out; *p; p++)
        *p = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
    return out;
}

typedef struct {
    const char *name;
    int id;
} Named;

static int by_name(const void *a, const void *b) {
    const Named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->id - y->id;
}

/* The second of a name gets _2, and so on. */
const char **storage_symbols(Arena *arena, const Plan *plan) {
    const Program *program = plan->program;
    const char **symbols = arena_array(arena, (size_t)program->storage_count + 1, sizeof *symbols);
    Named *named = arena_array(arena, (size_t)program->storage_count + 1, sizeof *named);
    int count = 0;
    for (int i = 0; i < program->storage_count; i++)
        if (plan->place[i].offset >= 0)
            named[count++] = (Named){upper_text(arena, program->storages[i]->name), i};
    qsort(named, (size_t)count, sizeof *named, by_name);
    for (int i = 0, same = 1; i < count; i++) {
        same = i > 0 && strcmp(named[i].name, named[i - 1].name) == 0 ? same + 1 : 1;
        symbols[named[i].id] =
            same == 1 ? named[i].name : arena_printf(arena, "%s__%d", named[i].name, same);
    }
    return symbols;
}

static bool fills_storage(const Value *v) {
    return v->offset == 0 && value_bytes(v) == v->storage->bytes;
}

const Value **storage_values(Arena *arena, const Program *program) {
    const Value **values = arena_array(arena, (size_t)program->storage_count + 1, sizeof *values);
    for (int i = 0; i < program->value_count; i++) {
        const Value *v = program->values[i], **of = &values[v->storage->id];
        if (!*of || (!fills_storage(*of) && fills_storage(v)))
            *of = v;
    }
    return values;
}

int next_constant(const Plan *plan, const Value *const *values, int from) {
    for (int i = from; i < plan->program->storage_count; i++)
        if (plan->place[i].offset >= 0 && values[i] && values[i]->data)
            return i;
    return -1;
}

/* ---- locals
 * -------------------------------------------------------------------------------------- */

enum { MAX_PARTS = 16 };

/* The parts of a dotted name that are no numbers. */
typedef struct {
    const char *part[MAX_PARTS];
    int count, taken; /* parts in all; how many of the last make the local's name */
    int number;       /* behind it; 0: none */
    const char *name;
} Local;

static bool all_digits(const char *text) { return text[strspn(text, "0123456789")] == '\0'; }

static bool says_little(const char *part) {
    static const char *const words[] = {"weight", "grad", "out", "default"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(part, words[i]) == 0)
            return true;
    return false;
}

static Local local_of(Arena *arena, const char *dotted) {
    Local local = {0};
    char *rest = arena_strdup(arena, dotted);
    for (char *p = rest; *p; p++)
        if (*p != '.' && !isalnum((unsigned char)*p))
            *p = '_';
    for (char *part; (part = strsep(&rest, "."));)
        if (part[0] && !all_digits(part) && local.count < MAX_PARTS)
            local.part[local.count++] = part;
    if (local.count == 0)
        local.part[local.count++] = "value";
    local.taken = 1;
    while (local.taken < local.count && says_little(local.part[local.count - local.taken]))
        local.taken++;
    return local;
}

static bool is_reserved(const char *name) {
    static const char *const words[] = {
        "rt",       "i",        "at",     "auto",     "break",  "case",   "char",     "const",
        "continue", "default",  "do",     "double",   "else",   "enum",   "extern",   "float",
        "for",      "goto",     "if",     "inline",   "int",    "long",   "register", "restrict",
        "return",   "short",    "signed", "sizeof",   "static", "struct", "switch",   "typedef",
        "union",    "unsigned", "void",   "volatile", "while"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return isdigit((unsigned char)name[0]);
}

static void spell(Arena *arena, Local *local) {
    const char *name = local->part[local->count - local->taken];
    for (int i = local->count - local->taken + 1; i < local->count; i++)
        name = arena_printf(arena, "%s_%s", name, local->part[i]);
    if (is_reserved(name))
        name = arena_printf(arena, "%s_", name);
    if (local->number)
        name = arena_printf(arena, "%s_%d", name, local->number);
    local->name = name;
}

static int by_local(const void *a, const void *b) {
    const Local *x = *(Local *const *)a, *y = *(Local *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

/* Of locals of one name each takes one part more; those that have none left are numbered. */
static void tell_apart(Local **same, int count) {
    bool any = false;
    for (int i = 0; i < count; i++)
        if (same[i]->taken < same[i]->count) {
            same[i]->taken++;
            any = true;
        }
    for (int i = 1; !any && i < count; i++)
        same[i]->number += i + (same[i]->number == 0);
}

const char **local_names(Arena *arena, const char *const *dotted, int count) {
    Local *locals = arena_array(arena, (size_t)count + 1, sizeof *locals);
    Local **order = arena_array(arena, (size_t)count + 1, sizeof *order);
    const char **names = arena_array(arena, (size_t)count + 1, sizeof *names);
    for (int i = 0; i < count; i++)
        locals[i] = local_of(arena, dotted[i]);
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < count; i++) {
            spell(arena, &locals[i]);
            order[i] = &locals[i];
        }
        qsort(order, (size_t)count, sizeof *order, by_local);
        for (int i = 0, end; i < count; i = end) {
            for (end = i + 1; end < count && strcmp(order[end]->name, order[i]->name) == 0;)
                end++;
            if (end - i > 1)
                tell_apart(order + i, end - i);
            again |= end - i > 1;
        }
    }
    for (int i = 0; i < count; i++)
        names[i] = locals[i].name;
    return names;
}

/* ---- pieces of text
 * ------------------------------------------------------------------------------ */

const char *offset_text(Arena *arena, const char *const *symbols, const Value *value) {
    const char *symbol = symbols[value->storage->id];
    ENSURE(symbol, "%s has no place", value->name);
    long long bytes = (long long)value->offset * dtype_bytes(value->dtype);
    return bytes == 0 ? symbol : arena_printf(arena, "%s + %lld", symbol, bytes);
}

const char *rt_dtype(DType dtype) {
    static const char *const names[DT_COUNT] = {"RT_F64", "RT_F32", "RT_F16", "RT_BF16",
                                                "RT_I64", "RT_I32", "RT_U8"};
    return names[dtype];
}

const char *rt_arena(ArenaKind kind) {
    static const char *const names[ARENA_COUNT] = {"RT_STATE", "RT_SCRATCH", "RT_INPUT"};
    return names[kind];
}

const char *shape_text(Arena *arena, const Value *v) {
    const char *text = arena_printf(arena, "%s [", dtype_name(v->dtype));
    for (int i = 0; i < v->rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? ", " : "", (long long)v->dim[i]);
    text = arena_printf(arena, "%s]", text);
    if (!value_dense(v))
        text = arena_printf(arena, "%s of rows of %lld", text, (long long)v->row_stride);
    return text;
}

void put_c_string(StrBuf *out, const char *text) {
    sb_puts(out, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p == '\n')
            sb_puts(out, "\\n");
        else if (*p == '"' || *p == '\\')
            sb_printf(out, "\\%c", *p);
        else if (*p < ' ' || *p >= 127 || (*p == '?' && p[1] == '?'))
            sb_printf(out, "\\%03o", *p);
        else
            sb_printf(out, "%c", *p);
    sb_puts(out, "\"");
}
