/* Frozen weights of few bits (QLoRA: Dettmers, Pagnoni, Holtzman, Zettlemoyer, arXiv 2305.14314):
 * STATE keeps the linears of the layers as codes and the absmax of each block, which with double
 * quantisation are codes themselves; whatever reads such a weight decodes it into scratch first.
 *
 * Requires a lowered program, for it looks at places alone: a product may read a weight together
 * with what else lies in its storage, beside or below it, as bordered weights have it. That
 * moves into storages of its own, and is copied beside the decoded weight. `load` fetches the
 * weights one by one into scratch and quantises them there, so the model is never whole in its
 * own dtype. Before recompute: a product that is done again decodes again. */
#include "pass/pass.h"

#include "pass/quantize_maps.h"

#include <string.h>

enum { ABSMAX_BLOCK = 256 }; /* of double quantisation */

/* What is kept of a weight. */
typedef struct {
    Param *param;
    int64_t row, rows;       /* of its storage */
    Value *codes, *absmax;   /* [R,C/2], [B,1] */
    Value *offset, *absmax2; /* NULL without double quantisation */
} Packed;

/* A storage of weights that are gone: their rows one below the other from its start, what was beside
 * and below them elsewhere. */
typedef struct {
    Storage *storage;
    int64_t row_stride, rows, cols; /* of the weights */
    Value *right, *below;           /* NULL: nothing is there */
    Packed *packed;
    int count, capacity;
} Home;

typedef struct {
    Program *program;
    const Spec *spec;
    Pos pos;
    Home *homes; /* by storage id; count 0: holds no such weight */
    int storage_count;
    Value *map, *bounds;       /* of NF4 */
    Value *map_u8, *bounds_u8; /* of the absmax; NULL without double quantisation */
} Quantizer;

/* ---- which weights --------------------------------------------------------------------------- */

static bool is_embedding(const Program *p, const Value *weight) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        if (graph->ops[i]->kind == OP_embedding && graph->ops[i]->in[1] == weight)
            return true;
    return false;
}

/* As bitsandbytes in transformers: every linear but the head. */
static bool is_chosen(const Program *p, const Param *param) {
    const Value *w = param->weight;
    return w->role == ROLE_FROZEN && w->rank == 2 && !is_embedding(p, w) &&
           strcmp(param->file_name, "lm_head.weight") != 0;
}

static void check_blocks(const Quantizer *q, const Param *param) {
    int64_t size = q->spec->quantization.block_size, elements = value_elements(param->weight);
    ENSURE(elements % size == 0 && value_cols(param->weight) % 2 == 0, "%s is no whole blocks",
           param->file_name);
    ENSURE(elements <= INT32_MAX, "%s has too many elements to quantise", param->file_name);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static Value *kept(const Quantizer *q, const Param *param, const char *what, DType dtype,
                   int64_t rows, int64_t cols) {
    const char *name = arena_printf(q->program->arena, "%s.%s", param->weight->name, what);
    return value_2d(q->program, name, ROLE_FROZEN, dtype, rows, cols, q->pos);
}

static Packed packed_of(const Quantizer *q, Param *param) {
    const Value *w = param->weight;
    int64_t rows = value_rows(w), cols = value_cols(w);
    int64_t blocks = rows * cols / q->spec->quantization.block_size;
    bool twice = q->spec->quantization.double_quant;
    Packed packed = {.param = param, .row = w->offset / w->row_stride, .rows = rows};
    packed.codes = kept(q, param, "codes", DT_U8, rows, cols / 2);
    packed.absmax = kept(q, param, "absmax", twice ? DT_U8 : DT_F32, blocks, 1);
    if (!twice)
        return packed;
    int64_t blocks2 = (blocks + ABSMAX_BLOCK - 1) / ABSMAX_BLOCK;
    packed.offset = kept(q, param, "absmax_offset", DT_F32, 1, 1);
    packed.absmax2 = kept(q, param, "absmax2", DT_F32, blocks2, 1);
    return packed;
}

static void add_packed(Quantizer *q, Param *param) {
    const Value *w = param->weight;
    Home *home = &q->homes[w->storage->id];
    check_blocks(q, param);
    ENSURE(w->offset % w->row_stride == 0, "%s has something on its left", w->name);
    ENSURE(!home->count || home->cols == value_cols(w), "%s is narrower than its storage", w->name);
    home->storage = w->storage;
    home->row_stride = w->row_stride;
    home->cols = value_cols(w);
    home->rows += value_rows(w);
    home->packed = arena_grow(q->program->arena, home->packed, home->count, &home->capacity,
                              sizeof *home->packed);
    home->packed[home->count++] = packed_of(q, param);
}

/* ---- what lies beside the weights ------------------------------------------------------------ */

static Value *strip(const Quantizer *q, const Home *home, const char *where, const Value *like,
                    int64_t rows, int64_t cols) {
    const char *name = arena_printf(q->program->arena, "%s.%s", home->storage->name, where);
    if (rows <= 0 || cols <= 0)
        return NULL;
    return value_2d(q->program, name, ROLE_FROZEN, like->dtype, rows, cols, q->pos);
}

static void move_view(Value *v, const Value *to, int64_t row, int64_t col) {
    v->storage = to->storage;
    v->offset = row * to->row_stride + col;
    v->row_stride = to->row_stride;
    v->next_view = to->storage->views;
    to->storage->views = v;
}

/* Views of the right or of what is below alone go with it; the others stay, for their readers. */
static void empty_home(const Quantizer *q, Home *home) {
    const Value *like = home->packed[0].param->weight;
    int64_t all = home->storage->bytes / dtype_bytes(like->dtype) / home->row_stride;
    home->right = strip(q, home, "right", like, home->rows, home->row_stride - home->cols);
    home->below = strip(q, home, "below", like, all - home->rows, home->cols);
    Value *view = home->storage->views;
    home->storage->views = NULL;
    while (view) {
        Value *v = view;
        int64_t row = v->offset / home->row_stride, col = v->offset % home->row_stride;
        view = v->next_view;
        if (col >= home->cols && row < home->rows) {
            move_view(v, home->right, row, col - home->cols);
        } else if (row >= home->rows && col + value_cols(v) <= home->cols) {
            move_view(v, home->below, row - home->rows, col);
        } else {
            v->next_view = home->storage->views;
            home->storage->views = v;
        }
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A part of what an op reads, decoded; rows and columns from the view's own first. */
typedef struct {
    const Quantizer *q;
    const Home *home;
    Graph *graph;
    Op *after; /* so that it is decoded neither long before nor for two readers at once; or NULL */
    Value *view, *decoded;
    int64_t first, end; /* the view's rows in its storage */
} Reading;

static Value *part_of(const Reading *r, int64_t row, int64_t rows, int64_t col, int64_t cols,
                      const char *name) {
    Value *part = value_row_range(r->q->program, r->decoded, row, rows, name);
    return value_columns(r->q->program, part, col, cols, name);
}

static void add_decode(const Reading *r, const Packed *packed) {
    const Quantizer *q = r->q;
    const char *name = arena_printf(q->program->arena, "%s.decoded", packed->param->weight->name);
    int64_t blocks = value_rows(packed->absmax), bytes = value_elements(packed->codes);
    Value *codes = value_reshaped(q->program, packed->codes, blocks, bytes / blocks);
    Value *in[] = {codes, packed->absmax, q->map, packed->offset, packed->absmax2, q->map_u8};
    Value *out = part_of(r, packed->row - r->first, packed->rows, 0, r->home->cols, name);
    Op *op = op_add_into(q->program, r->graph, OP_decode_nf4, name, in, packed->offset ? 6 : 3,
                         &out, 1, (Attr){.rows = ABSMAX_BLOCK}, q->pos);
    op->after = r->after;
}

static void add_copy(const Reading *r, Value *from, Value *to) {
    Op *op = op_add_into(r->q->program, r->graph, OP_cast, to->name, &from, 1, &to, 1, (Attr){0},
                         r->q->pos);
    op->after = r->after;
}

static void add_right(const Reading *r) {
    const Home *home = r->home;
    Program *p = r->q->program;
    int64_t rows = (r->end < home->rows ? r->end : home->rows) - r->first;
    int64_t cols = value_cols(r->view) - home->cols;
    const char *name = arena_printf(p->arena, "%s.right", r->decoded->name);
    if (cols <= 0)
        return;
    Value *from = value_row_range(p, home->right, r->first, rows, name);
    add_copy(r, value_columns(p, from, 0, cols, name), part_of(r, 0, rows, home->cols, cols, name));
}

static void add_below(const Reading *r) {
    const Home *home = r->home;
    Program *p = r->q->program;
    int64_t rows = r->end - home->rows;
    const char *name = arena_printf(p->arena, "%s.below", r->decoded->name);
    if (rows <= 0)
        return;
    add_copy(r, value_row_range(p, home->below, 0, rows, name),
             part_of(r, home->rows - r->first, rows, 0, home->cols, name));
}

/* Scratch with what the view has. */
static Value *decoded(const Quantizer *q, Graph *graph, const Op *op, Value *view) {
    Program *p = q->program;
    const Home *home = &q->homes[view->storage->id];
    int64_t first = view->offset / home->row_stride;
    const char *name = arena_printf(p->arena, "%s.weight_decoded", op->name);
    Value *to = value_2d(p, name, ROLE_ACTIVATION, view->dtype, value_rows(view), value_cols(view),
                         op->pos);
    Op *after = graph->op_count ? graph->ops[graph->op_count - 1] : NULL;
    Reading r = {q, home, graph, after, view, to, first, first + value_rows(view)};
    ENSURE(view->offset % home->row_stride == 0 && value_cols(view) >= home->cols,
           "%s reads columns of %s", op->name, view->name);
    for (int i = 0; i < home->count; i++)
        if (home->packed[i].row >= r.first && home->packed[i].row < r.end)
            add_decode(&r, &home->packed[i]);
    add_right(&r);
    add_below(&r);
    return to;
}

static bool is_packed(const Quantizer *q, const Value *v) {
    return v->storage->id < q->storage_count && q->homes[v->storage->id].count > 0;
}

static void rewrite_readers(const Quantizer *q, Graph *graph) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    graph_set_ops(q->program, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < ops[i]->in_count; k++)
            if (is_packed(q, ops[i]->in[k]))
                ops[i]->in[k] = decoded(q, graph, ops[i], ops[i]->in[k]);
        graph_add(q->program, graph, ops[i]);
    }
}

/* ---- loading --------------------------------------------------------------------------------- */

/* The place as an op of load writes it: nothing else may write what is frozen. */
static Value *writable(const Quantizer *q, Value *v, int64_t rows, int64_t cols) {
    Value *to = value_reshaped(q->program, v, rows, cols);
    to->role = ROLE_BUFFER;
    return to;
}

static Value *load_op(const Quantizer *q, const Packed *packed, OpKind kind, const char *what,
                      Value *const *in, int in_count, Value *out) {
    Program *p = q->program;
    const char *name = arena_printf(p->arena, "%s.%s", packed->param->weight->name, what);
    return op_add_into(p, &p->entry[ENTRY_LOAD], kind, name, in, in_count, &out, out != NULL,
                       (Attr){.rows = ABSMAX_BLOCK}, q->pos)
        ->out[0];
}

static void quantize_absmax(const Quantizer *q, const Packed *packed, Value *absmax) {
    int64_t blocks = value_rows(absmax);
    Value *row = value_reshaped(q->program, absmax, 1, blocks);
    Value *offset = writable(q, packed->offset, 1, 1);
    offset->rank = 1;
    offset->dim[0] = 1;
    load_op(q, packed, OP_mean, "absmax_offset", &row, 1, offset);
    Value *absmax2 = writable(q, packed->absmax2, value_rows(packed->absmax2), 1);
    load_op(q, packed, OP_block_absmax, "absmax2", (Value *[]){absmax, offset}, 2, absmax2);
    load_op(q, packed, OP_quantize_absmax, "absmax",
            (Value *[]){absmax, offset, absmax2, q->bounds_u8}, 4,
            writable(q, packed->absmax, blocks, 1));
}

/* The weight, in scratch from its arrival until it is quantised. */
static Value *staging_of(const Quantizer *q, const Packed *packed) {
    const Value *w = packed->param->weight;
    return value_2d(q->program, w->name, ROLE_ACTIVATION, w->dtype, value_rows(w), value_cols(w),
                    q->pos);
}

static void add_load(const Quantizer *q, const Packed *packed) {
    Program *p = q->program;
    Value *w = staging_of(q, packed);
    int64_t size = q->spec->quantization.block_size, elements = value_elements(w);
    Value *fetched = load_op(q, packed, OP_fetch, "fetch", &packed->codes, 1, w);
    Value *blocks = value_reshaped(p, fetched, elements / size, size);
    Value *pairs = value_reshaped(p, fetched, elements / 2, 2);
    Value *to = packed->offset ? NULL : writable(q, packed->absmax, elements / size, 1);
    Value *absmax = load_op(q, packed, OP_block_absmax, "absmax_whole", &blocks, 1, to);
    Value *in[] = {value_columns(p, pairs, 0, 1, arena_printf(p->arena, "%s.even", w->name)),
                   value_columns(p, pairs, 1, 1, arena_printf(p->arena, "%s.odd", w->name)), absmax,
                   q->bounds};
    load_op(q, packed, OP_quantize_nf4, "codes", in, 4,
            writable(q, packed->codes, elements / 2, 1));
    if (packed->offset)
        quantize_absmax(q, packed, absmax);
    packed->param->weight = packed->param->master = w;
    packed->param->kept = packed->codes;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static Value *table(Program *p, const char *name, const double *data, int count) {
    Value *v = value_2d(p, name, ROLE_CONSTANT, DT_F32, count, 1, (Pos){0});
    v->data = data;
    return v;
}

static void add_tables(Quantizer *q) {
    Program *p = q->program;
    const double *nf4 = nf4_map();
    q->map = table(p, "nf4_map", nf4, NF4_CODES);
    q->bounds = table(p, "nf4_bounds", map_bounds(p->arena, nf4, NF4_CODES), NF4_CODES - 1);
    if (!q->spec->quantization.double_quant)
        return;
    const double *dynamic = dynamic_map(p->arena);
    q->map_u8 = table(p, "absmax_map", dynamic, DYNAMIC_CODES);
    q->bounds_u8 =
        table(p, "absmax_bounds", map_bounds(p->arena, dynamic, DYNAMIC_CODES), DYNAMIC_CODES - 1);
}

void pass_quantize(Program *p, const Spec *spec) {
    if (spec->quantization.quant_type == QUANT_NONE)
        return;
    Quantizer q = {.program = p, .spec = spec, .storage_count = p->storage_count};
    q.pos = spec_pos(spec, KEY_quantization_quant_type);
    q.homes = arena_array(p->arena, (size_t)p->storage_count, sizeof *q.homes);
    add_tables(&q);
    for (int i = 0; i < p->param_count; i++)
        if (is_chosen(p, &p->params[i]))
            add_packed(&q, &p->params[i]);
    for (int i = 0; i < q.storage_count; i++)
        if (q.homes[i].count)
            empty_home(&q, &q.homes[i]);
    for (int e = 0; e < ENTRY_COUNT; e++)
        rewrite_readers(&q, &p->entry[e]);
    for (int i = 0; i < q.storage_count; i++)
        for (int k = 0; k < q.homes[i].count; k++)
            add_load(&q, &q.homes[i].packed[k]);
}
