/* Bodies -> kernels and launches: parameters, signature, name, grid, second passes. */
#include "plan/kernels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "graph/op_table.h"
#include "plan/phases.h"
#include "plan/skeleton.h"

void plan_expect_launches(Plan *plan, Entry entry, int count) {
    PlanEntry *e = &plan->entry[entry];
    e->launches = arena_array(plan->program->arena, (size_t)count, sizeof(Launch));
    e->launch_capacity = count;
}

Launch *plan_add_launch(Plan *plan, Entry entry, Launch launch) {
    PlanEntry *e = &plan->entry[entry];
    e->launches = arena_grow(plan->program->arena, e->launches, e->launch_count,
                             &e->launch_capacity, sizeof launch);
    e->launches[e->launch_count] = launch;
    return &e->launches[e->launch_count++];
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *const kernel_words[] = {"row", "col",  "lane",  "worker", "part", "i", "j",
                                    "c",   "rows", "first", "end",    "sums", NULL};

static bool is_one_of(const char *name, const char *const *words) {
    while (*words && strcmp(name, *words) != 0)
        words++;
    return *words;
}

/* What the printer or CUDA C calls something else. */
static bool is_reserved(const char *name) {
    static const char *const others[] = {"partial", "stream", "share", "max",      "min", "float",
                                         "double",  "int",    "new",   "register", "sin", "cos",
                                         "exp",     "log",    "sqrt",  "tanh",     "pow", NULL};
    return is_one_of(name, kernel_words) || is_one_of(name, others);
}

const char *kernel_template_text(const Kernel *k) {
    char path[256];
    if (!k->template_name)
        return "";
    snprintf(path, sizeof path, "gen/templates/%s", k->template_name);
    const Embedded *file = embedded_find(path);
    ENSURE(file, "template %s is not built in", k->template_name);
    return file->text;
}

static bool is_taken(const char *name, const Kernel *k) {
    for (int i = 0; i < k->param_count; i++)
        if (k->param[i].name && !strcmp(name, k->param[i].name))
            return true;
    return text_mentions(kernel_template_text(k), name);
}

static const char *part_before(const char *dotted, const char *part) {
    const char *at = part - 1;
    while (at > dotted && at[-1] != '.')
        at--;
    return at;
}

static bool is_number(const char *part) { return isdigit((unsigned char)*part); }

/* The gradient, or a part of the sum, of what precedes it. */
static bool is_of_another(const char *part) {
    return !strncmp(part, "grad", 4) || !strncmp(part, "part", 4);
}

/* A parameter goes by its last part ("weight"); a number and "grad" say nothing alone, and a short last
 * part of another value too little: "conv_1_0", "act_grad", "q_proj_y", but "norm". */
static const char *telling_parts(const Value *v) {
    enum { SHORT = 6, MOST_WORDS = 3 };
    const char *last = strrchr(v->name, '.'), *part = last ? last + 1 : v->name;
    for (int words = !is_number(part); part > v->name && words < MOST_WORDS;) {
        const char *before = part_before(v->name, part);
        bool nothing = is_number(part) || is_of_another(part);
        bool little = !role_persistent(v->role) && strcspn(part, ".") <= SHORT;
        if (!nothing && (!little || is_number(before)))
            break;
        words += !is_number(before);
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
    return is_reserved(name) ? arena_printf(arena, "%s_values", name) : name;
}

/* Where another parameter is called so, one part more tells them apart: "input_layernorm_weight". */
const char *short_name(Arena *arena, const Value *v, const Kernel *k) {
    const char *parts = telling_parts(v), *name = identifier(arena, parts);
    const char *before = parts > v->name ? part_before(v->name, parts) : parts;
    if (k && is_taken(name, k) && !is_number(before))
        name = identifier(arena, before);
    const char *unique = name;
    for (int n = 2; k && is_taken(unique, k); n++)
        unique = arena_printf(arena, "%s_%d", name, n);
    return unique;
}

/* "add, rms_norm", each op kind once. */
const char *op_list(Arena *arena, const Op *const *ops, int count) {
    const char *list = op_table[ops[0]->kind].name;
    for (int i = 1; i < count; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen = seen || ops[k]->kind == ops[i]->kind;
        if (!seen)
            list = arena_printf(arena, "%s, %s", list, op_table[ops[i]->kind].name);
    }
    return list;
}

/* The first three op kinds. */
const char *ops_identifier(Arena *arena, const char *list) {
    char *name = arena_strdup(arena, list), *to = name;
    int commas = 0;
    for (const char *from = list; *from && commas < 3; from++) {
        commas += *from == ',';
        if (*from != ' ' && commas < 3)
            *to++ = *from == ',' ? '_' : *from;
    }
    *to = '\0';
    return name;
}

/* And the shape. */
static const char *body_kernel_name(Arena *arena, const char *ops, const Kernel *k) {
    const char *name = ops_identifier(arena, ops);
    long long cols = (long long)k->body->cols;
    if (!k->rows)
        return arena_printf(arena, "%s_x%lld", name, cols);
    if (k->rows == 1 && cols == 1)
        return name;
    if (k->rows == 1)
        return arena_printf(arena, "%s_%lld", name, cols);
    return arena_printf(arena, "%s_%lldx%lld", name, (long long)k->rows, cols);
}

/* Kernels of one shape differ mostly by the rows that they write into: "rope_1024x64_of_304". */
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

/* "_from_96x64", "_to_f32": the first operand or result in which the kernel is unlike the other one. */
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

static const char *last_op(const char *list) {
    const char *comma = strrchr(list, ',');
    return comma ? comma + 2 : list;
}

/* What a name says more where an earlier kernel has it; NULL: nothing that shows in its operands. */
static const char *difference(Arena *arena, const Kernel *k, const Kernel *other) {
    int results = results_of(k);
    const char *last = last_op(k->ops);
    if (!text_mentions(other->ops, last))
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

/* The plain name for the first kernel that would have it; the others' say what differs, and
 * end in _v2 where that is a constant. */
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

/* Those that no template names. */
static void name_params(Arena *arena, Kernel *k) {
    for (int i = 0; i < k->param_count; i++)
        if (!k->param[i].name)
            k->param[i].name = short_name(arena, k->param[i].value, k);
}

int plan_kernel(Plan *plan, Kernel kernel) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (!strcmp(plan->kernels[i].signature, kernel.signature))
            return i;
    name_params(plan->program->arena, &kernel);
    kernel.name = unique_name(plan, &kernel, name_with_strides(plan->program->arena, &kernel));
    plan->kernels = arena_grow(plan->program->arena, plan->kernels, plan->kernel_count,
                               &plan->kernel_capacity, sizeof kernel);
    plan->kernels[plan->kernel_count] = kernel;
    return plan->kernel_count++;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int param_of(Kernel *k, Launch *launch, Value *v) {
    for (int i = 0; i < k->param_count; i++)
        if (value_same_view(k->param[i].value, v))
            return i;
    ENSURE(k->param_count < MAX_PARAMS, "a kernel of %s with too many operands", k->ops);
    int i = k->param_count;
    k->param[i] = (KernelParam){.dtype = v->dtype, .value = v};
    k->param_count++;
    launch->arg[i] = v;
    return i;
}

static void mark_overlaps(Kernel *k) {
    for (int i = 0; i < k->param_count; i++)
        for (int j = 0; j < k->param_count; j++)
            if (i != j && (k->param[i].written || k->param[j].written) &&
                value_overlaps(k->param[i].value, k->param[j].value))
                k->param[i].overlaps = true;
}

/* Loads come before stores, so that a kernel's operands stand before its results. */
static void collect_params(Arena *arena, Kernel *k, Launch *launch) {
    const Body *body = k->body;
    int *param = arena_array(arena, (size_t)body->count, sizeof *param);
    for (int i = 0; i < body->count; i++)
        param[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < body->count; i++) {
            const Step *s = &body->steps[i];
            if (!s->value || (pass == 0) != (s->kind == STEP_LOAD) || s->kind == STEP_ROUND)
                continue;
            param[i] = param_of(k, launch, s->value);
            KernelParam *to = &k->param[param[i]];
            (s->kind == STEP_LOAD ? &to->read : &to->written)[0] = true;
        }
    k->param_of_step = param;
    mark_overlaps(k);
    launch->arg_count = k->param_count;
    for (int i = 0; i < k->param_count; i++) {
        launch->read[i] = k->param[i].read;
        launch->written[i] = k->param[i].written;
    }
}

static void add_scalar(Kernel *k, Launch *launch, const char *name, DType dtype, int64_t value) {
    ENSURE(k->scalar_count < MAX_SCALARS, "a kernel of %s with too many scalars", k->ops);
    launch->scalar[k->scalar_count] = value;
    k->scalar[k->scalar_count++] = (KernelScalar){name, dtype};
}

int kernel_stream_scalar(const Kernel *k, int step) {
    int scalar = k->rows ? 0 : 1;
    for (int i = 0; i < step; i++)
        scalar += k->body->steps[i].kind == STEP_UNIFORM;
    return scalar;
}

/* Masks differ by their stream alone, so it is an argument and the layers share a kernel. */
static void collect_scalars(Arena *arena, Kernel *k, Launch *launch) {
    if (!k->rows)
        add_scalar(k, launch, "rows", DT_I64, k->body->rows);
    int streams = 0;
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        if (s->kind != STEP_UNIFORM)
            continue;
        const char *name = streams++ ? arena_printf(arena, "stream_%d", streams) : "stream";
        add_scalar(k, launch, name, DT_I32, s->stream);
    }
}

void kernel_operands(Arena *arena, Kernel *k, Launch *launch) {
    k->template_params = k->param_count;
    collect_params(arena, k, launch);
    collect_scalars(arena, k, launch);
}

/* ---- signature ------------------------------------------------------------------------------- */

static void sign_value(const Kernel *k, int i, StrBuf *out) {
    const Value *v = k->body->steps[i].value;
    bool grows = !k->rows && value_rows(v) == k->body->rows; /* an argument says it */
    sb_puts(out, "p");
    sb_put_int(out, k->param_of_step[i], ',');
    sb_put_int(out, grows ? 0 : value_rows(v), 'x');
    sb_put_int(out, value_cols(v), '/');
    sb_put_int(out, v->row_stride, step_is_vector(k, i) ? 'v' : ' ');
}

static int64_t real_bits(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void sign_step(const Kernel *k, int i, StrBuf *out) {
    const Step *s = &k->body->steps[i];
    sb_put_int(out, s->kind, ':');
    sb_put_int(out, s->type * LEVELS + s->level, '(');
    for (int a = 0; a < step_args(s); a++)
        sb_put_int(out, s->arg[a], ',');
    if (s->kind == STEP_CONST || s->kind == STEP_COL_SUM)
        sb_put_int(out, real_bits(s->constant), 'b');
    if (s->kind == STEP_COL_SUM && s->period)
        sb_printf(out, "of%lld", (long long)s->period);
    if (s->kind == STEP_RESULT && s->period)
        sb_put_int(out, (int64_t)s->constant, 'w');
    if (s->kind == STEP_ROUND)
        sb_put_int(out, s->dtype, 'd');
    if (s->of_product)
        sb_puts(out, "p");
    if (k->param_of_step[i] >= 0)
        sign_value(k, i, out);
    if (s->col_map != COL_SAME)
        sb_printf(out, "m%d/%lld", s->col_map, (long long)s->period);
    if (s->row_index >= 0)
        sb_put_int(out, s->row_index, 'r');
    sb_puts(out, ";");
}

const char *body_signature(Arena *arena, const Kernel *k) {
    StrBuf out = {0};
    sb_printf(&out, "%d %d [%lld,%lld] %d %d %lld %d ", k->skeleton, k->real, (long long)k->rows,
              (long long)k->body->cols, k->threads, k->vector, (long long)k->workers, k->lanes);
    for (int i = 0; i < k->param_count; i++) {
        sb_put_int(&out, k->param[i].dtype, k->param[i].read ? 'r' : '-');
        sb_puts(&out, k->param[i].written ? "w" : "-");
        sb_puts(&out, k->param[i].overlaps ? "o," : "-,");
    }
    for (int i = 0; i < k->body->count; i++)
        sign_step(k, i, &out);
    const char *text = arena_strndup(arena, out.text, out.length);
    sb_free(&out);
    return text;
}

/* ---- launches of bodies ---------------------------------------------------------------------- */

static bool launch_writes(const Launch *launch, const Value *v) {
    for (int i = 0; i < launch->arg_count; i++)
        if (launch->written[i] && value_same_place(launch->arg[i], v))
            return true;
    return false;
}

void launch_carries(Arena *arena, Launch *launch, const Op *const *ops, int count) {
    const Op **copy = arena_array(arena, (size_t)count, sizeof *copy);
    memcpy(copy, ops, (size_t)count * sizeof *ops);
    launch->ops = copy;
    launch->op_count = count;
    launch->ends_step = ops[0]->ends_step;
    for (int i = 0; i < count; i++)
        if (ops[i]->observe && launch_writes(launch, ops[i]->out[0])) {
            launch->observe = ops[i]->observe;
            launch->observed = ops[i]->observed ? ops[i]->observed : ops[i]->out[0];
        }
}

static void finish_body_launch(Plan *plan, Entry entry, Kernel *k, const Op *const *ops,
                               int count) {
    Arena *arena = plan->program->arena;
    Launch launch = {.kind = LAUNCH_KERNEL};
    kernel_operands(arena, k, &launch);
    launch_carries(arena, &launch, ops, count);
    k->signature = body_signature(arena, k);
    k->name = body_kernel_name(arena, k->name, k);
    skeleton_grid(k, k->body->rows, launch.grid);
    launch.index = plan_kernel(plan, *k);
    plan_add_launch(plan, entry, launch);
}

/* A view of a whole storage of all trained tensors. */
static bool is_whole_run(const Value *v) {
    return (v->role == ROLE_GRADIENT || v->role == ROLE_OPTIMIZER) &&
           value_bytes(v) == v->storage->bytes;
}

bool plan_rows_grow(Entry entry, const Op *const *ops, int count) {
    bool all = entry == ENTRY_COLLECT || entry == ENTRY_UPDATE;
    for (int i = 0; all && i < count; i++)
        for (int k = 0; k < ops[i]->in_count; k++)
            if (is_whole_run(ops[i]->in[k]))
                return true;
    return false;
}

/* A second pass is called after what it goes on with. */
static const char *second_pass_name(Arena *arena, const Op *const *ops, int count) {
    if (count == 1)
        return "column_sum";
    return arena_printf(arena, "column_sum, %s", op_list(arena, ops + 1, count - 1));
}

void plan_body(Plan *plan, Entry entry, Body *body, const Op *const *ops, int op_count) {
    Arena *arena = plan->program->arena;
    body = body_upright(body);
    Kernel k = {.body = body,
                .real = plan->program->real,
                .ops = op_list(arena, ops, op_count),
                .pos = ops[0]->pos};
    k.name = body_has(body, step_totals) ? second_pass_name(arena, ops, op_count) : k.ops;
    skeleton_choose(plan->program, &k, plan_rows_grow(entry, ops, op_count));
    finish_body_launch(plan, entry, &k, ops, op_count);
}
