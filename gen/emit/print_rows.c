/* The row skeletons: a warp or a block for each row (or for each worker's run of rows), the columns
 * visited once a phase; and the COLUMN skeleton that adds the workers' partial sums. */
#include "emit/printer.h"
#include "plan/kernels.h"
#include "plan/skeleton.h"

static bool is_warp(const Printer *p) { return p->kernel->skeleton == SKELETON_WARP_ROW; }
static bool is_stream(const Printer *p) { return p->kernel->skeleton == SKELETON_STREAM_ROW; }

/* ---- whose rows ------------------------------------------------------------------------------ */

/* Declares `what` (row or worker) of this warp or block. */
static void print_unit(Printer *p, const char *what, int64_t count) {
    const char *block = p->is_long ? "static_cast<int64_t>(blockIdx.x)" : "blockIdx.x";
    if (!is_warp(p)) {
        put(p, "const %s %s = %s;", index_type(p), what, "blockIdx.x");
        return;
    }
    int warps = p->kernel->threads / 32;
    put(p, "const %s %s = %s * %d + threadIdx.x / 32;", index_type(p), what, block, warps);
    if (count % warps)
        put(p, "if (%s >= %lld)\n        return;", what, (long long)count);
}

static void print_worker_rows(Printer *p) {
    const Kernel *k = p->kernel;
    long long per = (long long)skeleton_rows_per_worker(k, p->body->rows);
    print_unit(p, "worker", k->workers);
    if (k->rows) {
        put(p, "const %s first = worker * %lld, end = first + %lld < %lld ? first + %lld : %lld;",
            index_type(p), per, per, (long long)k->rows, per, (long long)k->rows);
    } else {
        put(p, "const int64_t share = (rows + %lld) / %lld, first = worker * share;",
            (long long)k->workers - 1, (long long)k->workers);
        put(p, "const int64_t end = first + share < rows ? first + share : rows;");
    }
}

/* ---- visits ---------------------------------------------------------------------------------- */

static void open_columns(Printer *p, bool names_col) {
    int vector = p->kernel->vector, lanes = skeleton_lanes(p->kernel);
    long long cols = (long long)p->body->cols;
    const char *times = vector == 1 ? "" : arena_printf(p->arena, " * %d", vector);
    if (is_stream(p)) {
        put(p, "for (int col = %s%s; col < %lld; col += %d) {", p->lane, times, cols,
            lanes * vector);
        p->depth++;
        return;
    }
    if (p->chunks > 1) {
        put(p, "#pragma unroll");
        put(p, "for (int c = 0; c < %d; c++) {", p->chunks);
        p->depth++;
        if (!names_col && skeleton_exact(p->kernel))
            return;
        if (vector == 1)
            put(p, "const int col = c * %d + %s;", lanes, p->lane);
        else
            put(p, "const int col = (c * %d + %s) * %d;", lanes, p->lane, vector);
    }
    if (skeleton_exact(p->kernel))
        return;
    put(p, "if (col < %lld) {", cols);
    p->depth++;
}

static int column_levels(const Printer *p) {
    return is_stream(p) ? 1 : (p->chunks > 1) + !skeleton_exact(p->kernel);
}

static void close_columns(Printer *p) {
    for (int level = column_levels(p); level > 0; level--) {
        p->depth--;
        put(p, "}");
    }
}

/* The visit is printed before what opens it: where nothing asks for the column, none is declared. */
static void print_columns(Printer *p, int phase, void (*visit)(Printer *, int phase)) {
    StrBuf *out = p->out, inner = {0};
    int levels = column_levels(p);
    p->out = &inner;
    p->depth += levels;
    visit(p, phase);
    p->depth -= levels;
    p->out = out;
    open_columns(p, mentions(inner.text, "col"));
    sb_puts(out, inner.text);
    close_columns(p);
    sb_free(&inner);
}

static const char *chunk_index(const Printer *p) { return p->chunks > 1 ? "[c]" : ""; }

static void declare_registers(Printer *p, int i) {
    const char *type = dtype_c_name(p->body->steps[i].value->dtype);
    const char *name = unique(
        p, arena_printf(p->arena, "%s_v", p->kernel->param[p->kernel->param_of_step[i]].name));
    const char *extent = p->chunks > 1 ? arena_printf(p->arena, "[%d]", p->chunks) : "";
    if (p->kernel->vector == 1)
        put(p, "%s %s%s;", type, name, extent);
    else
        put(p, "Vec<%s, %d> %s%s;", type, p->kernel->vector, name, extent);
    p->slot[i] = arena_printf(p->arena, "%s%s", name, chunk_index(p));
}

/* Registers for elements that later phases read again. Where the visit opens no scope, its own
 * declaration lasts. */
static void declare_kept(Printer *p, int phase) {
    if (column_levels(p) == 0)
        return;
    for (int i = 0; i < p->body->count; i++)
        if (stays_in_registers(p, i) && !p->slot[i] && phase_needs(&p->phases, phase, i))
            declare_registers(p, i);
}

static void print_hoisted(Printer *p) {
    bool loads = false;
    print_before_rows(p);
    for (int i = 0; i < p->body->count; i++) {
        if (!step_before_rows(p->kernel, i) || !step_per_column(p->body, i))
            continue;
        loads = true;
        if (column_levels(p) > 0)
            declare_registers(p, i);
    }
    if (loads)
        print_columns(p, 0, print_hoisted_loads);
}

static bool reduces_in(const Printer *p, int i, int phase) {
    return step_reduces(p->body->steps[i].kind) && p->phases.at[i] == phase;
}

static void declare_reductions(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++) {
        if (!reduces_in(p, i, phase))
            continue;
        bool sum = p->body->steps[i].kind == STEP_ROW_SUM;
        p->slot[i] = unique(p, sum ? "sum" : "max");
        put(p, "%s %s = %s;", real_name(p), p->slot[i], sum ? "0" : "-INFINITY");
    }
}

static void finish_reductions(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++) {
        if (!reduces_in(p, i, phase))
            continue;
        const char *what = p->body->steps[i].kind == STEP_ROW_SUM ? "sum" : "max";
        if (is_warp(p))
            put(p, "%s = warp_%s(%s);", p->slot[i], what, p->slot[i]);
        else
            put(p, "%s = block_%s<%d>(%s);", p->slot[i], what, p->kernel->threads, p->slot[i]);
        p->name[i] = p->slot[i];
    }
}

static void print_phase(Printer *p, int phase) {
    print_row_scope(p, phase);
    if (!phase_visits_columns(&p->phases, phase))
        return;
    declare_kept(p, phase);
    declare_reductions(p, phase);
    print_columns(p, phase, print_visit);
    finish_reductions(p, phase);
}

/* ---- sums over rows -------------------------------------------------------------------------- */

static bool sums_elements(const Printer *p, int i) {
    return p->body->steps[i].kind == STEP_COL_SUM && step_per_column(p->body, i);
}

static void declare_column_sums(Printer *p) {
    for (int i = 0; i < p->body->count; i++) {
        if (p->body->steps[i].kind != STEP_COL_SUM)
            continue;
        const char *name = unique(p, "total");
        if (!step_per_column(p->body, i)) {
            put(p, "%s %s = 0;", real_name(p), name);
            p->slot[i] = name;
            continue;
        }
        ENSURE(!is_stream(p), "kernel %s sums %lld columns over rows", p->kernel->name,
               (long long)p->body->cols);
        const char *extent = p->chunks > 1 ? arena_printf(p->arena, "[%d]", p->chunks) : "";
        if (p->kernel->vector == 1)
            put(p, "%s %s%s = {};", real_name(p), name, extent);
        else
            put(p, "Vec<%s, %d> %s%s = {};", real_name(p), p->kernel->vector, name, extent);
        p->slot[i] = arena_printf(p->arena, "%s%s", name, chunk_index(p));
    }
}

static void store_element_sums(Printer *p, int phase) {
    (void)phase;
    for (int i = 0; i < p->body->count; i++) {
        if (!sums_elements(p, i))
            continue;
        const char *to = p->kernel->param[p->kernel->param_of_step[i]].name,
                   *at = step_index_text(p, i, false);
        if (p->kernel->vector == 1)
            put(p, "%s[%s] = %s;", to, at, p->slot[i]);
        else
            put(p, "store_vec(%s + %s, %s);", to, at, p->slot[i]);
    }
}

static void store_column_sums(Printer *p) {
    bool elements = false;
    for (int i = 0; i < p->body->count; i++)
        elements = elements || sums_elements(p, i);
    if (elements)
        print_columns(p, 0, store_element_sums);
    for (int i = 0; i < p->body->count; i++)
        if (p->body->steps[i].kind == STEP_COL_SUM && !sums_elements(p, i))
            put(p, "if (%s == 0)\n        %s[worker] = %s;", p->lane,
                p->kernel->param[p->kernel->param_of_step[i]].name, p->slot[i]);
}

void print_row_kernel(Printer *p) {
    const Kernel *k = p->kernel;
    int lanes = skeleton_lanes(k);
    if (!is_stream(p))
        p->chunks = skeleton_chunks(k);
    if (is_warp(p))
        p->lane = "lane";
    if (k->workers)
        print_worker_rows(p);
    else if (p->body->rows > 1)
        print_unit(p, "row", p->body->rows);
    if (is_warp(p))
        put(p, "const int lane = threadIdx.x %% %d;", lanes);
    if (!is_stream(p) && p->chunks == 1) {
        if (k->vector == 1)
            put(p, "const int col = %s;", p->lane);
        else
            put(p, "const int col = %s * %d;", p->lane, k->vector);
    }
    declare_column_sums(p);
    print_hoisted(p);
    if (k->workers) {
        put(p, "for (%s row = first; row < end; row++) {", index_type(p));
        p->depth++;
    }
    for (int phase = 0; phase < p->phases.count; phase++)
        print_phase(p, phase);
    if (!k->workers)
        return;
    p->depth--;
    put(p, "}");
    store_column_sums(p);
}

/* ---- the second pass ------------------------------------------------------------------------- */

/* Many columns: a tile of 32 of them, eight rows at a time. */
static void print_column_tile(Printer *p, const char *from, const char *to, const char *result) {
    long long rows = (long long)p->body->rows, cols = (long long)p->body->cols;
    int lanes = column_lanes(p->kernel);
    put(p, "const int lane = threadIdx.x %% 32, part = threadIdx.x / 32, col = blockIdx.x * 32 + "
           "lane;");
    put(p, "SHARED %s share[%d][32];", real_name(p), lanes);
    put(p, "%s sum = 0;", real_name(p));
    put(p, "if (col < %lld)", cols);
    put(p, "    for (int row = part; row < %lld; row += %d)", rows, lanes);
    put(p, "        sum += %s[row * %lld + col];", from, cols);
    put(p, "share[part][lane] = sum;");
    put(p, "__syncthreads();");
    put(p, "if (part > 0 || col >= %lld)\n        return;", cols);
    put(p, "for (int other = 1; other < %d; other++)", lanes);
    put(p, "    sum += share[other][lane];");
    put(p, "%s[col] = %s;", to, result);
}

/* Few columns: a warp for each. */
static void print_column_warp(Printer *p, const char *from, const char *to, const char *result) {
    long long rows = (long long)p->body->rows, cols = (long long)p->body->cols;
    put(p, "const int col = blockIdx.x, lane = threadIdx.x;");
    put(p, "%s sum = 0;", real_name(p));
    put(p, "for (int row = lane; row < %lld; row += 32)", rows);
    put(p, "    sum += %s[row * %lld + col];", from, cols);
    put(p, "sum = warp_sum(sum);");
    put(p, "if (lane == 0)\n        %s[col] = %s;", to, result);
}

/* Its body is one load and one sum. */
void print_column_kernel(Printer *p) {
    const Kernel *k = p->kernel;
    const KernelParam *from = &k->param[0], *to = &k->param[1];
    const char *result = "sum";
    if (to->dtype != k->real)
        result = arena_printf(p->arena, "convert<%s>(sum)", dtype_c_name(to->dtype));
    if (column_lanes(k) == 32)
        print_column_warp(p, from->name, to->name, result);
    else
        print_column_tile(p, from->name, to->name, result);
}
