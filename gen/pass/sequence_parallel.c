/* Sequence parallelism (Korthikanti et al., arXiv 2205.05198): between attention and MLP, where
 * tensor parallel ranks would all compute the same, each works on rows of its own.
 *
 * Requires the results of the tensor parallelism passes, including vocab_parallel, and no gradients
 * yet. A sum over ranks becomes a reduce_scatter, which gives each rank its rows (with chunks, some
 * rows of each chunk: later ops work with any rows); ops that work row by row (norms, biases,
 * residual sums) compute only those; a spread becomes an all_gather. The two are each other's
 * gradients, and as many bytes are exchanged as before. The weight of a norm, or such a bias, sees
 * only a rank's rows, so its gradient is summed before the update. */
#include "graph/op_table.h"
#include "pass/pass.h"
#include "pass/tensor.h"

/* What a rank has of a value: all of it; its own rows; all of it, gathered, which needs no
 * spread. */
typedef enum { WHOLE, ROWS, GATHERED } Holding;

typedef struct {
    Program *program;
    Graph *graph;
    Pos pos;
    Holding *holding; /* by value id */
    Value **now;      /* by value id: what readers read instead; NULL: the value itself */
    Value **gathered; /* by value id */
    int room;
    int64_t chunks;
} Rows;

static void set(Rows *r, const Value *v, Holding holding) {
    ENSURE(v->id < r->room, "%s is one value too many", v->name);
    r->holding[v->id] = holding;
}

static Value *gather(Rows *r, Value *x) {
    Attr attr = {.group = GROUP_TENSOR, .chunks = r->chunks};
    if (!r->gathered[x->id])
        r->gathered[x->id] =
            op_add(r->program, r->graph, OP_all_gather, x->name, &x, 1, attr, r->pos)->out[0];
    set(r, r->gathered[x->id], GATHERED);
    return r->gathered[x->id];
}

static void scatter(Rows *r, const Op *op) {
    Value *in = op->in[0];
    Attr attr = {.group = GROUP_TENSOR, .chunks = r->chunks};
    Value *own =
        op_add(r->program, r->graph, OP_reduce_scatter, in->name, &in, 1, attr, r->pos)->out[0];
    set(r, own, ROWS);
    r->now[op->out[0]->id] = own;
}

static void spread(Rows *r, Op *op) {
    Holding x = r->holding[op->in[0]->id];
    if (x == WHOLE) {
        graph_add(r->program, r->graph, op);
        return;
    }
    Value *out = op->out[0];
    if (x == ROWS)
        tensor_narrow(r->program, out, 0, GROUP_TENSOR); /* an alias of x that nothing reads */
    r->now[out->id] = x == ROWS ? gather(r, op->in[0]) : op->in[0];
}

/* The number of leading operands with rows, if each row of the result depends only on the same row
 * of those (the other operands are weights); else 0. */
static int operands_with_rows(const Op *op) {
    switch (op->kind) {
    case OP_rms_norm:
    case OP_layer_norm:
    case OP_add_bias:
        return 1;
    case OP_add:
        return 2;
    default:
        return 0;
    }
}

/* Makes an op that works row by row compute only the rank's rows. */
static void split_rows(Rows *r, Op *op) {
    int count = operands_with_rows(op);
    for (int i = 0; i < count; i++)
        ENSURE(r->holding[op->in[i]->id] == ROWS, "%s reads all of %s", op->name, op->in[i]->name);
    for (int i = 0; i < op->out_count; i++) {
        tensor_narrow(r->program, op->out[i], 0, GROUP_TENSOR);
        set(r, op->out[i], ROWS);
    }
    for (int i = count; i < op->in_count; i++)
        program_param(r->program, op->in[i])->partial = GROUP_TENSOR;
}

static bool reads_rows(const Rows *r, const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (r->holding[op->in[i]->id] == ROWS)
            return true;
    return false;
}

static void split_op(Rows *r, Op *op) {
    for (int i = 0; i < op->in_count; i++)
        if (r->now[op->in[i]->id])
            op->in[i] = r->now[op->in[i]->id];
    if (op->kind == OP_all_reduce && op->attr.group == GROUP_TENSOR) {
        scatter(r, op);
        return;
    }
    if (op->kind == OP_spread) {
        spread(r, op);
        return;
    }
    if (op->kind == OP_gather_rows && reads_rows(r, op)) {
        op->in[0] = gather(r, op->in[0]);
        set(r, op->out[0], GATHERED);
    } else if (reads_rows(r, op)) {
        ENSURE(operands_with_rows(op), "%s needs all rows", op->name);
        split_rows(r, op);
    }
    graph_add(r->program, r->graph, op);
}

static void split_graph(Program *p, Graph *graph, const Spec *spec) {
    Pos pos = spec_pos(spec, KEY_parallelism_sequence_parallel);
    Rows r = {.program = p, .graph = graph, .pos = pos};
    r.room = p->value_count + graph->op_count; /* each op adds at most one value */
    r.chunks = spec->parallelism.sequence_parallel_chunks;
    r.holding = arena_array(p->arena, (size_t)r.room, sizeof *r.holding);
    r.now = arena_array(p->arena, (size_t)r.room, sizeof *r.now);
    r.gathered = arena_array(p->arena, (size_t)r.room, sizeof *r.gathered);
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++)
        split_op(&r, old.ops[i]);
}

bool pass_sequence_parallel(Program *p, const Spec *spec) {
    if (!mesh_has(&p->mesh, GROUP_TENSOR) || !spec->parallelism.sequence_parallel)
        return false;
    for (int i = 0; program_forward(p, i); i++)
        split_graph(p, program_forward(p, i), spec);
    return true;
}
