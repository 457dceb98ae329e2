/* Dotted names become C identifiers. */
#include "emit/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dotted.h"

/* ---- macros of storages ------------------------------------------------------------------- */

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

/* Where a storage is used. */
typedef struct {
    int entry;    /* the first that uses it */
    bool forward; /* forward reads it: not only backward, or what backward recomputes */
} Use;

static bool is_forward(const Launch *launch) {
    return launch->op_count == 0 || launch->ops[0]->phase == PHASE_FORWARD;
}

/* Returns the use of each storage. */
static Use *uses_of(Arena *arena, const Plan *plan) {
    Use *uses = arena_array(arena, (size_t)plan->program->storage_count + 1, sizeof *uses);
    for (int e = ENTRY_COUNT - 1; e >= 0; e--)
        for (int i = 0; i < plan->entry[e].launch_count; i++) {
            const Launch *launch = &plan->entry[e].launches[i];
            for (int k = 0; k < launch_touch_count(launch); k++) {
                Touched touched = launch_touched(launch, k);
                Use *use = &uses[touched.value->storage->id];
                use->forward |= is_forward(launch) && touched.read;
                use->entry = e;
            }
        }
    return uses;
}

/* Whether the names of the storage must include the entry: it is scratch of an entry that is not
 * part of a step, and could be mistaken for training's. */
static bool is_aside(const Storage *s, int entry) {
    return s->role == ROLE_ACTIVATION && entry != ENTRY_LOAD &&
           entry_info((Entry)entry)->runs == RUNS_ASIDE;
}

static bool same_use(Use a, Use b) { return a.entry == b.entry && a.forward == b.forward; }

/* Returns the plain name with what tells it from those of others of that name: `before` are as many
 * of the same use, `rival` says whether forward has one of them too. */
static const char *symbol_of(Arena *arena, const Plan *plan, const Named *own, Use use,
                             bool with_entry, bool rival, int before) {
    const char *symbol = own->name, *entry = plan->entry[use.entry].name;
    if (with_entry || is_aside(plan->program->storages[own->id], use.entry))
        symbol = arena_printf(arena, "%s_%s", upper_text(arena, entry), symbol);
    if (rival && !use.forward)
        symbol = arena_printf(arena, "%s_BACKWARD", symbol);
    return before == 0 ? symbol : arena_printf(arena, "%s__%d", symbol, before + 1);
}

/* Different entries have values of the same name. The first entry's value gets the plain name; in
 * other entries the name begins with the entry. Within an entry, a value of backward that forward has
 * elsewhere is X_BACKWARD; any other second value of a name is X__2. */
const char **storage_symbols(Arena *arena, const Plan *plan) {
    const Program *program = plan->program;
    const char **symbols = arena_array(arena, (size_t)program->storage_count + 1, sizeof *symbols);
    Named *named = arena_array(arena, (size_t)program->storage_count + 1, sizeof *named);
    const Use *uses = uses_of(arena, plan);
    int count = 0;
    for (int i = 0; i < program->storage_count; i++)
        if (plan->place[i].offset >= 0)
            named[count++] = (Named){upper_text(arena, program->storages[i]->name), i};
    qsort(named, (size_t)count, sizeof *named, by_name);
    for (int first = 0, end; first < count; first = end) {
        for (end = first; end < count && strcmp(named[end].name, named[first].name) == 0;)
            end++;
        for (int i = first; i < end; i++) {
            Use own = uses[named[i].id];
            bool rival = false, others = own.entry != uses[named[first].id].entry;
            int before = 0;
            for (int k = first; k < end; k++) {
                rival |= same_use(uses[named[k].id], (Use){own.entry, true});
                before += k < i && same_use(uses[named[k].id], own);
            }
            symbols[named[i].id] = symbol_of(arena, plan, &named[i], own, others, rival, before);
        }
    }
    return symbols;
}

const Value **storage_values(Arena *arena, const Program *program) {
    const Value **values = arena_array(arena, (size_t)program->storage_count + 1, sizeof *values);
    for (int i = 0; i < program->value_count; i++) {
        const Value *v = program->values[i], **of = &values[v->storage->id];
        if (!*of || (!value_fills(*of) && value_fills(v)))
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

/* ---- locals ---------------------------------------------------------------------------- */

enum { MAX_PARTS = 16 };

/* The parts of a dotted name. A number belongs to the word before it: "conv_0_1", "bias". */
typedef struct {
    const char *part[MAX_PARTS];
    int count, taken;   /* all parts; how many of the last ones make the name */
    const char *suffix; /* distinguishes locals with the same parts */
    const char *name;
} Local;

static bool says_little(const char *part) {
    static const char *const words[] = {"weight",  "bias",   "grad", "default",
                                        "partial", "border", "kept", "recomputed"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(part, words[i]) == 0)
            return true;
    return false;
}

/* The last part; two if it is short; and everything from the part before a "grad" on, because
 * act.grad.gate is not the gate. */
static int least_taken(const Local *local) {
    enum { SHORT = 3 };
    int taken = local->count > 1 && strlen(local->part[local->count - 1]) <= SHORT ? 2 : 1;
    for (int i = local->count - 1; i >= 0; i--)
        if (strcmp(local->part[i], "grad") == 0)
            taken = taken > local->count - i ? taken : local->count - i;
    while (taken < local->count && says_little(local->part[local->count - taken]))
        taken++;
    return taken;
}

static void add_part(Arena *arena, Local *local, char *part) {
    for (char *p = part; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '*')
            *p = '_';
    if (part_is_number(part)) {
        const char **word = local->count > 0 ? &local->part[local->count - 1] : NULL;
        if (word)
            *word = arena_printf(arena, "%s_%s", *word, part);
    } else if (local->count < MAX_PARTS && part[0] != '*') {
        local->part[local->count++] = part;
    }
}

static Local local_of(Arena *arena, const char *dotted) {
    Local local = {.suffix = ""};
    for (const char *part = dotted; *part; part = next_part(part))
        if (part_length(part) > 0)
            add_part(arena, &local, arena_strndup(arena, part, part_length(part)));
    if (local.count == 0)
        local.part[local.count++] = "value";
    local.taken = least_taken(&local);
    return local;
}

static bool same_parts(const Local *a, const Local *b) {
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->part[i], b->part[i]) == 0;
    return same;
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
    local->name = arena_printf(arena, "%s%s", name, local->suffix);
}

static int by_local(const void *a, const void *b) {
    const Local *x = *(Local *const *)a, *y = *(Local *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

/* Adds one more part to each of several locals with the same name; returns false if that cannot
 * help. */
static bool lengthen(Local **same, int count) {
    bool differ = false, any = false;
    for (int i = 1; i < count; i++)
        differ |= !same_parts(same[i], same[0]);
    for (int i = 0; differ && i < count; i++)
        if (same[i]->taken < same[i]->count) {
            same[i]->taken++;
            any = true;
        }
    return any;
}

/* Distinguishes locals of the same name by more parts, or numbers them if all parts are the same.
 * Returns whether there were any. */
static bool tell_apart(Arena *arena, Local **locals, int count) {
    bool again = false;
    for (int i = 0; i < count; i++)
        spell(arena, locals[i]);
    qsort(locals, (size_t)count, sizeof *locals, by_local);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(locals[end]->name, locals[i]->name) == 0;)
            end++;
        again |= end - i > 1;
        if (!lengthen(locals + i, end - i))
            for (int k = i + 1; k < end; k++)
                locals[k]->suffix = arena_printf(arena, "%s_%d", locals[k]->suffix, k - i + 1);
    }
    return again;
}

const char **local_names(Arena *arena, const char *const *dotted, int count) {
    Local *locals = arena_array(arena, (size_t)count + 1, sizeof *locals);
    Local **order = arena_array(arena, (size_t)count + 1, sizeof *order);
    const char **names = arena_array(arena, (size_t)count + 1, sizeof *names);
    for (int i = 0; i < count; i++) {
        locals[i] = local_of(arena, dotted[i]);
        order[i] = &locals[i];
    }
    while (tell_apart(arena, order, count))
        ;
    for (int i = 0; i < count; i++)
        names[i] = locals[i].name;
    return names;
}

/* ---- pieces of text ---------------------------------------------------------------------- */

const char *offset_text(Arena *arena, const char *const *symbols, const Value *value) {
    const char *symbol = symbols[value->storage->id];
    ENSURE(symbol, "%s has no place", value->name);
    long long bytes = (long long)value_begin(value);
    return bytes == 0 ? symbol : arena_printf(arena, "%s + %lld", symbol, bytes);
}

const char *rt_dtype(DType dtype) {
    static const char *const names[DT_COUNT] = {"RT_F64", "RT_F32", "RT_F16", "RT_BF16",
                                                "RT_I64", "RT_I32", "RT_U8",  "RT_I8"};
    return names[dtype];
}

const char *group_text(Arena *arena, const Mesh *mesh, RankGroup group) {
    static const struct {
        RankGroup group;
        const char *name;
    } named[] = {{GROUP_ENDS, "RT_ENDS"},           {GROUP_PIPELINE, "RT_PIPELINE"},
                 {GROUP_REPLICATE, "RT_REPLICATE"}, {GROUP_SHARD, "RT_SHARD"},
                 {GROUP_TENSOR, "RT_TENSOR"},       {GROUP_KEYS, "RT_KEYS"},
                 {GROUP_SAME_KEYS, "RT_SAME_KEYS"}};
    RankGroup left = mesh_written(mesh, group);
    const char *text = NULL;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        RankGroup written = mesh_written(mesh, named[i].group);
        if (!written || (left & written) != written)
            continue;
        text = text ? arena_printf(arena, "%s | %s", text, named[i].name) : named[i].name;
        left &= ~written;
    }
    return text ? text : "0";
}

static const char *dims_text(Arena *arena, const Value *v) {
    const char *text = arena_printf(arena, "%s [", dtype_name(v->dtype));
    for (int i = 0; i < v->rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? ", " : "", (long long)v->dim[i]);
    return arena_printf(arena, "%s]", text);
}

/* "78.3 MiB"; each unit is `step` of the previous one. */
static const char *scaled_text(Arena *arena, double value, double step, const char *const *unit) {
    int digits = 0;
    for (; value >= step && unit[1]; unit++) {
        value /= step;
        digits = value < 10 ? 2 : value < 100 ? 1 : 0;
    }
    return arena_printf(arena, "%.*f %s", digits, value, *unit);
}

const char *size_text(Arena *arena, double bytes) {
    static const char *const size[] = {"bytes", "KiB", "MiB", "GiB", NULL};
    return scaled_text(arena, bytes, 1024, size);
}

const char *flops_text(Arena *arena, double flops) {
    static const char *const work[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", NULL};
    return scaled_text(arena, flops, 1000, work);
}

const char *shape_text(Arena *arena, const Value *v) {
    if (v->plane)
        return arena_printf(arena, "%s [%lld, %lld, %lld]", dtype_name(v->dtype),
                            (long long)(value_rows(v) / v->plane), (long long)value_cols(v),
                            (long long)v->plane);
    const char *text = dims_text(arena, v);
    if (!value_dense(v))
        text = arena_printf(arena, "%s, row stride %lld", text, (long long)v->row_stride);
    return text;
}

/* "q_k_v_proj.x_u" for "model.layers.0.self_attn.q_k_v_proj.x_u", "gate_proj.u.kept" for its "u.kept":
 * a last part that says little does not count. */
static const char *last_two_parts(const char *dotted) {
    const char *last = name_last_part(dotted);
    if (says_little(last))
        last = previous_part(dotted, last);
    return previous_part(dotted, last);
}

/* "rows 128 to 191, " if the matrix that the value is part of has other rows too. */
static const char *rows_text(Arena *arena, const Value *v) {
    int64_t first = v->offset / v->row_stride, count = value_rows(v);
    int64_t all = v->storage->bytes / (v->row_stride * dtype_bytes(v->dtype));
    if (count == all)
        return "";
    return arena_printf(arena, "rows %lld to %lld, ", (long long)first,
                        (long long)(first + count - 1));
}

const char *view_text(Arena *arena, const Value *v, bool with_rows) {
    if (v->plane || value_dense(v))
        return shape_text(arena, v);
    int64_t first = v->offset % v->row_stride;
    return arena_printf(arena, "%s, %scolumns %lld to %lld of %s", dims_text(arena, v),
                        with_rows ? rows_text(arena, v) : "", (long long)first,
                        (long long)(first + value_cols(v) - 1),
                        last_two_parts(v->storage->name));
}

static bool is_plain(const unsigned char *p) {
    return *p >= ' ' && *p < 127 && *p != '"' && *p != '\\' && !(*p == '?' && p[1] == '?');
}

static void put_escaped(StrBuf *out, unsigned char c) {
    if (c == '\n')
        sb_puts(out, "\\n");
    else if (c == '"' || c == '\\')
        sb_printf(out, "\\%c", c);
    else
        sb_printf(out, "\\%03o", c);
}

void put_c_string(StrBuf *out, const char *text) {
    sb_puts(out, "\"");
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const unsigned char *plain = p;
        while (is_plain(p))
            p++;
        sb_append(out, (const char *)plain, (size_t)(p - plain));
        if (*p)
            put_escaped(out, *p++);
    }
    sb_puts(out, "\"");
}

const char *c_string(Arena *arena, const char *text) {
    StrBuf out = {0};
    put_c_string(&out, text);
    const char *copy = arena_strdup(arena, out.text);
    sb_free(&out);
    return copy;
}

/* Writes `head` without a space at its end, and begins a new line. */
static void put_head_alone(StrBuf *out, const char *head, const char *newline) {
    size_t length = strlen(head);
    sb_printf(out, "%.*s%s", (int)(length - (head[length - 1] == ' ')), head, newline);
}

/* Writes `head`, the items and `end` in lines. Between them it writes `newline`: what is at the end
 * of each line, the newline itself, and the margin of the next. */
static void put_items(StrBuf *out, const char *head, const char *const *items, int count,
                      const char *newline, const char *end) {
    size_t behind = strcspn(newline, "\n"), room = PAGE - behind;
    size_t column = strlen(head), least = strlen(newline) - behind - 1;
    for (int i = 0; i < count; i++) {
        size_t after = i + 1 < count ? 1 : strcspn(end, "\n");
        size_t length = strlen(items[i]) + (after < 2 ? 2 : after);
        if (i == 0 && column > least && column + length > room) {
            put_head_alone(out, head, newline);
            column = least;
        } else if (i == 0) {
            sb_puts(out, head);
        } else if (column + 1 + length > room) {
            sb_puts(out, newline);
            column = least;
        } else {
            sb_puts(out, " ");
            column++;
        }
        sb_puts(out, items[i]);
        sb_puts(out, i + 1 < count ? "," : end);
        column += strlen(items[i]) + 1;
    }
    if (count == 0)
        sb_printf(out, "%s%s", head, end);
}

void put_list(StrBuf *out, const char *head, const char *const *items, int count, int indent,
              const char *end) {
    char newline[MAX_INDENT + 2];
    snprintf(newline, sizeof newline, "\n%*s", indent, "");
    put_items(out, head, items, count, newline, end);
}

void put_macro_list(StrBuf *out, const char *head, const char *const *items, int count, int indent,
                    const char *end) {
    char newline[MAX_INDENT + 4];
    snprintf(newline, sizeof newline, " \\\n%*s", indent, "");
    put_items(out, head, items, count, newline, end);
}

void put_remark(StrBuf *out, int indent, const char *head, const char *const *items, int count,
                const char *end) {
    Arena arena = {0};
    put_items(out, arena_printf(&arena, "%*s/* %s", indent, "", head), items, count,
              arena_printf(&arena, "\n%*s * ", indent, ""), end);
    arena_free(&arena);
}

void put_noted(StrBuf *out, int indent, const char *code, const char *comment) {
    bool fits = (size_t)indent + strlen(code) + strlen(" /*  */") + strlen(comment) <= PAGE;
    if (fits)
        sb_printf(out, "%*s%s /* %s */\n", indent, "", code, comment);
    else
        sb_printf(out, "%*s/* %s */\n%*s%s\n", indent, "", comment, indent, "", code);
}

static size_t escaped_width(const char *p) {
    if (is_plain((const unsigned char *)p))
        return 1;
    return *p == '\n' || *p == '"' || *p == '\\' ? 2 : 4;
}

/* Length of the piece that the text begins with: up to the end of the line, or, if that is wider
 * than `room`, up to the last space before it; without one, as much as there is room for. */
static size_t piece_length(const char *text, size_t room) {
    size_t at = 0, width = 0, after_space = 0;
    while (text[at] && (width += escaped_width(text + at)) <= room) {
        if (text[at++] == '\n')
            return at;
        after_space = text[at - 1] == ' ' ? at : after_space;
    }
    return text[at] && after_space ? after_space : at;
}

void put_long_string(StrBuf *out, int column, const char *text) {
    size_t room = (size_t)(PAGE - column) - strlen("\"\",");
    for (;;) {
        size_t length = piece_length(text, room);
        char *piece = strndup(text, length);
        put_c_string(out, piece);
        free(piece);
        text += length;
        if (!*text)
            return;
        sb_printf(out, "\n%*s", column, "");
    }
}
