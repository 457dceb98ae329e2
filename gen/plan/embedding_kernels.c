/* The gradient of an embedding: sorts places by id, then sums each id's run of places. Kernels and
 * geometry as in the template's head comment. */
#include "base/limits.h"
#include "base/rounding.h"
#include "plan/template_kernels.h"

enum {
    LARGEST_TILE = 2048, /* keys that a block sorts; its shared memory holds twice as many */
    MOST_WAYS = 8,       /* most runs that one merge joins */
    MERGE_THREADS = 256,
    SUM_THREADS = 128,
    CHUNK = 32, /* places of a run that are added sequentially */
    KEY_BYTES = 8
};

typedef struct {
    Plan *plan;
    Entry entry;
    const Op *op;
    const Value *ids, *dy, *dw;
    int64_t tokens, hidden;
    int64_t count; /* tokens, rounded up to a power of two */
    int64_t vector, column_blocks;
} Scatter;

static int bits_of(int64_t power) { return power > 1 ? 1 + bits_of(power / 2) : 0; }

static bool multiples_of(const Value *v, int64_t vector) {
    return v->offset % vector == 0 && v->row_stride % vector == 0;
}

/* Columns per thread: an access of at most 16 bytes that leaves no lane without columns. */
static int64_t vector_of(const Scatter *s) {
    int64_t vector = 16 / dtype_bytes(s->dy->dtype);
    while (vector > 1 && (s->hidden % vector || 32 * vector > s->hidden ||
                          !multiples_of(s->dy, vector) || !multiples_of(s->dw, vector)))
        vector /= 2;
    return vector;
}

static Value *scratch(const Scatter *s, const char *name, DType dtype, int64_t rows, int64_t cols) {
    Program *p = s->plan->program;
    return value_2d(p, arena_printf(p->arena, "%s.%s", s->dw->name, name), ROLE_ACTIVATION, dtype,
                    rows, cols, s->op->pos);
}

static Filling filling(const Scatter *s, const char *section, const char *name, int64_t a, int64_t b) {
    Filling f = filling_new(s->plan, s->op, "embedding_grad.cu", section);
    f.kernel.name = arena_printf(f.arena, "%s_%lldx%lld", name, (long long)a, (long long)b);
    return f;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static const Value *sort_tiles(const Scatter *s, int64_t tile) {
    const Value *keys = scratch(s, "keys", DT_I64, s->count, 1);
    Filling f = filling(s, "sort_places", "embedding_sort", s->tokens, tile);
    f.kernel.threads = tile > 128 ? (int)(tile / 4) : 32;
    fill_int(&f, "tokens", s->tokens);
    fill_int(&f, "tile", tile);
    fill_reads(&f, "ids", s->ids);
    fill_writes(&f, "keys", keys);
    fill_grid(&f, s->count / tile, 1, 1);
    fill_cost(&f, (double)(value_bytes(s->ids) + value_bytes(keys)), 0);
    fill_finish(s->plan, s->entry, &f, s->op);
    return keys;
}

static const Value *merge_runs(const Scatter *s, const Value *from, int64_t run, int64_t ways) {
    const Value *to = scratch(s, "keys", DT_I64, s->count, 1);
    Filling f = filling(s, "merge_places", "embedding_merge", s->count, run);
    f.kernel.threads = MERGE_THREADS;
    fill_int(&f, "run", run);
    fill_int(&f, "ways", ways);
    fill_reads(&f, "from", from);
    fill_writes(&f, "to", to);
    fill_grid(&f, s->count / MERGE_THREADS, 1, 1);
    int64_t compared = (ways - 1) * (bits_of(run) + 1);
    fill_cost(&f, (double)(s->count * (compared + 2) * KEY_BYTES), 0);
    fill_finish(s->plan, s->entry, &f, s->op);
    return to;
}

static const Value *sort_places(const Scatter *s) {
    int64_t run = smaller(s->count, LARGEST_TILE);
    const Value *keys = sort_tiles(s, run);
    for (int64_t ways; run < s->count; run *= ways) {
        ways = smaller(s->count / run, MOST_WAYS);
        keys = merge_runs(s, keys, run, ways);
    }
    return keys;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void fill_sum(Filling *f, const Scatter *s, const Value *keys, int64_t warps) {
    f->kernel.threads = SUM_THREADS;
    fill_text(f, "dtype", dtype_c_name(s->dy->dtype));
    fill_text(f, "acc", dtype_c_name(s->plan->program->real));
    fill_int(f, "tokens", s->tokens);
    fill_int(f, "hidden", s->hidden);
    fill_int(f, "chunk", CHUNK);
    fill_stride(f, "dy_stride", s->dy);
    fill_int(f, "vector", s->vector);
    fill_reads(f, "dy", s->dy);
    fill_reads(f, "keys", keys);
    fill_grid(f, ceil_div(warps, SUM_THREADS / 32), s->column_blocks, 1);
}

/* Upper bound: bytes of keys that all threads of a row read, if each reads `keys` keys. */
static double key_bytes(const Scatter *s, int64_t keys) {
    return (double)(s->hidden / s->vector * keys * KEY_BYTES);
}

/* The cost is an upper bound, as if every window had a chunk of its own. */
static const Value *sum_parts(const Scatter *s, const Value *keys) {
    int64_t windows = ceil_div(s->tokens, CHUNK);
    const Value *partial = scratch(s, "partial", s->plan->program->real, windows, s->hidden);
    Filling f = filling(s, "run_parts", "embedding_grad_parts", s->tokens, s->hidden);
    fill_int(&f, "count", s->count);
    fill_sum(&f, s, keys, windows);
    fill_writes(&f, "partial", partial);
    int64_t searched = windows * (bits_of(s->count) + 3);
    double rows = (double)(value_bytes(s->dy) + value_bytes(partial));
    fill_cost(&f, rows + key_bytes(s, searched + s->tokens), (double)value_elements(partial));
    fill_finish(s->plan, s->entry, &f, s->op);
    return partial;
}

/* The cost is an upper bound, as if every place had an id of its own, up to the number of ids. For
 * each id, four more keys are read than it has, and for each place two, to see where runs begin. */
static void sum_runs(const Scatter *s, const Value *keys, const Value *partial) {
    Filling f = filling(s, "run_sums", "embedding_grad", s->tokens, s->hidden);
    fill_text(&f, "grad_dtype", dtype_c_name(s->dw->dtype));
    fill_sum(&f, s, keys, s->tokens);
    fill_reads(&f, "partial", partial);
    fill_result(&f, "dw", s->dw, true);
    int64_t ids = smaller(s->tokens, value_rows(s->dw)), windows = value_rows(partial);
    double rows = (double)(value_bytes(s->dy) + value_bytes(partial)) +
                  (double)(2 * ids * s->hidden * dtype_bytes(s->dw->dtype));
    fill_cost(&f, rows + key_bytes(s, 3 * s->tokens + windows + 5 * ids),
              (double)value_elements(s->dy));
    fill_finish(s->plan, s->entry, &f, s->op);
}

/* ids, dy, dw -> dw */
void plan_embedding_grad(Plan *plan, Entry entry, const Group *group) {
    const Op *op = group->ops[0];
    Scatter s = {.plan = plan,
                 .entry = entry,
                 .op = op,
                 .ids = op->in[0],
                 .dy = op->in[1],
                 .dw = op->out[0],
                 .tokens = value_rows(op->in[0]),
                 .hidden = value_cols(op->out[0]),
                 .count = 1};
    ENSURE(value_dense(s.dw), "%s: gradient of an embedding table with a stride", op->name);
    ENSURE(s.tokens <= MOST_ROWS, "%s: more places than an int", op->name);
    while (s.count < s.tokens)
        s.count *= 2;
    s.vector = vector_of(&s);
    s.column_blocks = ceil_div(s.hidden, 32 * s.vector);
    const Value *keys = sort_places(&s);
    sum_runs(&s, keys, sum_parts(&s, keys));
}
