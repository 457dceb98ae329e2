/* Frozen weights of few bits (QLoRA: Dettmers, Pagnoni, Holtzman, Zettlemoyer, arXiv 2305.14314):
 * STATE keeps the linears of the layers as codes and the absmax of each block, which with double
 * quantisation are codes themselves; whatever reads such a weight decodes it into scratch first. Of
 * 8-bit integers a block is a row.
 *
 * Requires a lowered program, for it looks at places alone: a product may read a weight together
 * with what else lies in its storage, beside or below it, as bordered weights have it. That
 * moves into storages of its own, and is copied beside the decoded weight. `load` fetches the
 * weights one by one into scratch and quantises them there, so the model is never whole in its
 * own dtype; or the model's files have them in this form, and there is no load. Before recompute: a
 * product that is done again decodes again.
 *
 * Of a weight that ranks share out each has the blocks of its part, which are those of one card.
 * What belongs to more than a rank's blocks, the mean of absmax and its second level, or the scale of
 * a row that is cut, comes of all ranks' and is the same on each. */
#include "pass/pass.h"

#include "pass/quantize.h"
#include "pass/quantize_maps.h"
#include "pass/tensor.h"

#include <string.h>

enum { ABSMAX_BLOCK = 256 }; /* of double quantisation */

/* What is kept of a weight. */
typedef struct {
    Param *param;
    int64_t row, rows;       /* of its storage */
    Value *codes, *absmax;   /* [R,C/2], or [R,C] of integers; [B,1] */
    Value *offset, *absmax2; /* NULL without double quantisation */
    Value *place;            /* of the rank among those that share the weight out; or NULL */
    Attr attr;               /* which blocks the rank has, and how absmax is blocked */
} Packed;

/* A storage of weights that are gone: their rows one below the other from its start, what was beside
 * and below them elsewhere. */
typedef struct {
    Storage *storage;
    int64_t row_stride, rows, cols; /* of the weights */
    Value *right, *below;           /* NULL: nothing is there */
    Value *decoded;                 /* by the last reader in forward, for backward; or NULL */
    Packed *packed;
    int count, capacity;
} Home;

typedef struct {
    Program *program;
    const Spec *spec;
    Pos pos;
    Home *homes; /* by storage id; count 0: holds no such weight */
    int storage_count;
    bool keeps;                /* backward reads what forward decoded */
    Value *map, *bounds;       /* of the 4-bit type */
    Value *order;              /* of its codes; NULL: the map is ascending */
    Value *map_u8, *bounds_u8; /* of the absmax; NULL without double quantisation */
} Quantizer;

/* ---- which weights --------------------------------------------------------------------------- */

/* Embeddings read it, or logits are made with it. */
static bool is_outer(const Program *p, const Value *weight) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++) {
        const Op *op = graph->ops[i];
        bool head = op->observe && strcmp(op->observe, "logits") == 0;
        if ((head || op->kind == OP_embedding) && value_overlaps(op->in[1], weight))
            return true;
    }
    return false;
}

/* As bitsandbytes in transformers: every linear but the head. */
bool quantize_takes(const Program *p, const Spec *spec, const Param *param) {
    const Value *w = param->weight;
    return spec->quantization.quant_type != QUANT_NONE && w->role == ROLE_FROZEN && w->rank == 2 &&
           !is_outer(p, w);
}

static bool in_rows(const Quantizer *q) { return q->spec->quantization.quant_type == QUANT_INT8; }

static void check_blocks(const Quantizer *q, const Param *param) {
    int64_t size = q->spec->quantization.block_size, elements = value_elements(param->weight);
    ENSURE(in_rows(q) || (elements % size == 0 && value_cols(param->weight) % 2 == 0),
           "%s is no whole blocks", param->file_name);
    ENSURE(elements <= INT32_MAX, "%s has too many elements to quantise", param->file_name);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static Value *kept(const Quantizer *q, const Param *param, const char *what, DType dtype,
                   int64_t rows, int64_t cols) {
    const char *name = arena_printf(q->program->arena, "%s.%s", param->weight->name, what);
    return value_2d(q->program, name, ROLE_FROZEN, dtype, rows, cols, q->pos);
}

/* Of 4-bit codes. */
static void keep_blocks(const Quantizer *q, Packed *packed) {
    Param *param = packed->param;
    int64_t rows = packed->rows, cols = value_cols(param->weight);
    int64_t blocks = rows * cols / q->spec->quantization.block_size;
    bool twice = q->spec->quantization.double_quant;
    packed->codes = kept(q, param, "codes", DT_U8, rows, cols / 2);
    packed->absmax = kept(q, param, "absmax", twice ? DT_U8 : DT_F32, blocks, 1);
    packed->attr.rows = ABSMAX_BLOCK;
    if (!twice)
        return;
    if (param->shard) {
        packed->place = program_place(q->program, param->shard);
        packed->attr.group = param->shard;
        int64_t runs = param->shard_axis == 1 ? rows : param->shard_runs ? param->shard_runs : 1;
        packed->attr.span = blocks / runs;
    }
    int64_t all = blocks * mesh_ranks(&q->program->mesh, param->shard);
    int64_t blocks2 = (all + ABSMAX_BLOCK - 1) / ABSMAX_BLOCK;
    packed->offset = kept(q, param, "absmax_offset", DT_F32, 1, 1);
    packed->absmax2 = kept(q, param, "absmax2", DT_F32, blocks2, 1);
}

static Packed packed_of(const Quantizer *q, Param *param) {
    const Value *w = param->weight;
    int64_t rows = value_rows(w);
    Packed packed = {.param = param, .row = w->offset / w->row_stride, .rows = rows};
    if (in_rows(q)) {
        packed.codes = kept(q, param, "codes", DT_I8, rows, value_cols(w));
        packed.absmax = kept(q, param, "absmax", DT_F32, rows, 1);
    } else {
        keep_blocks(q, &packed);
    }
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

static Op *decode_rows(const Quantizer *q, Graph *graph, const Packed *packed, Value *out) {
    return op_add_into(q->program, graph, OP_decode_rows, out->name,
                       (Value *[]){packed->codes, packed->absmax}, 2, &out, 1, packed->attr, q->pos);
}

static Op *decode_blocks(const Quantizer *q, Graph *graph, const Packed *packed, Value *out) {
    int64_t blocks = value_rows(packed->absmax), bytes = value_elements(packed->codes);
    Value *codes = value_reshaped(q->program, packed->codes, blocks, bytes / blocks);
    Value *in[] = {codes,           packed->absmax, q->map, packed->offset,
                   packed->absmax2, q->map_u8,      packed->place};
    int in_count = packed->place ? 7 : packed->offset ? 6 : 3;
    return op_add_into(q->program, graph, OP_decode_4bit, out->name, in, in_count, &out, 1,
                       packed->attr, q->pos);
}

static void add_decode(const Reading *r, const Packed *packed) {
    const Quantizer *q = r->q;
    const char *name = arena_printf(q->program->arena, "%s.decoded", packed->param->weight->name);
    Value *out = part_of(r, packed->row - r->first, packed->rows, 0, r->home->cols, name);
    Op *op = (in_rows(q) ? decode_rows : decode_blocks)(q, r->graph, packed, out);
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

/* Fills scratch with what the view has. */
static Value *decode_anew(const Quantizer *q, Graph *graph, const Op *op, Value *view) {
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

/* The storage with all that lies beside the weights: backward reads other parts of it. */
static Value *all_of(const Quantizer *q, const Home *home, Value *view) {
    int64_t all = home->storage->bytes / dtype_bytes(view->dtype) / home->row_stride;
    Value *whole = value_alias(q->program, view, view->name);
    whole->offset = 0;
    whole->dim[0] = all;
    whole->dim[1] = home->row_stride;
    return whole;
}

/* Of a step that keeps what it decodes, forward decodes all that backward may read; but not for what
 * reads less than whole rows, as a reference without its adapter does: backward reads nothing of it. */
static Value *decoded(const Quantizer *q, Graph *graph, const Op *op, Value *view, bool forward) {
    Home *home = &q->homes[view->storage->id];
    bool shared = forward ? value_cols(view) == home->row_stride : home->decoded != NULL;
    if (!q->keeps || graph != &q->program->entry[ENTRY_MICRO_STEP] || !shared)
        return decode_anew(q, graph, op, view);
    if (forward)
        home->decoded = decode_anew(q, graph, op, all_of(q, home, view));
    Value *rows = value_row_range(q->program, home->decoded, view->offset / home->row_stride,
                                  value_rows(view), home->decoded->name);
    return value_columns(q->program, rows, 0, value_cols(view), rows->name);
}

static bool is_packed(const Quantizer *q, const Value *v) {
    return v->storage->id < q->storage_count && q->homes[v->storage->id].count > 0;
}

/* What STATE has in place of a weight. */
static Value *codes_of(const Quantizer *q, const Value *weight) {
    const Home *home = &q->homes[weight->storage->id];
    for (int i = 0; i < home->count; i++)
        if (home->packed[i].param->weight == weight)
            return home->packed[i].codes;
    ENSURE(false, "%s is no weight", weight->name);
}

static void rewrite_readers(const Quantizer *q, Graph *graph) {
    Op **ops = graph->ops;
    int count = graph->op_count;
    bool forward = graph == &q->program->entry[ENTRY_MICRO_STEP];
    const Op *loss = forward ? graph_producer(graph, q->program->loss_of_micro_step) : NULL;
    graph_set_ops(q->program, graph, NULL, 0);
    for (int i = 0; i < count; i++) {
        forward &= ops[i] != loss;
        for (int k = 0; k < ops[i]->in_count; k++)
            if (is_packed(q, ops[i]->in[k]))
                ops[i]->in[k] = ops[i]->kind == OP_export
                                    ? codes_of(q, ops[i]->in[k])
                                    : decoded(q, graph, ops[i], ops[i]->in[k], forward);
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
                       packed->attr, q->pos)
        ->out[0];
}

/* Of all blocks of the weight, whichever rank has them, in the order of its elements. */
static Value *absmax_of_all(const Quantizer *q, const Packed *packed, Value *absmax) {
    Program *p = q->program;
    if (!packed->place)
        return absmax;
    int64_t ranks = mesh_ranks(&p->mesh, packed->attr.group), span = packed->attr.span;
    int64_t blocks = value_rows(absmax), runs = blocks / span;
    Value *gathered = load_op(q, packed, OP_all_gather, "absmax_gathered", &absmax, 1, NULL);
    if (runs == 1)
        return gathered;
    gathered = value_reshaped(p, gathered, ranks * runs, span);
    const char *name = arena_printf(p->arena, "%s.absmax_of_all", packed->param->weight->name);
    Value *all = value_2d(p, name, ROLE_ACTIVATION, DT_F32, runs, ranks * span, q->pos);
    for (int64_t i = 0; i < ranks; i++) {
        Value *from = value_row_range(p, gathered, i * runs, runs, name);
        load_op(q, packed, OP_cast, "absmax_in_order", &from, 1,
                value_columns(p, all, i * span, span, name));
    }
    return value_reshaped(p, all, ranks * blocks, 1);
}

static void quantize_absmax(const Quantizer *q, const Packed *packed, Value *absmax) {
    Value *all = absmax_of_all(q, packed, absmax);
    Value *row = value_reshaped(q->program, all, 1, value_rows(all));
    Value *offset = writable(q, packed->offset, 1, 1);
    offset->rank = 1;
    offset->dim[0] = 1;
    load_op(q, packed, OP_mean, "absmax_offset", &row, 1, offset);
    Value *absmax2 = writable(q, packed->absmax2, value_rows(packed->absmax2), 1);
    load_op(q, packed, OP_block_absmax, "absmax2", (Value *[]){all, offset}, 2, absmax2);
    load_op(q, packed, OP_quantize_absmax, "absmax",
            (Value *[]){absmax, offset, absmax2, q->bounds_u8, packed->place}, packed->place ? 5 : 4,
            writable(q, packed->absmax, value_rows(absmax), 1));
}

/* The weight, in scratch from its arrival until it is quantised. */
static Value *staging_of(const Quantizer *q, const Packed *packed) {
    const Value *w = packed->param->weight;
    return value_2d(q->program, w->name, ROLE_ACTIVATION, w->dtype, value_rows(w), value_cols(w),
                    q->pos);
}

/* Of whole rows, of which ranks may have columns. */
static void row_absmax(const Quantizer *q, const Packed *packed, Value *w, Value *out) {
    const Param *param = packed->param;
    bool of_ranks = param->shard && param->shard_axis == 1;
    Value *own = load_op(q, packed, OP_block_absmax, "absmax", &w, 1, of_ranks ? NULL : out);
    if (of_ranks)
        tensor_absmax(q->program, &q->program->entry[ENTRY_LOAD], param->weight->name, own,
                      param->shard, out, q->pos);
}

/* From their fp16, as bitsandbytes makes them of weights of any type. */
static void load_rows(const Quantizer *q, const Packed *packed, Value *fetched) {
    int64_t rows = value_rows(fetched), cols = value_cols(fetched);
    Value *half = value_2d(q->program, arena_printf(q->program->arena, "%s.half", fetched->name),
                           ROLE_ACTIVATION, DT_F16, rows, cols, q->pos);
    Value *absmax = writable(q, packed->absmax, rows, 1);
    load_op(q, packed, OP_cast, "half", &fetched, 1, half);
    row_absmax(q, packed, half, absmax);
    load_op(q, packed, OP_quantize_rows, "codes", (Value *[]){half, absmax}, 2,
            writable(q, packed->codes, rows, cols));
}

static void load_blocks(const Quantizer *q, const Packed *packed, Value *fetched) {
    Program *p = q->program;
    const Value *w = fetched;
    int64_t size = q->spec->quantization.block_size, elements = value_elements(w);
    Value *blocks = value_reshaped(p, fetched, elements / size, size);
    Value *pairs = value_reshaped(p, fetched, elements / 2, 2);
    Value *to = packed->offset ? NULL : writable(q, packed->absmax, elements / size, 1);
    Value *absmax = load_op(q, packed, OP_block_absmax, "absmax_whole", &blocks, 1, to);
    Value *in[] = {value_columns(p, pairs, 0, 1, arena_printf(p->arena, "%s.even", w->name)),
                   value_columns(p, pairs, 1, 1, arena_printf(p->arena, "%s.odd", w->name)), absmax,
                   q->bounds, q->order};
    load_op(q, packed, OP_quantize_4bit, "codes", in, q->order ? 5 : 4,
            writable(q, packed->codes, elements / 2, 1));
    if (packed->offset)
        quantize_absmax(q, packed, absmax);
}

/* As files have it. */
static void add_form(const Quantizer *q, const Packed *packed) {
    PackedForm *form = arena_alloc(q->program->arena, sizeof *form);
    *form = (PackedForm){.type = choice_name(KEY_quantization_quant_type,
                                             (int)q->spec->quantization.quant_type),
                         .block = q->spec->quantization.block_size,
                         .nested_block = ABSMAX_BLOCK,
                         .absmax = packed->absmax,
                         .map = q->map,
                         .offset = packed->offset,
                         .nested_absmax = packed->absmax2,
                         .nested_map = q->map_u8,
                         .in_file = q->spec->weights_quantized};
    packed->param->packed = form;
}

/* Where files have it in this form already, nothing reads the weight, which then has no place. */
static void keep_packed(const Quantizer *q, const Packed *packed) {
    Value *w = staging_of(q, packed);
    if (!q->spec->weights_quantized)
        (in_rows(q) ? load_rows : load_blocks)(
            q, packed, load_op(q, packed, OP_fetch, "fetch", &packed->codes, 1, w));
    packed->param->weight = packed->param->master = w;
    packed->param->stored = packed->codes;
    packed->param->scales = packed->absmax2 ? packed->absmax2 : packed->absmax;
    if (!in_rows(q))
        add_form(q, packed);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static Value *table(Program *p, const char *name, const double *data, DType dtype, int count) {
    Value *v = value_2d(p, name, ROLE_CONSTANT, dtype, count, 1, (Pos){0});
    v->data = data;
    return v;
}

static void add_absmax_codes(Quantizer *q) {
    Program *p = q->program;
    const double *map = dynamic_map(p->arena, true);
    q->map_u8 = table(p, "absmax_map", map, DT_F32, DYNAMIC_CODES);
    q->bounds_u8 = table(p, "absmax_bounds", map_bounds(p->arena, map, DYNAMIC_CODES), DT_F32,
                         DYNAMIC_CODES - 1);
}

static void add_codes(Quantizer *q) {
    Program *p = q->program;
    bool fp4 = q->spec->quantization.quant_type == QUANT_FP4;
    const double *map = fp4 ? fp4_map(p->arena) : nf4_map();
    const double *bounds =
        fp4 ? fp4_bounds(p->arena) : map_bounds(p->arena, map, CODES_4BIT);
    q->map = table(p, fp4 ? "fp4_map" : "nf4_map", map, DT_F32, CODES_4BIT);
    q->bounds = table(p, fp4 ? "fp4_bounds" : "nf4_bounds", bounds, DT_F32, CODES_4BIT - 1);
    if (fp4)
        q->order = table(p, "fp4_order", fp4_order(), DT_U8, CODES_4BIT);
    if (q->spec->quantization.double_quant)
        add_absmax_codes(q);
}

/* Ahead of what load makes of weights that are there. */
static void keep_all(const Quantizer *q) {
    Program *p = q->program;
    Graph *load = &p->entry[ENTRY_LOAD];
    Op **ops = load->ops;
    int count = load->op_count;
    graph_set_ops(p, load, NULL, 0);
    for (int i = 0; i < q->storage_count; i++)
        for (int k = 0; k < q->homes[i].count; k++)
            keep_packed(q, &q->homes[i].packed[k]);
    for (int i = 0; i < count; i++)
        graph_add(p, load, ops[i]);
}

bool pass_quantize(Program *p, const Spec *spec) {
    if (spec->quantization.quant_type == QUANT_NONE)
        return false;
    Quantizer q = {.program = p, .spec = spec, .storage_count = p->storage_count};
    q.keeps = p->keeps_decoded = spec->quantization.keep_decoded != KEEP_FALSE;
    q.pos = spec_pos(spec, KEY_quantization_quant_type);
    q.homes = arena_array(p->arena, (size_t)p->storage_count, sizeof *q.homes);
    if (!in_rows(&q))
        add_codes(&q);
    for (int i = 0; i < p->param_count; i++)
        if (quantize_takes(p, spec, &p->params[i]))
            add_packed(&q, &p->params[i]);
    for (int i = 0; i < q.storage_count; i++)
        if (q.homes[i].count)
            empty_home(&q, &q.homes[i]);
    for (int e = 0; e < ENTRY_COUNT; e++)
        rewrite_readers(&q, &p->entry[e]);
    keep_all(&q);
    return true;
}
