/* What a launch asks of global memory, and its arithmetic.
 *
 * Bodies are counted from the same phases and skeletons that the printer follows, thread by thread, so
 * the bytes are exact. Templates follow the formulas of their head comments for whole, unpacked
 * sequences; there packed data makes it less. */
#include <stdlib.h>
#include <string.h>

#include "plan/kernels.h"
#include "plan/phases.h"
#include "plan/skeleton.h"

static double size_of(const Value *v) { return dtype_bytes(v->dtype); }
static double ceil_div(double a, double b) { return (double)(((int64_t)a + (int64_t)b - 1) / (int64_t)b); }
static double least(double a, double b) { return a < b ? a : b; }

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef struct {
    const Kernel *kernel;
    const Body *body;
    Phases phases;
    double rows, cols;
    double row_threads; /* threads that run what stands outside the visits of the columns */
} Count;

static int64_t launch_rows(const Kernel *k, const Launch *launch) { return k->rows ? k->rows : launch->scalar[0]; }

static Count count_new(const Plan *plan, const Launch *launch) {
    const Kernel *k = &plan->kernels[launch->index];
    Count c = {k, k->body, phases_of(plan->program->arena, k->body), (double)launch_rows(k, launch),
               (double)k->body->cols, 0};
    if (k->skeleton == SKELETON_FLAT) c.row_threads = c.rows * c.cols / k->vector;
    else c.row_threads = c.rows * skeleton_lanes(k);
    return c;
}

static int visits_with(const Count *c, int step) {
    int visits = 0;
    for (int phase = 0; phase < c->phases.count; phase++) visits += phase_needs(&c->phases, phase, step);
    return visits;
}

static double times_loaded(const Count *c, int i) {
    double workers = (double)c->kernel->workers;
    if (step_before_rows(c->kernel, i))
        return workers * (step_per_column(c->body, i) ? c->cols : skeleton_lanes(c->kernel));
    if (!step_per_column(c->body, i)) return c->row_threads;
    bool in_registers = c->phases.kept[i] && c->kernel->skeleton != SKELETON_STREAM_ROW;
    return c->rows * c->cols * (in_registers ? 1 : visits_with(c, i));
}

static double times_stored(const Count *c, int i) {
    Level level = step_level(c->body, i);
    bool per_column = level == LEVEL_ELEMENT || level == LEVEL_COL;
    if (c->body->steps[i].kind == STEP_COL_SUM) return (double)c->kernel->workers * (per_column ? c->cols : 1);
    return per_column ? c->rows * c->cols : level == LEVEL_ROW ? c->rows : 1;
}

static double body_bytes(const Count *c) {
    double bytes = 0;
    if (c->kernel->skeleton == SKELETON_COLUMN)
        return c->cols * (c->rows * size_of(c->body->steps[0].value) + size_of(c->body->steps[1].value));
    for (int i = 0; i < c->body->count; i++) {
        const Step *s = &c->body->steps[i];
        if (s->kind == STEP_LOAD) bytes += times_loaded(c, i) * size_of(s->value);
        else if (step_writes(s->kind)) bytes += times_stored(c, i) * size_of(s->value);
    }
    return bytes;
}

static bool is_arithmetic(StepKind kind) {
    return kind != STEP_CONST && kind != STEP_ROW && kind != STEP_COL && kind != STEP_LOAD && kind != STEP_STORE &&
           kind != STEP_CAST && kind != STEP_ROUND;
}

static double body_flops(const Count *c) {
    double flops = 0;
    if (c->kernel->skeleton == SKELETON_COLUMN) return c->rows * c->cols;
    for (int i = 0; i < c->body->count; i++) {
        StepKind kind = c->body->steps[i].kind;
        if (!is_arithmetic(kind)) continue;
        if (step_reduces(kind) || (kind == STEP_COL_SUM && step_per_column(c->body, i))) flops += c->rows * c->cols;
        else if (step_per_column(c->body, i)) flops += c->rows * c->cols * visits_with(c, i);
        else flops += c->row_threads;
    }
    return flops;
}

/* ---- templates ------------------------------------------------------------------------------- */

static double hole(const Kernel *k, const char *name) {
    for (int i = 0; i < k->hole_count; i++)
        if (!strcmp(k->holes[i].hole, name)) return (double)strtoll(k->holes[i].value, NULL, 10);
    internal_fault(__FILE__, __LINE__, "kernel %s has no %s", k->name, name);
}

typedef struct {
    double seq, rows, keys, heads, kv_heads, head_dim, batch, threads, parts, element, acc;
} Attention;

static Attention attention_of(const Kernel *k, const Launch *launch) {
    bool fma = !strcmp(k->template_name, "attention_fma.cu");
    double rows = fma ? hole(k, "rows") : 16 * hole(k, "row_tiles") * hole(k, "warps");
    Attention a = {hole(k, "seq"), rows, hole(k, "keys"), hole(k, "heads"), hole(k, "kv_heads"),
                   hole(k, "head_dim"), (double)launch->grid[2], k->threads, 1, size_of(launch->arg[0]),
                   dtype_bytes(k->real)};
    a.parts = a.threads / a.rows;
    return a;
}

/* Places that the tiles of all row blocks visit, at or before a block's last row. */
static double visited_before(const Attention *a) {
    double places = 0;
    for (double first = 0; first < a->seq; first += a->rows)
        places += least(ceil_div(least(first + a->rows, a->seq), a->keys) * a->keys, a->seq);
    return places;
}

/* The same for the places at or after a block's first row. */
static double visited_after(const Attention *a) {
    double places = 0;
    for (double first = 0; first < a->seq; first += a->rows)
        places += a->seq - (double)((int64_t)first / (int64_t)a->keys * (int64_t)a->keys);
    return places;
}

static double pairs(const Attention *a) { return a->batch * a->heads * a->seq * (a->seq + 1) / 2; }

static double forward_bytes(const Attention *a, bool backward) {
    double row = a->head_dim * a->element, blocks = ceil_div(a->seq, a->rows);
    double positions = (a->seq * a->parts + blocks * a->threads) * 4;
    double once = backward ? a->seq * (4 * row + a->parts * a->acc + a->acc) : a->seq * (2 * row + a->acc);
    return a->batch * a->heads * (positions + once + (backward ? 3 : 2) * visited_before(a) * row);
}

static double backward_kv_bytes(const Attention *a) {
    double row = a->head_dim * a->element, blocks = ceil_div(a->seq, a->rows), tiles = 0;
    for (double block = 0; block < blocks; block++)
        tiles += ceil_div(a->seq, a->keys) - (double)((int64_t)(block * a->rows) / (int64_t)a->keys);
    double once = a->batch * a->kv_heads * a->seq * 4 * row;
    double each_head = tiles * a->threads * 4 + visited_after(a) * (4 * row + 2 * a->acc + 4);
    return once + a->batch * a->heads * each_head;
}

/* On tensor cores a block's warps own the rows; K and V come in tiles that the block shares. A warp looks
 * its rows' positions up for every tile that its diagonal or the end of the sequence cuts. */
static double tensor_positions_read(const Attention *a, double first, double last) {
    double warps = a->threads / 32, warp_rows = a->rows / warps, reads = a->threads;
    for (double w = 0; w < warps; w++) {
        double row = first + w * warp_rows, row_end = row + warp_rows;
        double inside = row < a->seq ? least(row_end, a->seq) - row : 0;
        reads += 32 * ((row < a->seq) + (row_end <= a->seq));
        for (double base = 0; base <= last && base < row_end; base += a->keys)
            if (row_end > a->seq || base + a->keys - 1 > row) reads += 4 * inside;
    }
    return 4 * reads;
}

static double tensor_forward_bytes(const Attention *a, bool backward) {
    double row = a->head_dim * a->element, bytes = 0;
    for (double first = 0; first < a->seq; first += a->rows) {
        double end = least(first + a->rows, a->seq);
        bytes += tensor_positions_read(a, first, end - 1);
        bytes += (end - first) * (backward ? 5 * row + 5 * 4 : 2 * row + 4);
        bytes += 2 * row * least(ceil_div(end, a->keys) * a->keys, a->seq);
    }
    return a->batch * a->heads * bytes;
}

static double tensor_backward_kv_bytes(const Attention *a) {
    double row = a->head_dim * a->element, split = a->head_dim > 128 ? 2 : 1, once = 0, each_head = 0;
    for (double first = 0; first < a->seq; first += a->rows) {
        double begin = (double)((int64_t)first / (int64_t)a->keys * (int64_t)a->keys), seen = a->seq - begin;
        once += split * ceil_div(seen, a->keys) * a->threads * 4;
        once += (least(first + a->rows, a->seq) - first) * (2 * split + 2) * row;
        each_head += split * seen * (2 * row + 3 * 4);
    }
    return a->batch * (a->kv_heads * once + a->heads * each_head);
}

/* At most: every place sums alone and reads every id. */
static double embedding_grad_bytes(const Kernel *k, const Launch *launch) {
    double tokens = hole(k, "tokens"), hidden = hole(k, "hidden"), blocks = tokens * (double)launch->grid[1];
    double rows = tokens * hidden * (size_of(launch->arg[0]) + 2 * size_of(launch->arg[2]));
    return rows + blocks * (k->threads + 2 * tokens) * 4;
}

static double template_bytes(const Kernel *k, const Launch *launch) {
    if (!strcmp(k->template_kernel, "embedding_grad")) return embedding_grad_bytes(k, launch);
    Attention a = attention_of(k, launch);
    bool tensor = !strcmp(k->template_name, "attention_mma.cu");
    if (!strcmp(k->template_kernel, "backward_kv"))
        return tensor ? tensor_backward_kv_bytes(&a) : backward_kv_bytes(&a);
    if (tensor) return tensor_forward_bytes(&a, !strcmp(k->template_kernel, "backward_q"));
    return forward_bytes(&a, !strcmp(k->template_kernel, "backward_q"));
}

static double template_flops(const Kernel *k, const Launch *launch) {
    if (!strcmp(k->template_kernel, "embedding_grad")) return hole(k, "tokens") * hole(k, "hidden");
    Attention a = attention_of(k, launch);
    double products = !strcmp(k->template_kernel, "forward") ? 2 : !strcmp(k->template_kernel, "backward_q") ? 3 : 4;
    return 2 * products * a.head_dim * pairs(&a);
}

/* ---- launches -------------------------------------------------------------------------------- */

static double gemm_bytes(const Gemm *g) {
    double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    return m * k * dtype_bytes(g->a) + k * n * dtype_bytes(g->b) + m * n * dtype_bytes(g->c) * (g->beta != 0 ? 2 : 1);
}

double launch_issued_bytes(const Plan *plan, const Launch *launch) {
    if (launch->kind == LAUNCH_GEMM) return gemm_bytes(&plan->gemms[launch->index]);
    if (launch->kind == LAUNCH_ZERO) return (double)value_bytes(launch->arg[0]);
    if (launch->kind == LAUNCH_COPY) return 2 * (double)value_bytes(launch->arg[0]);
    const Kernel *k = &plan->kernels[launch->index];
    if (k->template_name) return template_bytes(k, launch);
    Count count = count_new(plan, launch);
    return body_bytes(&count);
}

double launch_flops(const Plan *plan, const Launch *launch) {
    if (launch->kind == LAUNCH_GEMM) {
        const Gemm *g = &plan->gemms[launch->index];
        return 2.0 * (double)g->m * (double)g->n * (double)g->k;
    }
    if (launch->kind != LAUNCH_KERNEL) return 0;
    const Kernel *k = &plan->kernels[launch->index];
    if (k->template_name) return template_flops(k, launch);
    Count count = count_new(plan, launch);
    return body_flops(&count);
}
