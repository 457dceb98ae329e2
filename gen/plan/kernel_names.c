/* A kernel is named after its ops and shape, a parameter after the value it passes. If the name is
 * taken, the second kernel's name says how the two differ, and ends in a number only if nothing
 * else tells them apart. */
#include "plan/kernel_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/dotted.h"
#include "base/embed.h"
#include "graph/op_table.h"

const char *dtype_c_name(DType dtype) {
    static const char *const names[DT_COUNT] = {
        [DT_F64] = "double",         [DT_F32] = "float",   [DT_F16] = "__half",
        [DT_BF16] = "__nv_bfloat16", [DT_I64] = "int64_t", [DT_I32] = "int",
        [DT_U8] = "uint8_t",         [DT_I8] = "int8_t",   [DT_F8_E4M3] = "Float8",
    };
    return names[dtype];
}

const char *const kernel_words[] = {"row", "col", "lane", "worker", "column_block", "part", "i", "j",
                                    "c",   "r",   "rows", "first",  "end",          "sums", "turn",
                                    "near", NULL};

static bool is_one_of(const char *name, const char *const *words) {
    while (*words && strcmp(name, *words) != 0)
        words++;
    return *words;
}

bool kernel_name_is_reserved(const char *name) {
    static const char *const others[] = {"partial", "stream", "share", "max",      "min", "float",
                                         "double",  "int",    "new",   "register", "sin", "cos",
                                         "exp",     "log",    "sqrt",  "tanh",     "pow", NULL};
    return is_one_of(name, kernel_words) || is_one_of(name, others);
}

/* Whether the text between a line that begins with `marker` and the next //@end mentions the name;
 * there may be several such sections. */
static bool section_mentions(const char *text, const char *marker, const char *name) {
    static const char end[] = "//@end\n";
    for (const char *at = text; (at = strstr(at, marker));) {
        const char *stop = strstr(at, end);
        size_t length = stop ? (size_t)(stop - at) : strlen(at);
        StrBuf section = {0};
        sb_append(&section, at, length);
        bool found = text_mentions(section.text, name);
        sb_free(&section);
        if (found)
            return true;
        at += length;
    }
    return false;
}

bool kernel_template_mentions(const Kernel *k, const char *name) {
    char own[128];
    if (!k->template_name)
        return false;
    snprintf(own, sizeof own, "//@kernel %s\n", k->template_kernel);
    const char *text = embedded_template(k->template_name)->text;
    return text_mentions(text, name) && (section_mentions(text, "//@prelude", name) ||
                                         section_mentions(text, own, name));
}

static bool is_taken(const char *name, const Kernel *k) {
    for (int i = 0; i < k->param_count; i++)
        if (k->param[i].name && !strcmp(name, k->param[i].name))
            return true;
    return kernel_template_mentions(k, name);
}

/* Whether this part says that the value is the gradient, a partial sum or a copy of what precedes
 * it. */
static bool is_of_another(const char *part) {
    return !strncmp(part, "grad", 4) || !strncmp(part, "part", 4) || !strcmp(part, "recomputed") ||
           !strcmp(part, "kept");
}

/* Returns the end of the value's name that identifies it. For a persistent value its last part is
 * enough ("weight"). A number or "grad" means nothing without the part before it: "conv_1_0",
 * "act_grad". Neither does a short last part of any other value ("q_proj_y"), unless a number
 * precedes it ("norm"). */
static const char *telling_parts(const Value *v) {
    enum { SHORT = 6, MOST_WORDS = 3 };
    const char *part = name_last_part(v->name);
    for (int words = !part_is_number(part); part > v->name && words < MOST_WORDS;) {
        const char *before = previous_part(v->name, part);
        bool nothing = part_is_number(part) || is_of_another(part);
        bool little = !role_persistent(v->role) && part_length(part) <= SHORT;
        if (!nothing && (!little || part_is_number(before)))
            break;
        words += !part_is_number(before);
        part = before;
    }
    return part;
}

static const char *identifier(Arena *arena, const char *parts) {
    char *name = arena_strdup(arena, parts);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    if (!isalpha((unsigned char)*name))
        name = arena_printf(arena, "v%s", name);
    return kernel_name_is_reserved(name) ? arena_printf(arena, "%s_values", name) : name;
}

/* If another parameter has the name, one more part is added: "input_layernorm_weight". */
const char *short_name(Arena *arena, const Value *v, const Kernel *k) {
    const char *parts = telling_parts(v), *name = identifier(arena, parts);
    const char *before = previous_part(v->name, parts);
    if (k && is_taken(name, k) && !part_is_number(before))
        name = identifier(arena, before);
    const char *unique = name;
    for (int n = 2; k && is_taken(unique, k); n++)
        unique = arena_printf(arena, "%s_%d", name, n);
    return unique;
}

static bool has_title(OpTitles titles, const char *title) {
    for (int i = 0; i < titles.count; i++)
        if (!strcmp(titles.title[i], title))
            return true;
    return false;
}

OpTitles op_titles(Arena *arena, const Op *const *ops, int count) {
    OpTitles titles = {arena_array(arena, (size_t)count, sizeof *titles.title), 0};
    for (int i = 0; i < count; i++)
        if (!has_title(titles, op_title(ops[i])))
            titles.title[titles.count++] = op_title(ops[i]);
    return titles;
}

static const char *joined(Arena *arena, OpTitles titles, const char *between, int most) {
    const char *text = titles.title[0];
    for (int i = 1; i < titles.count && i < most; i++)
        text = arena_printf(arena, "%s%s%s", text, between, titles.title[i]);
    return text;
}

const char *titles_text(Arena *arena, OpTitles titles) {
    return joined(arena, titles, ", ", titles.count);
}

const char *titles_identifier(Arena *arena, OpTitles titles) {
    return joined(arena, titles, "_", 3);
}

const char *body_kernel_name(Arena *arena, OpTitles ops, const Kernel *k) {
    const char *name = titles_identifier(arena, ops);
    long long cols = (long long)k->body->cols;
    if (!k->rows)
        return arena_printf(arena, "%s_x%lld", name, cols);
    if (k->rows == 1 && cols == 1)
        return name;
    if (k->rows == 1)
        return arena_printf(arena, "%s_%lld", name, cols);
    return arena_printf(arena, "%s_%lldx%lld", name, (long long)k->rows, cols);
}

/* Kernels of one shape differ mostly in the row strides of results: "rope_1024x64_of_304". */
static const char *name_with_strides(Arena *arena, const Kernel *k) {
    const char *name = k->name;
    int64_t told = 0;
    for (int i = 0; i < k->param_count; i++) {
        const Value *v = k->param[i].value;
        if (!k->param[i].written || value_dense(v) || v->row_stride == told)
            continue;
        told = v->row_stride;
        name = arena_printf(arena, "%s_of_%lld", name, (long long)told);
    }
    return name;
}

static int results_of(const Kernel *k) {
    int count = 0;
    for (int i = 0; i < k->param_count; i++)
        count += k->param[i].written;
    return count;
}

/* "_from_96x64", "_to_f32": the first operand or result in which they differ; or NULL. */
static const char *unlike_param(Arena *arena, const Kernel *k, const Kernel *other) {
    for (int i = 0; i < k->param_count && i < other->param_count; i++) {
        const Value *v = k->param[i].value, *w = other->param[i].value;
        const char *way = k->param[i].written ? "to" : "from";
        if (v->dtype != w->dtype)
            return arena_printf(arena, "_%s_%s", way, dtype_name(v->dtype));
        if (value_rows(v) != value_rows(w) || value_cols(v) != value_cols(w))
            return arena_printf(arena, "_%s_%lldx%lld", way, (long long)value_rows(v),
                                (long long)value_cols(v));
        if (v->row_stride != w->row_stride)
            return arena_printf(arena, "_%s_rows_of_%lld", way, (long long)v->row_stride);
    }
    return NULL;
}

/* Suffix for a name that an earlier kernel has; NULL if ops and operands do not tell them apart. */
static const char *difference(Arena *arena, const Kernel *k, const Kernel *other) {
    int results = results_of(k);
    const char *last = k->ops.title[k->ops.count - 1];
    if (!has_title(other->ops, last))
        return arena_printf(arena, "_and_%s", last);
    if (results != results_of(other))
        return arena_printf(arena, "_%d_result%s", results, results == 1 ? "" : "s");
    if (k->param_count != other->param_count)
        return arena_printf(arena, "_%d_operands", k->param_count - results);
    return unlike_param(arena, k, other);
}

static const Kernel *kernel_called(const Plan *plan, const char *name) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (!strcmp(plan->kernels[i].name, name))
            return &plan->kernels[i];
    return NULL;
}

/* The first kernel of a name gets it unchanged. Later ones get a suffix that says what differs, and
 * end in _v2 if the difference is a constant. */
static const char *unique_name(const Plan *plan, const Kernel *k, const char *name) {
    Arena *arena = plan->program->arena;
    const Kernel *other;
    while ((other = kernel_called(plan, name))) {
        const char *more = difference(arena, k, other);
        if (!more)
            break;
        name = arena_printf(arena, "%s%s", name, more);
    }
    const char *base = name;
    for (int n = 2; kernel_called(plan, name); n++)
        name = arena_printf(arena, "%s_v%d", base, n);
    return name;
}

/* Names the parameters that the template does not name. */
static void name_params(Arena *arena, Kernel *k) {
    for (int i = 0; i < k->param_count; i++)
        if (!k->param[i].name)
            k->param[i].name = short_name(arena, k->param[i].value, k);
}

void kernel_set_names(const Plan *plan, Kernel *k) {
    Arena *arena = plan->program->arena;
    name_params(arena, k);
    k->name = unique_name(plan, k, name_with_strides(arena, k));
}
