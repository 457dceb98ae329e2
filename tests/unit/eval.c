#include "eval.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_table.h"
#include "graph/window.h"
#include "plan/kernels.h"
#include "plan/phases.h"
#include "plan/skeleton.h"

/* ---- memory ---------------------------------------------------------------------------------- */

Memory memory_new(const Program *p) {
    Memory m = {p->storage_count, calloc((size_t)p->storage_count, sizeof(unsigned char *))};
    for (int i = 0; i < m.count; i++) {
        m.bytes[i] = malloc((size_t)p->storages[i]->bytes);
        memset(m.bytes[i], 0xFF, (size_t)p->storages[i]->bytes);
    }
    return m;
}

void memory_free(Memory *m) {
    for (int i = 0; i < m->count; i++) free(m->bytes[i]);
    free(m->bytes);
}

static float bf16_to_float(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

/* Rounds to nearest even directly from double, because rounding twice could differ. */
static uint16_t to_bf16(double x) {
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (isnan(x)) return 0x7fff;
    /* Odd where the float was inexact, so that a tie below is only a tie of the double. */
    if ((double)f != x) {
        if (fabs((double)f) > fabs(x)) bits--;
        bits |= 1;
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static unsigned char *element_at(const Memory *m, const Value *v, int64_t element) {
    int64_t size = dtype_bytes(v->dtype), byte = (v->offset + element) * size;
    ENSURE(byte >= 0 && byte + size <= v->storage->bytes, "%s[%lld] is outside", v->name,
           (long long)element);
    return m->bytes[v->storage->id] + byte;
}

__extension__ typedef _Float16 Half;

int64_t value_index(const Value *v, int64_t row, int64_t col) {
    if (!v->plane) return row * v->row_stride + col;
    return (row / v->plane * value_cols(v) + col) * v->plane + row % v->plane;
}

double memory_get(const Memory *m, const Value *v, int64_t element) {
    const void *at = element_at(m, v, element);
    switch (v->dtype) {
    case DT_F64: return *(const double *)at;
    case DT_F32: return *(const float *)at;
    case DT_F16: return (double)*(const Half *)at;
    case DT_BF16: return bf16_to_float(*(const uint16_t *)at);
    case DT_I64: return (double)*(const int64_t *)at;
    case DT_I32: return *(const int32_t *)at;
    case DT_U8: return *(const uint8_t *)at;
    case DT_I8: return *(const int8_t *)at;
    default: internal_fault(__FILE__, __LINE__, "no test needs this dtype");
    }
}

void memory_set(Memory *m, const Value *v, int64_t element, double x) {
    void *at = element_at(m, v, element);
    switch (v->dtype) {
    case DT_F64: *(double *)at = x; break;
    case DT_F32: *(float *)at = (float)x; break;
    case DT_F16: *(Half *)at = (Half)x; break;
    case DT_BF16: *(uint16_t *)at = to_bf16(x); break;
    case DT_I64: *(int64_t *)at = (int64_t)x; break;
    case DT_I32: *(int32_t *)at = (int32_t)x; break;
    case DT_U8: *(uint8_t *)at = (uint8_t)x; break;
    case DT_I8: *(int8_t *)at = (int8_t)x; break;
    default: internal_fault(__FILE__, __LINE__, "no test needs this dtype");
    }
}

/* ---- scalar steps ---------------------------------------------------------------------------- */

enum { MOST_STEPS = 1024, MOST_LANES = 1024, MOST_SLOTS = 24 };

/* A sum; or the largest number so far, and the sum of exponentials relative to it. */
typedef struct {
    double value, exps;
} Partial;

typedef struct {
    Memory *memory;
    const Plan *plan;
    const Launch *launch;
    const Kernel *kernel;
    const Body *body;
    Phases phases;
    bool wide; /* real is double */
    int64_t rows, row, col;
    int computed[MOST_STEPS], ending[MOST_STEPS]; /* steps of the phase, see list_steps */
    int computed_count, ending_count;
    int slot[MOST_STEPS]; /* of a reduction of the phase: index in `lanes` */
    double number[MOST_STEPS];         /* each step's value at this row and column */
    Partial lanes[MOST_SLOTS][MOST_LANES]; /* of the current reductions */
    double exponents[MOST_SLOTS][8];       /* of the current vector */
    double *totals[MOST_STEPS];        /* sums over rows, by column, of this worker */
} Eval;

static double real(const Eval *e, double x) { return e->wide ? x : (double)(float)x; }

static const Value *operand(const Eval *e, int step) { return e->launch->arg[e->kernel->param_of_step[step]]; }

static int64_t mapped_column(const Eval *e, const Step *s) {
    if (s->col_map == COL_MODULO) return e->col % s->period;
    if (s->col_map == COL_SAME) return e->col;
    if (s->col_map == COL_AT) return s->period;
    if (s->col_map == COL_DIVIDE || s->col_map == COL_PACKED) return e->col / s->period;
    int64_t half = s->period / 2;
    if (s->col_map == COL_FIRST_HALF) return e->col / half * s->period + e->col % half;
    if (s->col_map == COL_SECOND_HALF) return e->col / half * s->period + e->col % half + half;
    return e->col % s->period < half ? e->col + half : e->col - half;
}

static int64_t element_of(const Eval *e, int step) {
    const Step *s = &e->body->steps[step];
    const Value *v = operand(e, step);
    int64_t row = value_rows(v) > 1 ? e->row : 0, place = e->row * e->body->cols + e->col;
    if (s->col_map == COL_RESHAPED) return value_index(v, place / value_cols(v), place % value_cols(v));
    if (s->row_index >= 0) row = (int64_t)e->number[s->row_index];
    else if (value_lies_flat(e->body, v)) return e->col * v->row_stride;
    return row * v->row_stride + (value_cols(v) > 1 ? mapped_column(e, s) : 0);
}

/* Philox4x32-10 of Salmon et al., implemented again, since this file shares no code with the
 * kernels. */
static double uniform(uint64_t seed, uint32_t step, uint32_t stream, uint64_t index) {
    uint32_t c[4] = {(uint32_t)(index / 4), (uint32_t)(index / 4 >> 32), step, stream};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        memcpy(c, next, sizeof c);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (double)((float)((c[index % 4] >> 8) + 1) * 0x1p-24f);
}

/* Returns the nearest of all 8-bit floats; of two equally near, the one with the even code. */
static double to_float8(double x) {
    double size = fabs(x), nearest = 0;
    for (int code = 1; code < 127; code++) {
        double y = code < 8 ? ldexp(code, -9) : ldexp(8 + code % 8, code / 8 - 10);
        double gain = fabs(size - nearest) - fabs(size - y);
        if (gain > 0 || (gain == 0 && code % 2 == 0)) nearest = y;
    }
    return isnan(x) ? x : copysign(nearest, x);
}

static double rounded(DType dtype, double x) {
    if (dtype == DT_F8_E4M3) return to_float8(x);
    if (dtype == DT_F32) return (float)x;
    return dtype == DT_BF16 ? bf16_to_float(to_bf16(x)) : x;
}

static double apply_wide(StepKind kind, double a, double b) {
    switch (kind) {
    case STEP_ADD: return a + b;
    case STEP_SUB: return a - b;
    case STEP_MUL: return a * b;
    case STEP_DIV: return a / b;
    case STEP_MIN: return fmin(a, b);
    case STEP_MAX: return fmax(a, b);
    case STEP_POW: return pow(a, b);
    case STEP_NEG: return -a;
    case STEP_EXP: return exp(a);
    case STEP_LOG: return log(a);
    case STEP_SQRT: return sqrt(a);
    case STEP_RSQRT: return 1.0 / sqrt(a);
    case STEP_SIGMOID: return 1.0 / (1.0 + exp(-a));
    case STEP_RINT: return rint(a);
    case STEP_SIN: return sin(a);
    case STEP_COS: return cos(a);
    default: internal_fault(__FILE__, __LINE__, "no arithmetic");
    }
}

static float apply_narrow(StepKind kind, float a, float b) {
    switch (kind) {
    case STEP_ADD: return a + b;
    case STEP_SUB: return a - b;
    case STEP_MUL: return a * b;
    case STEP_DIV: return a / b;
    case STEP_MIN: return fminf(a, b);
    case STEP_MAX: return fmaxf(a, b);
    case STEP_POW: return powf(a, b);
    case STEP_NEG: return -a;
    case STEP_EXP: return expf(a);
    case STEP_LOG: return logf(a);
    case STEP_SQRT: return sqrtf(a);
    case STEP_RSQRT: return 1.0f / sqrtf(a);
    case STEP_SIGMOID: return 1.0f / (1.0f + expf(-a));
    case STEP_RINT: return rintf(a);
    case STEP_SIN: return sinf(a);
    case STEP_COS: return cosf(a);
    default: internal_fault(__FILE__, __LINE__, "no arithmetic");
    }
}

static double apply(const Eval *e, const Step *s, double a, double b) {
    if (s->type == TYPE_REAL) return e->wide ? apply_wide(s->kind, a, b) : (double)apply_narrow(s->kind, (float)a, (float)b);
    if (s->kind == STEP_DIV) return (double)((int64_t)a / (int64_t)b);
    return apply_wide(s->kind, a, b);
}

static double argument(const Eval *e, const Step *s, int i) { return s->arg[i] < 0 ? 0 : e->number[s->arg[i]]; }

/* Returns the place on an axis of tap number `tap` of the window over place i or, for backward, the
 * window that read it there; -1 if there is none. */
static int64_t tap_source(const Window *w, bool backward, int64_t size, int64_t i, int64_t tap) {
    int64_t at = backward ? i + w->padding - tap : i * w->stride - w->padding + tap;
    if (at < 0 || (backward && at % w->stride)) return -1;
    at = backward ? at / w->stride : at;
    return at < size ? at : -1;
}

static double added_product(const Eval *e, double a, double b, double sum) {
    return e->wide ? fma(a, b, sum) : (double)fmaf((float)a, (float)b, (float)sum);
}

/* Returns an element of the result: taps in order, channels (filters) innermost, products added one
 * by one. */
static double convolved(const Eval *e, int64_t row, int64_t col) {
    const Op *op = e->launch->ops[0];
    const Window *w = &op->attr.window;
    const Value *source = op->in[0], *weight = op->in[1];
    bool backward = op->kind == OP_conv2d_input_grad;
    int64_t high = backward ? w->height : window_out_height(w), wide = backward ? w->width : window_out_width(w);
    int64_t from_high = backward ? window_out_height(w) : w->height, from_wide = backward ? window_out_width(w) : w->width;
    double sum = 0;
    for (int64_t tap = 0; tap < w->kernel * w->kernel; tap++) {
        int64_t y = tap_source(w, backward, from_high, row / wide % high, tap / w->kernel);
        int64_t x = tap_source(w, backward, from_wide, row % wide, tap % w->kernel);
        int64_t from = (row / wide / high * from_high + y) * from_wide + x;
        for (int64_t i = 0; y >= 0 && x >= 0 && i < value_cols(source); i++) {
            int64_t filter = backward ? i : col, channel = backward ? col : i;
            double a = memory_get(e->memory, source, from * source->row_stride + i);
            double b = memory_get(e->memory, weight, (filter * w->kernel * w->kernel + tap) * value_cols(weight) + channel);
            sum = added_product(e, a, b, sum);
        }
    }
    return sum;
}

/* For a body over windows: returns the k-th row of the result under window `row`. */
static int64_t row_under(const Eval *e, int k) {
    const Window *w = NULL;
    for (int i = 0; i < e->launch->op_count; i++)
        if (op_is(e->launch->ops[i], TRAIT_WINDOWS)) w = &e->launch->ops[i]->attr.window;
    ENSURE(w, "a window that no op of %s has", e->kernel->name);
    int64_t high = window_out_height(w), wide = window_out_width(w);
    int64_t y = e->row / wide % high * w->stride + k / w->kernel, x = e->row % wide * w->stride + k % w->kernel;
    return (e->row / wide / high * w->height + y) * w->width + x;
}

/* Where the column's number is in its byte, and the largest number there. */
static int shift_of(const Eval *e, const Step *s) { return (int)(e->col % s->period * (8 / s->period)); }
static int most_of(const Step *s) { return (1 << (8 / s->period)) - 1; }

static double computed(const Eval *e, int step) {
    const Step *s = &e->body->steps[step];
    double a = argument(e, s, 0), b = argument(e, s, 1);
    switch (s->kind) {
    case STEP_LOAD:
        if (s->arg[0] >= 0 && a == 0) return 0;
        a = memory_get(e->memory, operand(e, step), element_of(e, step));
        return s->col_map == COL_PACKED ? (double)((int)a >> shift_of(e, s) & most_of(s)) : a;
    case STEP_CONST: return s->type == TYPE_REAL ? real(e, s->constant) : s->constant;
    case STEP_ROW: return (double)e->row;
    case STEP_COL: return (double)e->col;
    case STEP_MOD: return (double)((int64_t)a % (int64_t)b);
    case STEP_LT: return a < b;
    case STEP_EQ: return a == b;
    case STEP_GE: return a >= b;
    case STEP_AND: return a != 0 && b != 0;
    case STEP_FMA: return added_product(e, a, b, argument(e, s, 2));
    case STEP_RESULT:
        return convolved(e, s->period ? row_under(e, (int)s->constant) : e->row, e->body->cols > 1 ? e->col : 0);
    case STEP_FINITE: return isfinite(a);
    case STEP_SELECT: return a != 0 ? b : argument(e, s, 2);
    case STEP_CAST: return s->type == TYPE_REAL ? real(e, a) : trunc(a);
    case STEP_ROUND: return rounded(s->dtype, a);
    case STEP_UNIFORM:
        return uniform((uint64_t)(int64_t)a, (uint32_t)(int32_t)b,
                       (uint32_t)e->launch->scalar[kernel_stream_scalar(e->kernel, step)],
                       (uint64_t)(int64_t)argument(e, s, 2));
    default: return apply(e, s, a, b);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int lane_of(const Eval *e) { return (int)(e->col / e->kernel->vector % e->kernel->lanes); }

static double add(const Eval *e, double a, double b) { return e->wide ? a + b : (double)((float)a + (float)b); }

/* Returns the sum after the step has added to it. */
static double summed(const Eval *e, const Step *s, double sum) {
    const Step *a = &e->body->steps[s->arg[0]];
    if (s->of_product) return added_product(e, e->number[a->arg[0]], e->number[a->arg[1]], sum);
    return add(e, sum, e->number[s->arg[0]]);
}

static double exp_of(const Eval *e, double x) { return apply(e, &(Step){.kind = STEP_EXP}, real(e, x), 0); }

/* As kernel.cuh's SumOfExps::add of one number, and of a vector. */
static Partial with_exp(const Eval *e, Partial sum, double x) {
    double rise = real(e, x - sum.value), share = exp_of(e, rise > 0 ? -rise : rise);
    if (rise > 0) return (Partial){fmax(sum.value, x), add(e, real(e, sum.exps * share), 1)};
    return (Partial){fmax(sum.value, x), add(e, sum.exps, share)};
}

static Partial with_exps(const Eval *e, Partial sum, const double *x, int count) {
    Partial next = sum;
    for (int i = 0; i < count; i++) next.value = fmax(next.value, x[i]);
    next.exps = real(e, sum.exps * exp_of(e, sum.value - next.value));
    for (int i = 0; i < count; i++) next.exps = add(e, next.exps, exp_of(e, x[i] - next.value));
    return next;
}

static void clear_lanes(Eval *e, int step) {
    StepKind kind = e->body->steps[step].kind;
    double lowest = kind == STEP_ROW_SUM ? 0 : e->wide ? -DBL_MAX : (double)-FLT_MAX;
    for (int lane = 0; lane < e->kernel->lanes; lane++)
        e->lanes[e->slot[step]][lane] = (Partial){lowest, 0};
}

static void take(Eval *e, int step) {
    const Step *s = &e->body->steps[step];
    Partial *lane = &e->lanes[e->slot[step]][lane_of(e)];
    int vector = e->kernel->vector, at = (int)(e->col % vector);
    double *exponents = e->exponents[e->slot[step]], x = e->number[s->arg[0]];
    exponents[at] = x;
    if (s->kind == STEP_ROW_SUM) lane->value = summed(e, s, lane->value);
    else if (s->kind == STEP_ROW_MAX) lane->value = fmax(lane->value, x);
    else if (!step_reduces_vector(e->kernel, step)) *lane = with_exp(e, *lane, x);
    else if (at == vector - 1) *lane = with_exps(e, *lane, exponents, vector);
}

static double joined(const Eval *e, StepKind kind, double a, double b) {
    return kind == STEP_ROW_MAX ? fmax(a, b) : add(e, a, b);
}

/* Reduces by a butterfly in each warp, then over the warps in order. */
static double of_lanes(const Eval *e, StepKind kind, Partial *lane) {
    int lanes = e->kernel->lanes;
    for (int warp = 0; warp < lanes; warp += 32)
        for (int mask = 16; mask > 0; mask >>= 1) {
            double next[32];
            for (int l = 0; l < 32; l++) next[l] = joined(e, kind, lane[warp + l].value, lane[warp + (l ^ mask)].value);
            for (int l = 0; l < 32; l++) lane[warp + l].value = next[l];
        }
    double result = lane[0].value;
    for (int warp = 32; warp < lanes; warp += 32) result = joined(e, kind, result, lane[warp].value);
    return result;
}

/* The maximum of all, then the sum relative to it. */
static double lse_of_lanes(const Eval *e, Partial *lane) {
    Partial sums[MOST_LANES];
    memcpy(sums, lane, sizeof sums);
    double most = of_lanes(e, STEP_ROW_MAX, lane);
    for (int l = 0; l < e->kernel->lanes; l++)
        sums[l].value = real(e, sums[l].exps * exp_of(e, sums[l].value - most));
    return add(e, most, apply(e, &(Step){.kind = STEP_LOG}, of_lanes(e, STEP_ROW_SUM, sums), 0));
}

static double reduced(Eval *e, int step) {
    StepKind kind = e->body->steps[step].kind;
    Partial *lane = e->lanes[e->slot[step]];
    return kind == STEP_ROW_LSE ? lse_of_lanes(e, lane) : of_lanes(e, kind, lane);
}

static void store(Eval *e, int step) {
    const Step *s = &e->body->steps[step];
    double x = e->number[s->arg[0]];
    if (s->col_map == COL_PACKED) {
        int before = (int)memory_get(e->memory, operand(e, step), element_of(e, step));
        x = (before & ~(most_of(s) << shift_of(e, s))) | (int)x << shift_of(e, s);
    }
    memory_set(e->memory, operand(e, step), element_of(e, step), x);
}

static void add_to_total(Eval *e, int step) {
    double *total = &e->totals[step][e->col];
    *total = summed(e, &e->body->steps[step], *total);
}

static bool stored_here(const Eval *e, int step) {
    return step_level(e->body, step) != LEVEL_SCALAR || e->row == 0;
}

static void eval_row_scope(Eval *e, int phase) {
    for (int i = 0; i < e->body->count; i++) {
        StepKind kind = e->body->steps[i].kind;
        if (e->phases.at[i] != phase || step_per_column(e->body, i) || step_reduces(kind)) continue;
        if (kind != STEP_STORE) e->number[i] = computed(e, i);
        else if (stored_here(e, i)) store(e, i);
    }
}

/* Lists the steps that eval_column computes in a phase, and those that use the results; numbers the
 * reductions. */
static void list_steps(Eval *e, int phase) {
    int slots = 0;
    e->computed_count = e->ending_count = 0;
    for (int i = 0; i < e->body->count; i++) {
        StepKind kind = e->body->steps[i].kind;
        bool ends = step_reduces(kind) || kind == STEP_COL_SUM ||
                    (kind == STEP_STORE && step_per_column(e->body, i));
        if (phase_needs(&e->phases, phase, i)) e->computed[e->computed_count++] = i;
        if (e->phases.at[i] == phase && ends) e->ending[e->ending_count++] = i;
        if (e->phases.at[i] == phase && step_reduces(kind)) e->slot[i] = slots++;
    }
    ENSURE(slots <= MOST_SLOTS, "more reductions in a phase than the interpreter holds");
}

static void eval_column(Eval *e) {
    for (int i = 0; i < e->computed_count; i++) e->number[e->computed[i]] = computed(e, e->computed[i]);
    for (int i = 0; i < e->ending_count; i++) {
        StepKind kind = e->body->steps[e->ending[i]].kind;
        if (kind == STEP_STORE) store(e, e->ending[i]);
        else if (kind == STEP_COL_SUM) add_to_total(e, e->ending[i]);
        else take(e, e->ending[i]);
    }
}

static void eval_phase(Eval *e, int phase) {
    eval_row_scope(e, phase);
    list_steps(e, phase);
    for (int i = 0; i < e->body->count; i++)
        if (step_reduces(e->body->steps[i].kind) && e->phases.at[i] == phase) clear_lanes(e, i);
    for (e->col = 0; e->col < e->body->cols; e->col++) eval_column(e);
    for (int i = 0; i < e->body->count; i++)
        if (step_reduces(e->body->steps[i].kind) && e->phases.at[i] == phase) e->number[i] = reduced(e, i);
}

/* Of each `step` rows, the first `run`. */
static void eval_rows(Eval *e, int64_t first, int64_t end, int64_t step, int run) {
    for (int64_t begin = first; begin < end; begin += step)
        for (e->row = begin; e->row < begin + run && e->row < end; e->row++)
            for (int phase = 0; phase < e->phases.count; phase++) eval_phase(e, phase);
}

/* Part p of n sums the worker's runs of rows p, p + n, ...; the parts are added in order. */
static void eval_worker(Eval *e, int64_t worker, int64_t share) {
    int64_t cols = e->body->cols, end = (worker + 1) * share < e->rows ? (worker + 1) * share : e->rows;
    int run = skeleton_rows_in_turn(e->kernel);
    double *sums[MOST_STEPS] = {0};
    for (int part = 0; part < e->kernel->parts; part++) {
        for (int i = 0; i < e->body->count; i++)
            if (e->body->steps[i].kind == STEP_COL_SUM) e->totals[i] = calloc((size_t)cols, sizeof(double));
        eval_rows(e, worker * share + part * run, end, (int64_t)e->kernel->parts * run, run);
        for (int i = 0; i < e->body->count; i++) {
            for (int64_t c = 0; part > 0 && e->totals[i] && c < cols; c++) sums[i][c] = add(e, sums[i][c], e->totals[i][c]);
            if (part == 0) sums[i] = e->totals[i];
            else free(e->totals[i]);
            e->totals[i] = NULL;
        }
    }
    for (int i = 0; i < e->body->count; i++) {
        if (!sums[i]) continue;
        int64_t at = worker * operand(e, i)->row_stride + (int64_t)e->body->steps[i].constant * cols;
        for (int64_t c = 0; c < cols; c++) memory_set(e->memory, operand(e, i), at + c, sums[i][c]);
        free(sums[i]);
    }
}

/* ---- the second pass of a sum over rows ------------------------------------------------------ */

static double column_part(const Eval *e, const Value *v, int64_t col, int64_t first, int64_t step) {
    double sum = 0;
    for (int64_t row = first; row < e->rows; row += step)
        sum = add(e, sum, memory_get(e->memory, v, row * v->row_stride + col));
    return sum;
}

static double column_total(const Eval *e, const Value *v, int64_t col) {
    double lanes[32], next[32];
    if (e->body->cols >= 32) {
        double sum = column_part(e, v, col, 0, 8);
        for (int part = 1; part < 8; part++) sum = add(e, sum, column_part(e, v, col, part, 8));
        return sum;
    }
    for (int lane = 0; lane < 32; lane++) lanes[lane] = column_part(e, v, col, lane, 32);
    for (int mask = 16; mask > 0; mask >>= 1) {
        for (int l = 0; l < 32; l++) next[l] = add(e, lanes[l], lanes[l ^ mask]);
        memcpy(lanes, next, sizeof next);
    }
    return lanes[0];
}

static void eval_columns(Eval *e) {
    for (int phase = 0; phase < 2; phase++) eval_row_scope(e, phase);
    list_steps(e, 1);
    for (e->col = 0; e->col < e->body->cols; e->col++) {
        for (int i = 0; i < e->body->count; i++)
            if (e->body->steps[i].kind == STEP_TOTAL)
                e->number[i] = column_total(e, operand(e, e->body->steps[i].arg[0]), e->col);
        eval_column(e);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

static void eval_kernel(Memory *memory, const Plan *plan, const Launch *launch) {
    const Kernel *k = &plan->kernels[launch->index];
    ENSURE(k->body && k->body->count <= MOST_STEPS, "the interpreter cannot run %s", k->name);
    Eval *e = calloc(1, sizeof *e);
    e->memory = memory;
    e->plan = plan;
    e->launch = launch;
    e->kernel = k;
    e->body = k->body;
    e->wide = k->real == DT_F64;
    e->rows = launch_rows(k, launch);
    e->phases = phases_of(plan->program->arena, k->body);
    if (k->skeleton == SKELETON_COLUMN) eval_columns(e);
    else if (!k->workers || k->skeleton == SKELETON_EPILOGUE) eval_rows(e, 0, e->rows, 1, 1);
    else for (int64_t worker = 0; worker < k->workers; worker++) eval_worker(e, worker, skeleton_rows_per_worker(k, e->rows));
    free(e);
}

/* Reads rows x cols elements, which are `stride` apart from row to row (from column to column if
 * transposed), into an array that the caller frees. */
static double *read_matrix(const Memory *memory, const Value *v, int64_t at, int64_t rows, int64_t cols,
                           int64_t stride, bool transposed) {
    double *matrix = malloc((size_t)(rows * cols) * sizeof *matrix);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            matrix[i * cols + j] = memory_get(memory, v, at + (transposed ? j * stride + i : i * stride + j));
    return matrix;
}

static void eval_product(Memory *memory, const Gemm *g, const Launch *launch, int64_t batch) {
    double *a = read_matrix(memory, launch->arg[0], batch * g->stride_a, g->m, g->k, g->lda, g->transpose_a);
    double *b = read_matrix(memory, launch->arg[1], batch * g->stride_b, g->k, g->n, g->ldb, g->transpose_b);
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            const int64_t to = batch * g->stride_c + i * g->ldc + j;
            double sum = 0, old = g->beta != 0 ? memory_get(memory, launch->arg[2], to) : 0;
            for (int64_t k = 0; k < g->k; k++) sum += a[i * g->k + k] * b[k * g->n + j];
            double bias = g->bias ? memory_get(memory, launch->arg[3], j) : 0;
            memory_set(memory, launch->arg[2], to, g->alpha * sum + g->beta * old + bias);
        }
    free(a);
    free(b);
}

static void eval_gemm(Memory *memory, const Gemm *g, const Launch *launch) {
    for (int64_t batch = 0; batch < g->batch_count; batch++)
        eval_product(memory, g, launch, batch);
}

void eval_launch(Memory *memory, const Plan *plan, const Launch *launch) {
    const Value *to = launch->arg[0];
    if (launch->kind == LAUNCH_KERNEL) eval_kernel(memory, plan, launch);
    else if (launch->kind == LAUNCH_GEMM) eval_gemm(memory, &plan->gemms[launch->index], launch);
    else if (launch->kind == LAUNCH_ZERO) memset(element_at(memory, to, 0), 0, (size_t)value_bytes(to));
    else memcpy(element_at(memory, to, 0), element_at(memory, launch->arg[1], 0), (size_t)value_bytes(to));
}

void eval_entry(Memory *memory, const Plan *plan, Entry entry) {
    for (int i = 0; i < plan->entry[entry].launch_count; i++)
        eval_launch(memory, plan, &plan->entry[entry].launches[i]);
}
