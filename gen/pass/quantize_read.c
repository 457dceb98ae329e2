/* Readers of quantised weights decode them first.
 *
 * Requires that all homes have been emptied. Before each op, the view that it reads is decoded, and
 * what was to the right of the weights and below them is copied next to the decoded ones. If the
 * step keeps decoded weights, backward reads those of forward. */
#include "pass/quantize.h"

/* A view that an op reads, and its decoded copy. */
typedef struct {
    const Quantizer *q;
    const Home *home;
    Graph *graph;
    Op *after; /* decoding waits for it, so that weights are decoded late and one by one; or NULL */
    Value *view, *decoded;
    int64_t first, end; /* the view's rows in its storage */
} Reading;

/* Rows and columns count from the first ones of the view. */
static Value *part_of(const Reading *r, int64_t row, int64_t rows, int64_t col, int64_t cols,
                      const char *name) {
    Value *part = value_row_range(r->q->program, r->decoded, row, rows, name);
    return value_columns(r->q->program, part, col, cols, name);
}

static Op *decode_rows(const Quantizer *q, Graph *graph, const Packed *packed, Value *out) {
    return op_add_into(q->program, graph, OP_decode_rows, out->name,
                       (Value *[]){packed->codes, packed->absmax}, 2, &out, 1, packed->attr,
                       q->pos);
}

static Op *decode_blocks(const Quantizer *q, Graph *graph, const Packed *packed, Value *out) {
    int64_t blocks = value_rows(packed->absmax), bytes = value_elements(packed->codes);
    Value *codes = value_reshaped(q->program, packed->codes, blocks, bytes / blocks);
    Value *in[] = {codes,           packed->absmax, q->map,       packed->offset,
                   packed->absmax2, q->map_u8,      packed->group_rank};
    int in_count = packed->group_rank ? 7 : packed->offset ? 6 : 3;
    return op_add_into(q->program, graph, OP_decode_4bit, out->name, in, in_count, &out, 1,
                       packed->attr, q->pos);
}

static void add_decode(const Reading *r, const Packed *packed) {
    const Quantizer *q = r->q;
    const char *name = arena_printf(q->program->arena, "%s.decoded", packed->param->weight->name);
    Value *out = part_of(r, packed->row - r->first, packed->rows, 0, r->home->cols, name);
    Op *op = (quantize_in_rows(q) ? decode_rows : decode_blocks)(q, r->graph, packed, out);
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

/* Fills scratch with the contents of the view. */
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

/* All of the view's storage, including what is next to the weights: backward reads other parts. */
static Value *all_of(const Quantizer *q, const Home *home, Value *view) {
    int64_t all = home->storage->bytes / dtype_bytes(view->dtype) / home->row_stride;
    Value *whole = value_alias(q->program, view, view->name);
    whole->offset = 0;
    whole->dim[0] = all;
    whole->dim[1] = home->row_stride;
    return whole;
}

/* In a step that keeps decoded weights, forward decodes everything that backward may read.
 * Exception: readers of less than whole rows, such as a reference without its adapter, which has no
 * backward. */
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

/* The codes that STATE holds instead of a weight. */
static Value *codes_of(const Quantizer *q, const Value *weight) {
    const Home *home = &q->homes[weight->storage->id];
    for (int i = 0; i < home->count; i++)
        if (home->packed[i].param->weight == weight)
            return home->packed[i].codes;
    ENSURE(false, "%s is no weight", weight->name);
}

void quantize_readers(const Quantizer *q, Graph *graph) {
    bool forward = graph == &q->program->entry[ENTRY_MICRO_STEP];
    const Op *loss = forward ? graph_producer(graph, q->program->loss_of_micro_step) : NULL;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        forward &= op != loss;
        for (int k = 0; k < op->in_count; k++)
            if (is_packed(q, op->in[k]))
                op->in[k] = op->kind == OP_export ? codes_of(q, op->in[k])
                                                  : decoded(q, graph, op, op->in[k], forward);
        graph_add(q->program, graph, op);
    }
}
