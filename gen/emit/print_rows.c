/* The row skeletons (a warp or a block per row, or a block per worker that handles a run of rows;
 * each phase visits the columns once); the COLUMN skeleton, which adds the workers' partial sums;
 * and the parts of a template's epilogue. */
#include <string.h>

#include "emit/printer.h"
#include "plan/kernel_names.h"
#include "plan/skeleton.h"

static bool is_warp(const Printer *p) { return p->kernel->skeleton == SKELETON_WARP_ROW; }
static bool is_stream(const Printer *p) { return p->kernel->skeleton == SKELETON_STREAM_ROW; }
static bool is_epilogue(const Printer *p) { return p->kernel->skeleton == SKELETON_EPILOGUE; }
/* Whether a block has more threads than a row needs. */
static bool has_parts(const Printer *p) { return p->kernel->threads > p->kernel->lanes; }

/* ---- rows of a thread ------------------------------------------------------------------------ */

static void print_row(Printer *p) {
    const char *block = p->is_long ? "static_cast<int64_t>(blockIdx.x)" : "blockIdx.x";
    if (!is_warp(p)) {
        put(p, "const %s row = %s;", index_type(p), "blockIdx.x");
        return;
    }
    int warps = p->kernel->threads / 32;
    put(p, "const %s row = %s * %s + threadIdx.x / %s;", index_type(p), block,
        extent(p, "WARPS", warps), extent(p, "LANES", 32));
    if (!p->kernel->rows)
        put(p, "if (row >= rows)\n        return;");
    else if (p->body->rows % warps)
        put(p, "if (row >= ROWS)\n        return;");
}

static bool shares_columns(const Printer *p) {
    return p->any_blocks || p->kernel->column_blocks > 1;
}

/* Blocks that share rows are neighbours, so that what one brings to the L2 cache serves the next. */
static void print_worker(Printer *p) {
    if (!shares_columns(p)) {
        put(p, "const %s worker = blockIdx.x;", index_type(p));
        return;
    }
    const char *blocks = extent(p, "COLUMN_BLOCKS", p->kernel->column_blocks);
    put(p, "const int column_block = blockIdx.x %% %s;", blocks);
    put(p, "const %s worker = blockIdx.x / %s;", index_type(p), blocks);
}

static void print_worker_rows(Printer *p) {
    const Kernel *k = p->kernel;
    print_worker(p);
    if (!k->rows) {
        const char *workers = extent(p, "WORKERS", k->workers);
        put(p, "const int64_t each = (rows + %s - 1) / %s, first = worker * each;", workers,
            workers);
        put(p, "const int64_t end = first + each < rows ? first + each : rows;");
        return;
    }
    int64_t per = skeleton_rows_per_worker(k, p->body->rows);
    const char *each = extent(p, "ROWS_PER_WORKER", per);
    if (k->rows == per * k->workers) {
        put(p, "const %s first = worker * %s, end = first + %s;", index_type(p), each, each);
    } else {
        put(p, "const %s first = worker * %s;", index_type(p), each);
        put(p, "const %s end = first + %s < ROWS ? first + %s : ROWS;", index_type(p), each, each);
    }
}

/* Declares a thread's position in its row and, if a block has several rows, its row in the
 * block. */
static void print_lane(Printer *p) {
    const Kernel *k = p->kernel;
    if (!has_parts(p))
        return;
    p->lane = "lane";
    const char *lanes = extent(p, "LANES", k->lanes);
    if (k->parts > 1)
        put(p, "const int lane = threadIdx.x %% %s, part = threadIdx.x / %s;", lanes, lanes);
    else
        put(p, "const int lane = threadIdx.x %% %s;", lanes);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* Whether a visit takes the row's end first, which is still in the L1 cache. A visit that reduces does
 * not: its order would depend on what is fused before it. */
static bool walks_back(const Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++)
        if (p->phases.at[i] == phase && step_reduces(p->body->steps[i].kind))
            return false;
    return phase > 0;
}

static void open_stream(Printer *p, int phase) {
    int vector = p->kernel->vector;
    const char *times = vector == 1 ? "" : arena_printf(p->arena, " * %d", vector);
    const char *lanes = extent(p, "LANES", p->kernel->lanes);
    if (skeleton_is_alone(p->kernel))
        put(p, "#pragma unroll %d", LONG_ROW_LOADS);
    if (walks_back(p, phase))
        put(p, "for (int col = COLS - %d - %s%s; col >= 0; col -= %s%s) {", vector, p->lane, times,
            lanes, times);
    else
        put(p, "for (int col = %s%s; col < COLS; col += %s%s) {", p->lane, times, lanes, times);
    p->depth++;
}

static void open_columns(Printer *p, int phase, bool names_col) {
    int vector = p->kernel->vector;
    if (is_stream(p)) {
        open_stream(p, phase);
        return;
    }
    if (p->chunks > 1) {
        put(p, "#pragma unroll");
        put(p, "for (int c = 0; c < %s; c++) {", extent(p, "CHUNKS", p->chunks));
        p->depth++;
        if (!names_col && skeleton_exact(p->kernel))
            return;
        if (is_epilogue(p))
            put(p, "const int col = tile.column(c);");
        else if (vector == 1)
            put(p, "const int col = c * %s + %s;", extent(p, "LANES", p->kernel->lanes), p->lane);
        else
            put(p, "const int col = (c * %s + %s) * %d;", extent(p, "LANES", p->kernel->lanes),
                p->lane, vector);
    }
    if (skeleton_exact(p->kernel))
        return;
    put(p, "if (col < %s) {", extent(p, "COLS", p->body->cols));
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

/* Frees the names of vectors that were declared in a scope, once it is closed. */
static void forget_vectors(Printer *p, const char *const *slots_before) {
    for (int i = 0; i < p->body->count; i++)
        if (p->slot[i] && p->slot[i] != slots_before[i])
            release(p, p->slot[i]);
}

/* The visit is printed before its head, which declares the column only if the visit uses it. */
static void print_columns(Printer *p, int phase, void (*visit)(Printer *, int phase)) {
    StrBuf *out = p->out, inner = {0};
    int levels = column_levels(p);
    size_t steps = (size_t)p->body->count;
    const char **slots = arena_array(p->arena, steps, sizeof *slots);
    memcpy(slots, p->slot, steps * sizeof *slots);
    p->out = &inner;
    p->depth += levels;
    visit(p, phase);
    if (levels > 0)
        forget_vectors(p, slots);
    p->depth -= levels;
    p->out = out;
    open_columns(p, phase, text_mentions(inner.text, "col"));
    sb_puts(out, inner.text);
    close_columns(p);
    sb_free(&inner);
}

static const char *chunk_index(const Printer *p) { return p->chunks > 1 ? "[c]" : ""; }
static const char *chunk_extent(Printer *p) {
    return p->chunks > 1 ? arena_printf(p->arena, "[%s]", extent(p, "CHUNKS", p->chunks)) : "";
}

static void declare_registers(Printer *p, int i) {
    const char *type = dtype_c_name(p->body->steps[i].value->dtype);
    const char *name = unique(p, arena_printf(p->arena, "%s_v", param_name(p, i)));
    int vector = p->kernel->vector;
    int width = step_is_vector(p->kernel, i) ? step_width(p->kernel, i) : vector;
    if (vector == 1)
        put(p, "%s %s%s;", type, name, chunk_extent(p));
    else
        put(p, "Vec<%s, %d> %s%s;", type, width, name, chunk_extent(p));
    p->slot[i] = arena_printf(p->arena, "%s%s", name, chunk_index(p));
}

/* Declares registers for elements that later phases read again. If the visit opens no scope, the
 * visit's own declaration is enough. */
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

static const char *reduction_name(StepKind kind) { return kind == STEP_ROW_SUM ? "sum" : "max"; }

/* Declares what a thread accumulates during the visit. */
static void declare_reductions(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++) {
        if (!reduces_in(p, i, phase))
            continue;
        StepKind kind = p->body->steps[i].kind;
        const char *hint = p->body->steps[i].hint;
        if (kind == STEP_ROW_LSE) {
            p->slot[i] = unique(p, "exps");
            put(p, "SumOfExps<%s> %s;", real_name(p), p->slot[i]);
            continue;
        }
        p->slot[i] = unique(p, hint ? hint : reduction_name(kind));
        put(p, "%s %s = %s;", real_name(p), p->slot[i], kind == STEP_ROW_SUM ? "0" : "-INFINITY");
    }
}

/* "warp_sum(sum)": the reduction over the threads of a row. */
static const char *joined_text(Printer *p, const char *what, const char *slot) {
    if (is_warp(p))
        return arena_printf(p->arena, "warp_%s(%s)", what, slot);
    return arena_printf(p->arena, "block_%s<%s>(%s)", what,
                        extent(p, "THREADS", p->kernel->threads), slot);
}

static void finish_reductions(Printer *p, int phase) {
    for (int i = 0; i < p->body->count; i++) {
        if (!reduces_in(p, i, phase))
            continue;
        const char *slot = p->slot[i];
        StepKind kind = p->body->steps[i].kind;
        if (kind != STEP_ROW_LSE) {
            p->name[i] = slot;
            put(p, "%s = %s;", slot, joined_text(p, reduction_name(kind), slot));
        } else {
            p->name[i] = unique(p, "lse");
            put(p, "const %s %s = %s;", real_name(p), p->name[i], joined_text(p, "lse", slot));
        }
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

static const char *sum_type(const Printer *p) {
    int vector = p->kernel->vector;
    return vector == 1 ? real_name(p) : arena_printf(p->arena, "Vec<%s, %d>", real_name(p), vector);
}

/* A thread's sum is named after the partial sums that it is stored to or read from. */
static const char *sum_name(const Printer *p, int step) {
    static const char ending[] = "_partial";
    const char *name = param_name(p, step);
    size_t length = strlen(name), extra = sizeof ending - 1;
    if (length <= extra || strcmp(name + length - extra, ending) != 0)
        return "total";
    name = arena_strndup(p->arena, name, length - extra);
    for (int i = 0; i < p->kernel->param_count; i++)
        if (strcmp(p->kernel->param[i].name, name) == 0)
            return "total";
    return name;
}

/* If a result has several rows, their names have numbers. */
static const char *total_name(const Printer *p, int i) {
    const Step *s = &p->body->steps[i];
    bool one_row = value_elements(s->value) == p->kernel->workers * p->body->cols;
    const char *name = sum_name(p, i);
    return one_row ? name : arena_printf(p->arena, "%s_%d", name, (int)s->constant);
}

static void declare_column_sums(Printer *p) {
    for (int i = 0; i < p->body->count; i++) {
        if (p->body->steps[i].kind != STEP_COL_SUM)
            continue;
        ENSURE(!is_stream(p), "kernel %s sums %lld columns over rows", p->kernel->name,
               (long long)p->body->cols);
        const char *name = unique(p, total_name(p, i));
        put(p, "%s %s%s = {};", sum_type(p), name, chunk_extent(p));
        p->slot[i] = arena_printf(p->arena, "%s%s", name, chunk_index(p));
    }
}

/* Adds the sums of all parts in the first part. */
static void join_parts(Printer *p) {
    const Kernel *k = p->kernel;
    const char *parts = extent(p, "PARTS", k->parts), *lanes = extent(p, "LANES", k->lanes);
    put(p, "SHARED %s sums[%s];", sum_type(p), extent(p, "THREADS", k->threads));
    if (p->chunks > 1) {
        put(p, "#pragma unroll");
        put(p, "for (int c = 0; c < %s; c++) {", extent(p, "CHUNKS", p->chunks));
        p->depth++;
    }
    for (int i = 0; i < p->body->count; i++)
        if (p->body->steps[i].kind == STEP_COL_SUM)
            put(p, "%s = sum_of_parts<%s, %s>(sums, %s);", p->slot[i], parts, lanes, p->slot[i]);
    if (p->chunks > 1) {
        p->depth--;
        put(p, "}");
    }
    put(p, "if (part > 0)\n        return;");
}

static void store_column_sums(Printer *p, int phase) {
    (void)phase;
    for (int i = 0; i < p->body->count; i++) {
        const Step *s = &p->body->steps[i];
        if (s->kind != STEP_COL_SUM)
            continue;
        const char *to = param_name(p, i), *at = step_index_text(p, i, false),
                   *type = dtype_c_name(s->value->dtype);
        if (p->kernel->vector > 1)
            put(p, "store_vec(%s + %s, convert_vec<%s>(%s));", to, at, type, p->slot[i]);
        else
            put(p, "%s[%s] = convert<%s>(%s);", to, at, type, p->slot[i]);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void declare_column(Printer *p) {
    const Kernel *k = p->kernel;
    const char *place = p->lane;
    if (is_stream(p) || p->chunks > 1)
        return;
    if (shares_columns(p))
        place = arena_printf(p->arena, "(column_block * %s + %s)", extent(p, "LANES", k->lanes),
                             p->lane);
    if (k->vector == 1)
        put(p, "const int col = %s;", place);
    else
        put(p, "const int col = %s * %d;", place, k->vector);
}

static void print_phases(Printer *p) {
    if (column_levels(p) == 0 && p->kernel->vector > 1)
        hold_stored(p);
    for (p->phase = 0; p->phase < p->phases.count; p->phase++)
        print_phase(p, p->phase);
}

static void open_loop(Printer *p, const char *index, const char *first, const char *end,
                      const char *step) {
    put(p, "for (%s %s = %s; %s < %s; %s%s) {", index_type(p), index, first, index, end, index, step);
    p->depth++;
}

/* The rows of one line that a thread has together, from `first` on: they share what their windows
 * load. */
static void print_sliding_rows(Printer *p, const char *first, const char *end) {
    p->row = first;
    print_row_scope(p, 0);
    print_lines(p);
    p->row = "row";
    put(p, "#pragma unroll");
    open_loop(p, "row", first, end, "++");
    print_columns(p, 0, print_visit);
}

/* A thread takes some neighbouring rows at a time. */
static int open_turns(Printer *p) {
    const Kernel *k = p->kernel;
    const char *parts = extent(p, "PARTS", k->parts);
    const char *rows = extent(p, "ROWS_PER_TURN", skeleton_rows_in_turn(k));
    const char *end = arena_printf(p->arena, "turn + %s", rows);
    int slides = skeleton_slides(k);
    open_loop(p, "turn", arena_printf(p->arena, "first + part * %s", rows), "end",
              arena_printf(p->arena, " += %s * %s", parts, rows));
    if (slides == 1) {
        put(p, skeleton_rows_at_once(k) > 1 ? "#pragma unroll" : "#pragma unroll 1");
        open_loop(p, "row", "turn", end, "++");
        print_phases(p);
        return 2;
    }
    if (slides == skeleton_rows_in_turn(k)) {
        print_sliding_rows(p, "turn", end);
        return 2;
    }
    open_loop(p, "near", "turn", end, arena_printf(p->arena, " += %d", slides));
    print_sliding_rows(p, "near", arena_printf(p->arena, "near + %d", slides));
    return 3;
}

static void print_worker_loop(Printer *p) {
    const Kernel *k = p->kernel;
    int loops = 1;
    if (skeleton_rows_in_turn(k) > 1) {
        loops = open_turns(p);
    } else {
        if (skeleton_rows_at_once(k) > 1)
            put(p, "#pragma unroll %d", skeleton_rows_at_once(k));
        if (k->parts > 1)
            open_loop(p, "row", "first + part", "end",
                      arena_printf(p->arena, " += %s", extent(p, "PARTS", k->parts)));
        else
            open_loop(p, "row", "first", "end", "++");
        print_phases(p);
    }
    for (; loops > 0; loops--) {
        p->depth--;
        put(p, "}");
    }
}

static void print_workers(Printer *p) {
    const Kernel *k = p->kernel;
    declare_column_sums(p);
    print_hoisted(p);
    print_ahead_end(p);
    print_worker_loop(p);
    if (k->parts > 1)
        join_parts(p);
    print_columns(p, 0, store_column_sums);
}

void print_row_kernel(Printer *p) {
    const Kernel *k = p->kernel;
    if (!is_stream(p))
        p->chunks = skeleton_chunks(k);
    if (k->workers)
        print_worker_rows(p);
    else if (p->body->rows > 1)
        print_row(p);
    print_lane(p);
    declare_column(p);
    p->one_scope = column_levels(p) == 0 && k->vector == 1;
    if (k->workers)
        print_workers(p);
    else
        print_phases(p);
}

/* ---- in a template --------------------------------------------------------------------------- */

void print_epilogue_columns(Printer *p) {
    if (p->chunks == 1)
        put(p, "const int col = tile.column(0);");
    print_hoisted(p);
}

void print_epilogue_row(Printer *p) {
    p->depth = 2;
    print_phase(p, 0);
}

/* ---- the second pass ------------------------------------------------------------------------- */

static void declare_totals(Printer *p) {
    for (int i = 0; i < p->body->count; i++)
        if (step_totals(p->body->steps[i].kind)) {
            p->slot[i] = p->name[i] = unique(p, sum_name(p, p->body->steps[i].arg[0]));
            put(p, "%s %s = 0;", real_name(p), p->name[i]);
        }
}

/* Prints "total = join total)" for each total. */
static void join_totals(Printer *p, const char *join) {
    for (int i = 0; i < p->body->count; i++)
        if (step_totals(p->body->steps[i].kind))
            put(p, "%s = %s%s);", p->name[i], join, p->name[i]);
}

/* Prints the loop over a thread's rows, which adds to each total. */
static void add_rows(Printer *p, const char *from, const char *step) {
    put(p, "for (int row = %s; row < ROWS; row += %s) {", from, step);
    p->depth++;
    for (int i = 0; i < p->body->count; i++) {
        const Step *s = &p->body->steps[i];
        if (step_totals(s->kind))
            put(p, "%s += %s;", p->name[i], step_text(p, s->arg[0]));
    }
    p->depth--;
    put(p, "}");
}

/* Many columns: each block sums some of them, with several rows at a time. */
static void print_column_tile(Printer *p) {
    const char *parts = extent(p, "PARTS", COLUMN_LANES);
    const char *lanes = extent(p, "LANES", COLUMNS_OF_BLOCK);
    put(p, "const int lane = threadIdx.x %% %s, part = threadIdx.x / %s;", lanes, lanes);
    put(p, "const int col = blockIdx.x * %s + lane;", lanes);
    put(p, "SHARED %s sums[%s * %s];", real_name(p), parts, lanes);
    declare_totals(p);
    put(p, "if (col < COLS)");
    p->depth++;
    add_rows(p, "part", parts);
    p->depth--;
    join_totals(p, arena_printf(p->arena, "sum_of_parts<%s, %s>(sums, ", parts, lanes));
    put(p, "if (part > 0 || col >= COLS)\n        return;");
}

/* Few columns: a warp per column. */
static void print_column_warp(Printer *p) {
    put(p, "const int col = blockIdx.x, lane = threadIdx.x;");
    declare_totals(p);
    add_rows(p, "lane", "32");
    join_totals(p, "warp_sum(");
    put(p, "if (lane > 0)\n        return;");
}

void print_column_kernel(Printer *p) {
    if (column_width(p->kernel) == 1)
        print_column_warp(p);
    else
        print_column_tile(p);
    print_row_scope(p, 0);
    print_row_scope(p, 1);
    print_visit(p, 1);
}
