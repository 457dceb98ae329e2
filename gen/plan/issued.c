/* Bytes that a launch asks of global memory, its FLOPs and its instructions.
 *
 * Bodies are counted from the same phases and skeletons that the printer follows, thread by thread,
 * so the bytes are exact. Only where a window reaches into padding are they an upper bound, since a
 * compiler may omit a load whose result is discarded. */
#include "plan/collectives.h"
#include "plan/phases.h"
#include "plan/skeleton.h"
#include "plan/work.h"

enum { CONDITION_AHEAD = 3 }; /* two comparisons and an index */

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef struct {
    const Kernel *kernel;
    const Body *body;
    Phases phases;
    double rows, cols;
    double row_threads; /* threads that run the steps outside the visits of columns */
} Count;

static Count count_new(Arena *arena, const Kernel *k, const Launch *launch) {
    Count c = {k,
               k->body,
               phases_of(arena, k->body),
               (double)launch_rows(k, launch),
               (double)k->body->cols,
               0};
    if (k->skeleton == SKELETON_FLAT)
        c.row_threads = c.rows * c.cols / k->vector;
    else
        c.row_threads = c.rows * k->lanes * k->column_blocks / skeleton_slides(k);
    return c;
}

static int visits_with(const Count *c, int step) {
    int visits = 0;
    for (int phase = 0; phase < c->phases.count; phase++)
        visits += phase_needs(&c->phases, phase, step);
    return visits;
}

/* For a load that a thread issues for each of its rows. */
static double times_loaded_in_rows(const Count *c, int i) {
    const Kernel *k = c->kernel;
    if (!step_per_column(c->body, i))
        return c->row_threads;
    if (step_shares(&c->body->steps[i]) && step_is_vector(k, i))
        return c->rows * c->cols * step_width(k, i) / k->vector;
    if (step_slides(k, i))
        return c->rows * c->cols / skeleton_slides(k);
    bool in_registers = c->phases.kept[i] && k->skeleton != SKELETON_STREAM_ROW;
    return c->rows * c->cols * (in_registers ? 1 : visits_with(c, i));
}

static double times_loaded(const Count *c, int i) {
    const Kernel *k = c->kernel;
    if (!step_before_rows(k, i))
        return times_loaded_in_rows(c, i);
    if (k->skeleton == SKELETON_FLAT)
        return times_loaded_in_rows(c, i) / k->thread_rows;
    double all = (double)k->lanes * k->column_blocks;
    return (double)k->workers * k->parts * (step_per_column(c->body, i) ? c->cols : all);
}

static double times_stored(const Count *c, int i) {
    Level level = step_level(c->body, i);
    bool per_column = level == LEVEL_ELEMENT || level == LEVEL_COL;
    if (c->body->steps[i].kind == STEP_COL_SUM)
        return (double)c->kernel->workers * c->cols;
    double cols = c->cols * step_width(c->kernel, i) / c->kernel->vector;
    return per_column ? c->rows * cols : level == LEVEL_ROW ? c->rows : 1;
}

/* COLUMN: all threads together read each worker's sums once; then one thread per column stores. */
static double column_bytes(const Count *c) {
    double bytes = 0;
    for (int i = 0; i < c->body->count; i++) {
        const Step *s = &c->body->steps[i];
        if (s->kind == STEP_LOAD)
            bytes += c->cols * (s->level == LEVEL_ELEMENT ? c->rows : 1) * dtype_bytes(s->value->dtype);
        else if (s->kind == STEP_STORE)
            bytes += (step_per_column(c->body, i) ? c->cols : 1) * dtype_bytes(s->value->dtype);
    }
    return bytes;
}

static double body_bytes(const Count *c) {
    double bytes = 0;
    if (c->kernel->skeleton == SKELETON_COLUMN)
        return column_bytes(c);
    for (int i = 0; i < c->body->count; i++) {
        const Step *s = &c->body->steps[i];
        if (s->kind == STEP_LOAD)
            bytes += times_loaded(c, i) * dtype_bytes(s->value->dtype);
        else if (step_writes(s->kind) && !s->unstored)
            bytes += times_stored(c, i) * dtype_bytes(s->value->dtype);
    }
    return bytes;
}

/* FLOPs of one execution of a step; index arithmetic does not count. */
static double step_flops(const Step *s) {
    bool moves = s->kind == STEP_CONST || s->kind == STEP_LOAD || s->kind == STEP_STORE ||
                 s->kind == STEP_CAST || s->kind == STEP_ROUND || s->kind == STEP_SELECT ||
                 s->kind == STEP_RESULT;
    if (moves || s->type != TYPE_REAL)
        return 0;
    /* Per element of a ROW_LSE: a difference, its exponential, a product and a sum. */
    return s->kind == STEP_ROW_LSE ? 4 : s->kind == STEP_FMA ? 2 : 1;
}

/* How often a step other than a load or store runs; ROW steps run in each thread of a row. */
static double times_done(const Count *c, int i) {
    StepKind kind = c->body->steps[i].kind;
    if (step_reduces(kind) || kind == STEP_COL_SUM)
        return c->rows * c->cols;
    if (c->kernel->skeleton == SKELETON_COLUMN)
        return c->cols;
    if (step_per_column(c->body, i))
        return c->rows * c->cols * visits_with(c, i);
    return c->row_threads;
}

static double body_flops(const Count *c) {
    double flops = 0;
    for (int i = 0; i < c->body->count; i++)
        flops += times_done(c, i) * step_flops(&c->body->steps[i]);
    return flops;
}

/* Whether ptxas computes the step once for the rows of a FLAT kernel's thread. */
static bool is_same_in_rows(const Step *s) {
    return s->level == LEVEL_SCALAR || s->level == LEVEL_COL;
}

static double times_issued(const Count *c, int i) {
    StepKind kind = c->body->steps[i].kind;
    if (kind == STEP_LOAD && c->kernel->skeleton != SKELETON_COLUMN)
        return times_loaded(c, i);
    if (kind == STEP_STORE)
        return times_stored(c, i);
    bool shared = c->kernel->skeleton == SKELETON_FLAT && is_same_in_rows(&c->body->steps[i]);
    return shared ? times_done(c, i) / c->kernel->thread_rows : times_done(c, i);
}

static double width_of(const Kernel *k, int i) {
    if (k->body->steps[i].kind == STEP_UNIFORM)
        return step_draws(k, i);
    if (step_reduces_vector(k, i))
        return k->vector;
    return k->body->steps[i].value && step_is_vector(k, i) ? step_width(k, i) : 1;
}

static double body_instructions(const Count *c) {
    double count = 0;
    for (int i = 0; i < c->body->count; i++) {
        double width = width_of(c->kernel, i);
        count += times_issued(c, i) * step_instructions(c->body, i, c->kernel->real, width);
    }
    return count;
}

/* Those that ask for what later rows load: they add constants to addresses that the loads have. */
static double ahead_instructions(const Count *c) {
    const Kernel *k = c->kernel;
    double count = 0;
    for (int i = 0; i < c->body->count; i++)
        if (step_is_ahead(k, i))
            count += c->rows * c->cols / k->vector;
    return count > 0 ? count + CONDITION_AHEAD * c->row_threads : 0;
}

Cost body_cost(Arena *arena, const Kernel *k, const Launch *launch) {
    Count c = count_new(arena, k, launch);
    double slices = 1 + launch->joined_count;
    return (Cost){.issued_bytes = slices * body_bytes(&c),
                  .flops = slices * body_flops(&c),
                  .instructions = slices * (body_instructions(&c) + ahead_instructions(&c))};
}

static double body_reread_bytes(const Count *c) {
    double bytes = 0;
    for (int i = 0; i < c->body->count; i++) {
        const Step *s = &c->body->steps[i];
        if (c->phases.kept[i] && s->level == LEVEL_ELEMENT)
            bytes += (visits_with(c, i) - 1) * c->rows * c->cols * dtype_bytes(s->value->dtype);
    }
    return bytes;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* An operand that all products of a batch share counts once. */
static double gemm_bytes(const Gemm *g) {
    double m = (double)g->m, n = (double)g->n, k = (double)g->k, count = (double)g->batch_count;
    return m * k * dtype_bytes(g->a) * (g->stride_a ? count : 1) +
           k * n * dtype_bytes(g->b) * (g->stride_b ? count : 1) +
           m * n * dtype_bytes(g->c) * (g->beta != 0 ? 2 : 1) * count +
           (g->bias ? n * dtype_bytes(g->c) : 0);
}

static double moved_bytes(const Plan *plan, const Launch *launch) {
    if (launch->kind == LAUNCH_COLLECTIVE)
        return 2 * collective_bytes(plan, launch);
    double bytes = (double)value_bytes(launch->arg[0]);
    return launch->kind == LAUNCH_PEER_COPY ? 2 * bytes : bytes;
}

Cost launch_work(const Plan *plan, const Launch *launch) {
    if (launch->kind == LAUNCH_GEMM) {
        const Gemm *g = &plan->gemms[launch->index];
        double products = (double)g->batch_count;
        return (Cost){.issued_bytes = gemm_bytes(g),
                      .flops = 2.0 * products * (double)g->m * (double)g->n * (double)g->k};
    }
    if (launch->kind != LAUNCH_KERNEL)
        return (Cost){.issued_bytes = moved_bytes(plan, launch)};
    const Kernel *k = &plan->kernels[launch->index];
    if (k->template_name) /* set by fill_cost */
        return (Cost){.issued_bytes = launch->cost.issued_bytes, .flops = launch->cost.flops};
    Arena scratch = {0};
    Cost cost = body_cost(&scratch, k, launch);
    arena_free(&scratch);
    return cost;
}

double launch_reread_bytes(const Plan *plan, const Launch *launch) {
    const Kernel *k = launch->kind == LAUNCH_KERNEL ? &plan->kernels[launch->index] : NULL;
    if (!k || k->template_name || k->skeleton != SKELETON_STREAM_ROW)
        return 0;
    Arena scratch = {0};
    Count c = count_new(&scratch, k, launch);
    double bytes = body_reread_bytes(&c);
    arena_free(&scratch);
    return bytes;
}
