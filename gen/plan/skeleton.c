/* Chooses skeletons and their geometry. */
#include "plan/skeleton.h"

#include "base/rounding.h"
#include "graph/window.h"
#include "plan/phases.h"

bool skeleton_is_row(Skeleton s) {
    return s == SKELETON_WARP_ROW || s == SKELETON_BLOCK_ROW || s == SKELETON_STREAM_ROW ||
           s == SKELETON_TILE;
}

int skeleton_chunks(const Kernel *k) {
    if (k->skeleton == SKELETON_EPILOGUE)
        return k->chunks;
    return (int)ceil_div(k->body->cols, (int64_t)k->vector * k->lanes * k->column_blocks);
}

bool skeleton_exact(const Kernel *k) {
    if (k->skeleton == SKELETON_EPILOGUE)
        return k->body->cols == (int64_t)k->lanes * k->chunks * k->vector;
    return k->body->cols % ((int64_t)k->vector * k->lanes) == 0;
}

/* Rounds a worker's rows up to whole turns of its block, of several rows a thread, if these are several
 * turns and few rows are added. */
static int64_t in_whole_turns(int64_t rows, int64_t parts) {
    for (int64_t turn = parts * MOST_IN_TURN; turn > parts; turn /= 2)
        if (rows > turn && 32 * round_up(rows, turn) <= 33 * rows)
            return round_up(rows, turn);
    return rows;
}

int64_t skeleton_rows_per_worker(const Kernel *k, int64_t rows) {
    int64_t each = ceil_div(rows, k->workers);
    return k->rows && !skeleton_run(k->body) ? in_whole_turns(each, k->parts) : each;
}

int skeleton_rows_in_turn(const Kernel *k) {
    if (!k->rows || !k->workers || k->parts == 1 || k->skeleton == SKELETON_EPILOGUE)
        return 1;
    int64_t each = skeleton_rows_per_worker(k, k->rows);
    for (int rows = MOST_IN_TURN; rows > 1; rows /= 2) {
        int64_t turn = (int64_t)rows * k->parts;
        bool idle = 16 * each < 15 * round_up(each, turn); /* part of the threads, in the last turn */
        if (k->rows % rows == 0 && each % rows == 0 && each > turn && !idle)
            return rows;
    }
    return 1;
}

/* How many rows of a line the body has loads for: its own, and those that spare loads serve. */
static int rows_with_loads(const Body *body) {
    const Step *spare = NULL;
    int rows = 1;
    for (int i = 0; i < body->count; i++) {
        if (!body->steps[i].spare)
            continue;
        spare = spare ? spare : &body->steps[i];
        rows += step_same_line(spare, &body->steps[i]);
    }
    return rows;
}

static bool is_of_row(const Body *body, int step) {
    return step >= 0 && step_level(body, step) == LEVEL_ROW;
}

/* Whether only the loads under sliding windows depend on where the row is. */
static bool only_windows_ask(const Kernel *k) {
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        if (s->slides && (step_is_vector(k, i) || k->vector == 1))
            continue;
        if (s->slides || (step_writes(s->kind) && is_of_row(k->body, i)))
            return false;
        if (!step_per_column(k->body, i))
            continue;
        bool asks = is_of_row(k->body, s->row_index);
        for (int a = 0; a < step_args(s); a++)
            asks |= is_of_row(k->body, s->arg[a]);
        if (asks)
            return false;
    }
    return true;
}

int skeleton_slides(const Kernel *k) {
    if (!k->shares_rows || k->prefetches || k->skeleton != SKELETON_TILE)
        return 1;
    int rows = rows_with_loads(k->body), in_turn = skeleton_rows_in_turn(k);
    bool whole = skeleton_exact(k) && skeleton_chunks(k) == 1; /* no thread is beyond the row's end */
    rows = rows < in_turn ? rows : in_turn;
    return rows > 1 && whole && only_windows_ask(k) ? rows : 1;
}

bool step_slides(const Kernel *k, int step) {
    return k->body->steps[step].slides && skeleton_slides(k) > 1;
}

bool step_before_rows(const Kernel *k, int step) {
    const Step *s = &k->body->steps[step];
    bool has_rows = k->workers || k->thread_rows > 1;
    if (!has_rows || step_writes(s->kind))
        return false;
    if (s->level == LEVEL_SCALAR)
        return true;
    return s->kind == STEP_LOAD && s->level == LEVEL_COL && k->skeleton != SKELETON_STREAM_ROW;
}

/* Values that a worker's thread holds at a time: what it loads of a row, and its sums. */
static int values_held(const Body *body) {
    int count = 0;
    for (int i = 0; i < body->count; i++)
        count += step_per_column(body, i) &&
                 (body->steps[i].kind == STEP_LOAD || body->steps[i].kind == STEP_COL_SUM);
    return count;
}

static bool is_row_load(const Kernel *k, int step) {
    return k->body->steps[step].kind == STEP_LOAD && step_level(k->body, step) == LEVEL_ELEMENT;
}

/* Registers for these values, without those for what is computed from them. */
static int registers_held(const Kernel *k) {
    int64_t bytes = 0;
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        if (s->kind == STEP_COL_SUM)
            bytes += k->vector * dtype_bytes(k->real);
        else if (s->kind == STEP_LOAD && step_per_column(k->body, i))
            bytes += step_width(k, i) * dtype_bytes(s->value->dtype);
    }
    return (int)(bytes / 4);
}

static int sums_held(const Body *body) {
    int count = 0;
    for (int i = 0; i < body->count; i++)
        count += step_sums_columns(body->steps[i].kind);
    return count;
}

/* Whether each element is read at least 4 times by windows: with k x k taps and stride s, (k / s)^2
 * times. Then most of a thread's loads hit caches. */
static bool windows_overlap(const Body *body) {
    for (int i = 0; i < body->count; i++) {
        int taps = 0, new_taps = 0;
        for (int k = 0; body->steps[i].per && k < body->count; k++) {
            const Step *s = &body->steps[k];
            bool tap = s->kind == STEP_LOAD && s->value == body->steps[i].value &&
                       s->row_index >= 0 && !s->spare;
            taps += tap;
            new_taps += tap && s->per;
        }
        if (new_taps && taps >= 4 * new_taps)
            return true;
    }
    return false;
}

/* Sums of a window's taps fill so many registers that a thread would load its row in several turns,
 * and wait for each: it takes half as many columns. But then it issues twice as many loads per byte,
 * which pays only if most of them hit caches. On an H100, with 4 columns instead of 8, 3x3 windows of
 * stride 1 took 0.445 instead of 0.496 ms, and 0.187 instead of 0.228; those of stride 2, which read
 * each element 2.25 times, took 0.661 instead of 0.523 ms, and 0.209 instead of 0.192. */
static bool holds_many_sums(const Body *body) {
    return sums_held(body) > 4 && windows_overlap(body);
}

/* Whether sums of 8 columns, alone or with rows of a weight, which all rows of the body share, fill so
 * many registers that others would spill. */
static bool sums_spill(const Body *body) {
    int64_t sums = 8 * sums_held(body), weights = 0;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind == STEP_LOAD && s->level == LEVEL_COL && s->row_index >= 0)
            weights += 8 * dtype_bytes(s->value->dtype) / 4;
    }
    return sums > MOST_SUMS || (weights && sums + weights > MOST_BESIDE_ROWS);
}

bool skeleton_is_alone(const Kernel *k) {
    if (k->skeleton != SKELETON_STREAM_ROW || k->threads < LONG_ROW_THREADS)
        return false;
    Phases phases = phases_of(k->body->arena, k->body);
    for (int i = 0; i < k->body->count; i++)
        if (phases.kept[i])
            return true;
    return false;
}

/* Windows with sums may need more registers per thread than this leaves. A multiprocessor then has
 * too few threads to hide memory latency, so that spilling a few values is better. Told that one block
 * is enough, ptxas uses more registers than two blocks of LONG_ROW_THREADS could have. */
int skeleton_blocks_together(const Kernel *k) {
    if (skeleton_is_alone(k))
        return 1;
    if (skeleton_slides(k) > 1)
        return (SLIDING_THREADS + k->threads / 2) / k->threads;
    if (k->skeleton == SKELETON_TILE && k->threads >= TILE_THREADS / 2 &&
        k->workers * k->column_blocks > 2 * ENOUGH_BLOCKS && registers_held(k) <= MOST_HELD)
        return TILE_THREADS_TOGETHER / (int)round_up(k->threads, 32);
    if (!k->workers || values_held(k->body) <= 8)
        return 0;
    int blocks = (k->vector <= 4 && holds_many_sums(k->body) ? 768 : 512) / k->threads;
    return blocks > 1 ? blocks : 0;
}

int skeleton_rows_at_once(const Kernel *k) {
    int loads = 0;
    if (k->skeleton != SKELETON_TILE || !k->rows)
        return 1;
    for (int i = 0; i < k->body->count; i++)
        loads += is_row_load(k, i);
    return loads == 1 ? ROWS_AT_ONCE : 1;
}

/* ---- FLAT ------------------------------------------------------------------------------------ */

static bool whole_or_scalar(const Body *body, const Value *v) {
    if (value_elements(v) == 1)
        return true;
    return value_elements(v) == body->rows * body->cols && value_dense(v);
}

bool body_is_linear(const Body *body) {
    if (body->rows == 1)
        return true;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (s->kind == STEP_ROW || s->kind == STEP_COL)
            return false;
        if (s->kind != STEP_LOAD && s->kind != STEP_STORE)
            continue;
        if (s->row_index >= 0 && step_per_column(body, i))
            return false;
        if (s->row_index < 0 && (s->col_map != COL_SAME || !whole_or_scalar(body, s->value)))
            return false;
    }
    return true;
}

/* Whether the step streams its elements from or to memory; elements that all rows share are
 * cached. */
static bool walks_memory(const Body *body, int step) {
    const Step *s = &body->steps[step];
    bool shared = body->rows > 1 && step_level(body, step) == LEVEL_COL;
    return s->value && step_per_column(body, step) && !shared && !step_gathers(body, step);
}

/* Elements per access: 16 bytes of the widest type that the kernel streams, at most 8, and a
 * divisor of `run`. */
static int widest_vector(const Body *body, int64_t run) {
    int widest = 1;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (walks_memory(body, i) && dtype_bytes(s->value->dtype) > widest)
            widest = dtype_bytes(s->value->dtype);
    }
    int vector = 16 / widest < 8 ? 16 / widest : 8;
    while (run % vector)
        vector /= 2;
    return vector;
}

static int flat_vector(const Kernel *k) {
    bool linear = k->rows && body_is_linear(k->body);
    return widest_vector(k->body, linear ? k->body->rows * k->body->cols : k->body->cols);
}

/* How often a FLAT kernel's thread loads or stores up to 16 bytes: of what all rows share, or of what a
 * row has for itself. */
static int flat_accesses(const Kernel *k, StepKind kind, bool shared) {
    int64_t accesses = 0;
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        Level level = step_level(k->body, i);
        if (s->kind != kind || level == LEVEL_SCALAR || (level == LEVEL_COL) != shared)
            continue;
        if (step_is_vector(k, i))
            accesses += ceil_div(step_width(k, i) * dtype_bytes(s->value->dtype), 16);
        else
            accesses += level == LEVEL_ROW ? 1 : k->vector;
    }
    return (int)accesses;
}

/* Rows that share a thread's loads: two if it asks much more often for what all rows share than for
 * what is a row's own, registers hold both, and the grid is still several waves. */
static int flat_thread_rows(const Kernel *k) {
    int shared = flat_accesses(k, STEP_LOAD, true), loaded = flat_accesses(k, STEP_LOAD, false);
    int64_t threads = k->rows / SHARING_ROWS * k->body->cols / k->vector;
    bool pays = shared >= MUCH_SHARED * (loaded + flat_accesses(k, STEP_STORE, false));
    bool fits = shared + SHARING_ROWS * loaded <= MOST_SHARED;
    bool enough = threads >= (int64_t)SEVERAL_WAVES * ENOUGH_BLOCKS * k->threads;
    bool may = k->shares_rows && k->rows % SHARING_ROWS == 0;
    return may && pays && fits && enough ? SHARING_ROWS : 1;
}

static void choose_flat(Kernel *k) {
    k->skeleton = SKELETON_FLAT;
    k->vector = flat_vector(k);
    int64_t threads = k->rows * k->body->cols / k->vector;
    if (threads == 1)
        k->threads = 1;
    else
        k->threads = k->rows && threads < FLAT_THREADS ? (int)round_up(threads, 32) : FLAT_THREADS;
    k->thread_rows = flat_thread_rows(k);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int row_vector(const Program *p, int64_t cols) {
    int vector = 16 / dtype_bytes(p->activation);
    while (cols % vector || (vector > 1 && vector * 32 > cols))
        vector /= 2;
    return vector;
}

/* Threads of a block that holds a row: enough that each holds few elements, but no idle warps. */
static int block_threads(int64_t accesses) {
    int64_t most = accesses > 2048 ? 1024 : 512;
    int64_t chunks = ceil_div(accesses, most);
    return (int)round_up(ceil_div(accesses, chunks), 32);
}

/* A kernel that takes the number of rows may be launched with very few, which warps alone would not
 * spread over the device: wide rows have a block each. */
static void choose_row(const Program *p, Kernel *k) {
    int64_t cols = k->body->cols;
    k->vector = row_vector(p, cols);
    if (cols <= WIDEST_ROW_OF_WARP && k->body->rows > 1 && (k->rows || cols < 128 * k->vector)) {
        k->skeleton = SKELETON_WARP_ROW;
        k->threads = WARP_ROW_THREADS;
    } else if (cols <= WIDEST_ROW_IN_REGISTERS) {
        k->skeleton = SKELETON_BLOCK_ROW;
        k->threads = block_threads(cols / k->vector);
    } else {
        k->skeleton = SKELETON_STREAM_ROW;
        k->threads = cols * dtype_bytes(p->activation) > LONG_ROW_BYTES ? LONG_ROW_THREADS
                                                                        : STREAM_THREADS;
    }
    k->lanes = k->skeleton == SKELETON_WARP_ROW ? 32 : k->threads;
}

/* ---- sums over rows -------------------------------------------------------------------------- */

/* The widest vector that divides a row. Unlike in row_vector, a row need not fill a warp. */
static int tile_vector(const Program *p, int64_t cols) {
    int vector = 16 / dtype_bytes(p->activation);
    while (cols % vector)
        vector /= 2;
    return vector;
}

/* Rows that a block visits at a time. If a row fills a warp this is the same number as for
 * WARP_ROW, so that the sums can be fused with row reductions. */
static int sum_parts(const Program *p, int64_t cols) {
    int64_t accesses = cols / tile_vector(p, cols);
    if (cols > WIDEST_ROW_OF_WARP)
        return 1;
    return accesses < 32 ? (int)(TILE_THREADS / accesses) : WARP_ROW_THREADS / 32;
}

static void set_tile_vector(Kernel *k, int vector) {
    k->vector = vector;
    k->column_blocks = (int)ceil_div(k->body->cols / vector, k->lanes);
}

/* Rows that a TILE kernel's block visits at a time: not more than there are, or threads would load what
 * all rows share for none. Where a row fills a warp, there are few anyway. */
static int tile_parts(const Program *p, const Kernel *k) {
    int parts = sum_parts(p, k->body->cols);
    bool few = k->workers == 1 && k->rows && k->rows < parts && parts > WARP_ROW_THREADS / 32;
    return few ? (int)k->rows : parts;
}

/* The rows that a thread adds depend on the widest vector, so that they are the same whatever else is
 * in the kernel. With fewer lanes, a block of narrower ones would read less than 32 bytes of a row. */
static void choose_tile(const Program *p, Kernel *k) {
    int64_t cols = k->body->cols;
    k->skeleton = SKELETON_TILE;
    k->vector = tile_vector(p, cols);
    int64_t accesses = cols / k->vector;
    k->lanes = (int)ceil_div(accesses, ceil_div(accesses, 32));
    bool is_wide = k->vector == 8 && k->lanes >= 4;
    k->parts = tile_parts(p, k);
    k->threads = k->lanes * k->parts;
    bool many = holds_many_sums(k->body) || sums_spill(k->body);
    set_tile_vector(k, is_wide && many ? 4 : k->vector);
    Kernel narrow = *k;
    set_tile_vector(&narrow, 4);
    if (is_wide && skeleton_slides(&narrow) > 1) /* registers hold a line's places only for so many */
        *k = narrow;
}

int64_t skeleton_run(const Body *body) {
    for (int i = 0; i < body->count; i++)
        if (step_sums_columns(body->steps[i].kind))
            return body->steps[i].period;
    return 0;
}

/* A worker gets enough rows that its sums are worth the second pass, but fewer if that makes few
 * blocks; very few rows go to a single worker. If the rows grow with the number of layers, the
 * number of workers is fixed, so that models of any depth have the same second pass. */
int64_t skeleton_workers(const Program *p, const Body *body, bool rows_grow) {
    int64_t rows = body->rows, run = skeleton_run(body), parts = sum_parts(p, body->cols);
    int64_t least = parts == 1 ? 8 : parts > 32 ? 2 * parts : 64;
    if (run)
        return rows / run;
    if (rows_grow && rows > 1)
        return MOST_WORKERS / parts;
    if (rows <= 8 * parts)
        return 1;
    int64_t across = ceil_div(body->cols / tile_vector(p, body->cols), 32);
    while (least > 2 * parts && rows * across < ENOUGH_BLOCKS * least)
        least /= 2;
    int64_t per_worker = ceil_div(rows, MOST_WORKERS);
    return ceil_div(rows, per_worker > least ? per_worker : least);
}

/* Whether sums over rows of this width use TILE. Between these limits a block holds whole rows, so
 * that the sums can be fused with row reductions. */
static bool sums_in_tiles(int64_t cols) {
    return cols <= WIDEST_ROW_OF_WARP || cols > WIDEST_ROW_IN_REGISTERS;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static void choose_column(Kernel *k) {
    k->skeleton = SKELETON_COLUMN;
    k->vector = 1;
    k->threads = COLUMN_LANES * column_width(k);
}

void skeleton_choose(const Program *p, Kernel *k, bool rows_grow) {
    const Body *body = k->body;
    bool sums = body_has(body, step_sums_columns), reduces = body_has(body, step_reduces_row);
    k->rows = rows_grow && body->rows > 1 && !body_has(body, step_totals) ? 0 : body->rows;
    k->parts = k->lanes = k->column_blocks = 1;
    if (sums) {
        k->workers = skeleton_workers(p, body, rows_grow);
        k->parts = sum_parts(p, body->cols);
    }
    if (body_has(body, step_totals))
        choose_column(k);
    else if (sums && !reduces && sums_in_tiles(body->cols))
        choose_tile(p, k);
    else if (sums || reduces)
        choose_row(p, k);
    else
        choose_flat(k);
    if (sums)
        k->parts = k->threads / k->lanes;
}

void skeleton_epilogue(Kernel *k, int columns, int run, int64_t lanes, int64_t workers) {
    k->skeleton = SKELETON_EPILOGUE;
    k->rows = k->body->rows;
    k->vector = widest_vector(k->body, k->body->cols);
    while (run % k->vector)
        k->vector /= 2;
    k->chunks = columns / k->vector;
    k->lanes = (int)lanes;
    k->workers = workers;
    k->parts = k->column_blocks = 1;
}

void skeleton_prologue(Kernel *k) {
    k->skeleton = SKELETON_EPILOGUE;
    k->rows = k->body->rows;
    k->vector = widest_vector(k->body, k->body->cols);
    k->lanes = (int)(k->body->cols / k->vector);
    k->chunks = k->parts = k->column_blocks = 1;
}

void skeleton_grid(const Kernel *k, int64_t rows, int64_t grid[3]) {
    grid[1] = grid[2] = 1;
    if (k->skeleton == SKELETON_FLAT)
        grid[0] = ceil_div(rows / k->thread_rows * k->body->cols / k->vector, k->threads);
    else if (k->workers)
        grid[0] = k->workers * k->column_blocks;
    else if (k->skeleton == SKELETON_WARP_ROW)
        grid[0] = ceil_div(rows, k->threads / 32);
    else if (k->skeleton == SKELETON_COLUMN)
        grid[0] = ceil_div(k->body->cols, column_width(k));
    else
        grid[0] = rows;
}

int column_width(const Kernel *k) { return k->body->cols < 32 ? 1 : COLUMNS_OF_BLOCK; }

/* ---- loads of later rows ---------------------------------------------------------------------- */

int64_t skeleton_ahead(const Kernel *k) {
    int64_t ahead = 0, in_turn = skeleton_rows_in_turn(k);
    if (!k->prefetches || k->skeleton != SKELETON_TILE || !k->rows || !windows_overlap(k->body))
        return 0;
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        if (!s->per || step_gathers(k->body, i))
            continue;
        int64_t rows = round_up(round_up(ITERATIONS_AHEAD, in_turn) * k->parts, s->per);
        ahead = rows > ahead ? rows : ahead;
    }
    return ahead < skeleton_rows_per_worker(k, k->rows) ? ahead : 0;
}

bool step_is_ahead(const Kernel *k, int step) {
    const Step *s = &k->body->steps[step];
    if (!skeleton_ahead(k) || s->kind != STEP_LOAD || s->col_map != COL_SAME ||
        step_level(k->body, step) != LEVEL_ELEMENT || step_before_rows(k, step) ||
        step_gathers(k->body, step))
        return false;
    return s->per || (s->row_index < 0 && value_rows(s->value) == k->body->rows);
}

int64_t step_moves(const Kernel *k, int step) {
    const Step *s = &k->body->steps[step];
    return s->per ? skeleton_ahead(k) / s->per * s->moves : skeleton_ahead(k);
}

int skeleton_lanes_ahead(const Kernel *k) {
    int64_t widest = 1;
    for (int i = 0; i < k->body->count; i++)
        if (step_is_ahead(k, i)) {
            int64_t bytes = (int64_t)k->vector * dtype_bytes(k->body->steps[i].value->dtype);
            widest = bytes > widest ? bytes : widest;
        }
    return widest < SECTOR ? (int)(SECTOR / widest) : 1;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static bool aligned(const Value *v, int vector, bool strided) {
    int64_t size = dtype_bytes(v->dtype), access = vector * size < 16 ? vector * size : 16;
    return v->offset * size % access == 0 && (!strided || v->row_stride * size % access == 0);
}

static bool map_keeps_runs(const Step *s, int vector) {
    if (s->col_map == COL_SAME)
        return true;
    if (step_shares(s))
        return vector % s->period == 0;
    if (s->col_map == COL_RESHAPED)
        return value_cols(s->value) % vector == 0;
    return (s->col_map == COL_MODULO ? s->period : s->period / 2) % vector == 0;
}

int step_width(const Kernel *k, int step) {
    const Step *s = &k->body->steps[step];
    return step_shares(s) ? k->vector / (int)s->period : k->vector;
}

bool step_is_vector(const Kernel *k, int step) {
    const Body *body = k->body;
    const Step *s = &body->steps[step];
    if (k->vector == 1 || !step_per_column(body, step) || !map_keeps_runs(s, k->vector))
        return false;
    if (step_gathers(body, step))
        return false;
    if (value_lies_flat(body, s->value))
        return s->value->row_stride == 1 && aligned(s->value, k->vector, false);
    bool strided =
        value_rows(s->value) > 1 && !(k->skeleton == SKELETON_FLAT && body_is_linear(body));
    return aligned(s->value, step_width(k, step), strided);
}

/* Whether the step's value at the first column of each vector is a multiple of n. */
static bool is_multiple_of(const Kernel *k, int step, int n) {
    const Step *s = &k->body->steps[step];
    switch (s->kind) {
    case STEP_CONST:
        return (int64_t)s->constant % n == 0;
    case STEP_COL:
        return k->vector % n == 0;
    case STEP_CAST:
        return is_multiple_of(k, s->arg[0], n);
    case STEP_MUL:
        return is_multiple_of(k, s->arg[0], n) || is_multiple_of(k, s->arg[1], n);
    case STEP_ADD:
        return is_multiple_of(k, s->arg[0], n) && is_multiple_of(k, s->arg[1], n);
    default:
        return false;
    }
}

int step_draws(const Kernel *k, int step) {
    const Step *s = &k->body->steps[step];
    int together = k->vector < 4 ? k->vector : 4;
    bool fits = s->kind == STEP_UNIFORM && step_per_column(k->body, step) &&
                is_multiple_of(k, s->arg[2], together);
    return fits ? together : 1;
}

bool step_draws_vector(const Kernel *k, int step) { return step_draws(k, step) > 1; }

/* A vector takes one exponential more than its elements would, which must pay. */
bool step_reduces_vector(const Kernel *k, int step) {
    return k->body->steps[step].kind == STEP_ROW_LSE && k->vector >= 4;
}

/* The limit is below 2^31, since indices of the last block's threads run past the last element. */
bool kernel_needs_long(const Kernel *k) {
    const int64_t limit = ((int64_t)1 << 31) - (1 << 16);
    if (!k->rows || k->body->rows * k->body->cols >= limit)
        return true;
    for (int i = 0; i < k->body->count; i++) {
        const Step *s = &k->body->steps[i];
        bool accesses = s->kind == STEP_LOAD || step_writes(s->kind);
        if (accesses && value_rows(s->value) * s->value->row_stride >= limit)
            return true;
    }
    return false;
}
