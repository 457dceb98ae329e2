/* From bodies to kernels and launches: parameters, signature, name, grid, second passes. */
#include "graph/op_table.h"
#include "plan/kernels.h"

#include <string.h>

#include "plan/fuse.h"
#include "plan/kernel_names.h"
#include "plan/phases.h"
#include "plan/skeleton.h"

bool plan_has_wgmma(const Plan *plan) {
    return plan->device && plan->device->wgmma_share > 0 && plan->spec->compile.wgmma != NOWHERE;
}

void plan_expect_launches(Plan *plan, Entry entry, int count) {
    PlanEntry *e = &plan->entry[entry];
    e->launches = arena_array(plan->program->arena, (size_t)count, sizeof(Launch));
    e->launch_capacity = count;
}

static bool launch_writes(const Launch *launch, const Value *v) {
    for (int i = 0; i < launch->arg_count; i++)
        if (launch->written[i] && value_same_place(launch->arg[i], v))
            return true;
    return false;
}

static void carry_ops(Arena *arena, Launch *launch, const Op *const *ops, int count) {
    const Op **copy = arena_array(arena, (size_t)count, sizeof *copy);
    for (int again = 0; again < 2; again++)
        for (int i = 0; i < count; i++)
            if ((ops[i]->phase == PHASE_RECOMPUTE) == again)
                copy[launch->op_count++] = ops[i];
    launch->ops = copy;
    launch->ends_step = ops[0]->ends_step;
    for (int i = 0; i < count; i++)
        if (ops[i]->observe && launch_writes(launch, ops[i]->out[0])) {
            launch->observe = ops[i]->observe;
            launch->observed = ops[i]->observed ? ops[i]->observed : ops[i]->out[0];
        }
}

void plan_add_launch(Plan *plan, Entry entry, Launch launch, const Op *const *ops, int count) {
    PlanEntry *e = &plan->entry[entry];
    carry_ops(plan->program->arena, &launch, ops, count);
    e->launches = arena_grow(plan->program->arena, e->launches, e->launch_count,
                             &e->launch_capacity, sizeof launch);
    e->launches[e->launch_count++] = launch;
}

int plan_kernel(Plan *plan, Kernel kernel) {
    for (int i = 0; i < plan->kernel_count; i++)
        if (!strcmp(plan->kernels[i].signature, kernel.signature))
            return i;
    kernel_set_names(plan, &kernel);
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
    ENSURE(k->param_count < MAX_PARAMS, "a kernel of %s with too many operands", k->ops.title[0]);
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

/* Visits loads before stores, so that a kernel's operands precede its results. */
static void collect_params(Arena *arena, Kernel *k, Launch *launch) {
    const Body *body = k->body;
    int *param = arena_array(arena, (size_t)body->count, sizeof *param);
    for (int i = 0; i < body->count; i++)
        param[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < body->count; i++) {
            const Step *s = &body->steps[i];
            if (!s->value || (pass == 0) != (s->kind == STEP_LOAD) || s->kind == STEP_ROUND ||
                s->unstored)
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
    ENSURE(k->scalar_count < MAX_SCALARS, "a kernel of %s with too many scalars", k->ops.title[0]);
    launch->scalar[k->scalar_count] = value;
    k->scalar[k->scalar_count++] = (KernelScalar){name, dtype};
}

bool kernel_takes_rows(const Kernel *k) {
    bool block_per_row = k->skeleton == SKELETON_BLOCK_ROW || k->skeleton == SKELETON_STREAM_ROW;
    return !k->rows && (!block_per_row || k->workers);
}

int64_t launch_rows(const Kernel *k, const Launch *launch) {
    if (k->rows)
        return k->rows;
    return kernel_takes_rows(k) ? launch->scalar[0] : launch->grid[0];
}

int kernel_stream_scalar(const Kernel *k, int step) {
    int scalar = kernel_takes_rows(k);
    for (int i = 0; i < step; i++)
        scalar += k->body->steps[i].kind == STEP_UNIFORM;
    return scalar;
}

/* Dropout masks differ only in their stream. It is an argument, so that layers share a kernel. */
static void collect_scalars(Arena *arena, Kernel *k, Launch *launch) {
    if (kernel_takes_rows(k))
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
    bool grows = !k->rows && value_rows(v) == k->body->rows; /* rows are an argument */
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
    if (s->per)
        sb_printf(out, "n%lld/%lld", (long long)s->per, (long long)s->moves);
    if (s->operand)
        sb_put_int(out, s->operand, 't');
    if (s->unstored)
        sb_put_int(out, s->value->dtype, 'u');
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

/* Whether the value is all of a storage that spans all trained tensors. */
static bool is_whole_run(const Value *v) {
    return (v->role == ROLE_GRADIENT || v->role == ROLE_OPTIMIZER) && value_fills(v);
}

bool plan_rows_grow(Entry entry, const Op *const *ops, int count) {
    bool all = entry == ENTRY_COLLECT || entry == ENTRY_UPDATE;
    for (int i = 0; i < count; i++) {
        if (op_is(ops[i], TRAIT_UPDATES))
            return true;
        for (int k = 0; all && k < ops[i]->in_count; k++)
            if (is_whole_run(ops[i]->in[k]))
                return true;
    }
    return false;
}

void plan_body(Plan *plan, Entry entry, Body *body, const Op *const *ops, int op_count) {
    Arena *arena = plan->program->arena;
    body = body_upright(body);
    Kernel k = {.body = body,
                .real = plan->program->real,
                .ops = op_titles(arena, ops, op_count),
                .prefetches = plan->spec->compile.prefetch_rows,
                .shares_rows = plan->spec->compile.thread_rows,
                .pos = ops[0]->pos};
    Launch launch = {.kind = LAUNCH_KERNEL};
    skeleton_choose(plan->program, &k, plan_rows_grow(entry, ops, op_count));
    fuse_drop_spares(body, skeleton_slides(&k) - 1);
    kernel_operands(arena, &k, &launch);
    k.signature = body_signature(arena, &k);
    OpTitles titles = op_titles(arena, ops, op_count);
    if (body_has(body, step_totals)) /* a second pass, in which ops may continue from totals */
        titles.title[0] = "column_sum";
    k.name = body_kernel_name(arena, titles, &k);
    skeleton_grid(&k, body->rows, launch.grid);
    launch.index = plan_kernel(plan, k);
    plan_add_launch(plan, entry, launch, ops, op_count);
}
