/* Quantised frozen weights (QLoRA: Dettmers, Pagnoni, Holtzman, Zettlemoyer, arXiv 2305.14314):
 * STATE keeps the weights of the layers' linears as codes and the absmax of each block; with double
 * quantisation, absmax are codes too. Every reader of such a weight decodes it into scratch first.
 * With 8-bit integers, a block is a row.
 *
 * Requires a lowered program, because it looks only at places in memory: a product may read a
 * weight together with other parts of its storage, to the right of it or below, as with bordered
 * weights. Those parts move into storages of their own and are copied next to the decoded weight.
 * `load` fetches the weights one by one into scratch and quantises them there, so the whole model
 * never exists in its own dtype; if the model's files hold quantised weights, load does nothing for
 * them. Before recompute: a recomputed product decodes again.
 *
 * If ranks share out a weight, each has the blocks of its part, and these equal the blocks on one
 * card. Values that cover blocks of several ranks - the mean of absmax, its second level, or the
 * scale of a row that is cut - are computed from all ranks' blocks and are the same on each. */
#include "pass/quantize.h"

#include "base/rounding.h"
#include "pass/pass.h"
#include "pass/quantize_maps.h"

#include <string.h>

/* ---- which weights --------------------------------------------------------------------------- */

/* Whether the weight is an embedding table or computes the logits. */
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

/* Every linear but the head, as with bitsandbytes in transformers. */
bool quantize_takes(const Program *p, const Spec *spec, const Param *param) {
    const Value *w = param->weight;
    return spec->quantization.quant_type != QUANT_NONE && w->role == ROLE_FROZEN && w->rank == 2 &&
           !is_outer(p, w);
}

bool quantize_in_rows(const Quantizer *q) { return q->spec->quantization.quant_type == QUANT_INT8; }

static void check_blocks(const Quantizer *q, const Param *param) {
    int64_t size = q->spec->quantization.block_size, elements = value_elements(param->weight);
    ENSURE(quantize_in_rows(q) || (elements % size == 0 && value_cols(param->weight) % 2 == 0),
           "%s is no whole blocks", param->file_name);
    ENSURE(elements <= INT32_MAX, "%s has too many elements to quantise", param->file_name);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static Value *kept(const Quantizer *q, const Param *param, const char *what, DType dtype,
                   int64_t rows, int64_t cols) {
    const char *name = arena_printf(q->program->arena, "%s.%s", param->weight->name, what);
    return value_2d(q->program, name, ROLE_FROZEN, dtype, rows, cols, q->pos);
}

/* Makes the values of a weight with 4-bit codes. */
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
        packed->group_rank = program_group_rank(q->program, param->shard);
        packed->attr.group = param->shard;
        int64_t runs = param->shard_axis == 1 ? rows : param->shard_runs ? param->shard_runs : 1;
        packed->attr.span = blocks / runs;
    }
    int64_t all = blocks * mesh_ranks(&q->program->mesh, param->shard);
    int64_t blocks2 = ceil_div(all, ABSMAX_BLOCK);
    packed->offset = kept(q, param, "absmax_offset", DT_F32, 1, 1);
    packed->absmax2 = kept(q, param, "absmax2", DT_F32, blocks2, 1);
}

static Packed packed_of(const Quantizer *q, Param *param) {
    const Value *w = param->weight;
    int64_t rows = value_rows(w);
    Packed packed = {.param = param, .row = w->offset / w->row_stride, .rows = rows};
    if (quantize_in_rows(q)) {
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

/* ---- what shares a storage with the weights -------------------------------------------------- */

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

/* Views that lie entirely to the right of the weights or below them move; the others stay, for
 * their readers to be rewritten. */
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
    const double *bounds = fp4 ? fp4_bounds(p->arena) : map_bounds(p->arena, map, CODES_4BIT);
    q->map = table(p, fp4 ? "fp4_map" : "nf4_map", map, DT_F32, CODES_4BIT);
    q->bounds = table(p, fp4 ? "fp4_bounds" : "nf4_bounds", bounds, DT_F32, CODES_4BIT - 1);
    if (fp4)
        q->order = table(p, "fp4_order", fp4_order(), DT_U8, CODES_4BIT);
    if (q->spec->quantization.double_quant)
        add_absmax_codes(q);
}

static const char naming[] =
    "Of X_bordered, only X_bordered_right (sB) and X_bordered_below (A) stay; W is in few bits.\n";

bool pass_quantize(Program *p, const Spec *spec) {
    if (spec->quantization.quant_type == QUANT_NONE)
        return false;
    Quantizer q = {.program = p, .spec = spec, .storage_count = p->storage_count};
    q.keeps = p->keeps_decoded = spec->quantization.keep_decoded != KEEP_FALSE;
    q.pos = spec_pos(spec, KEY_quantization_quant_type);
    q.homes = arena_array(p->arena, (size_t)p->storage_count, sizeof *q.homes);
    if (!quantize_in_rows(&q))
        add_codes(&q);
    for (int i = 0; i < p->param_count; i++)
        if (quantize_takes(p, spec, &p->params[i]))
            add_packed(&q, &p->params[i]);
    for (int i = 0; i < q.storage_count; i++)
        if (q.homes[i].count)
            empty_home(&q, &q.homes[i]);
    for (int e = 0; e < ENTRY_COUNT; e++)
        quantize_readers(&q, &p->entry[e]);
    quantize_load(&q);
    if (p->naming)
        p->naming = arena_printf(p->arena, "%s%s", p->naming, naming);
    return true;
}
