/* Which linears of a graph tensor parallelism splits (pass/tensor.c).
 *
 * Ops that keep columns apart join what they read and make to a region; linears lie between
 * regions. A region can be split if linears make it and read it, and if no other op needs whole
 * rows of it. A linear is split by rows or by columns of its weight, so that of the regions on its
 * two sides only one can be split: the larger one, because its values take most memory and most of
 * the time of norms and sums. */
#include "graph/op_table.h"
#include "pass/tensor.h"

typedef struct {
    int64_t made; /* elements of its linears' results */
    bool read;    /* by a linear, not only on a low-rank path */
    bool open;    /* it can be split */
    bool split;
} Region;

typedef struct {
    const Graph *graph;
    const GraphUses *uses;
    int *part_of;   /* by value id: a value of the same region, or the value that stands for it */
    Region *region; /* by the id of the value that stands for it */
} Regions;

bool tensor_is_product(const Op *op) { return op->kind == OP_linear || op->kind == OP_conv2d; }

bool tensor_is_param(const Value *v) {
    return value_trains(v) || v->role == ROLE_FROZEN || v->role == ROLE_BUFFER;
}

Operands tensor_columns(const Op *op) {
    if (tensor_is_product(op) && op->attr.accumulate)
        return (Operands){2, 3};
    return (Operands){0, op_reads_columns(op)};
}

static int id_of(const Regions *r, const Value *v) {
    int id = v->id;
    for (; r->part_of[id] != id; id = r->part_of[id])
        r->part_of[id] = r->part_of[r->part_of[id]]; /* so that the way stays short */
    return id;
}

static Region *region_of(const Regions *r, const Value *v) { return &r->region[id_of(r, v)]; }

static void join(const Regions *r, const Value *a, const Value *b) {
    r->part_of[id_of(r, a)] = id_of(r, b);
}

static void join_columns(const Regions *r, const Op *op) {
    Operands columns = tensor_columns(op);
    for (int i = columns.first; i < columns.end; i++)
        if (!tensor_is_param(op->in[i]))
            join(r, op->in[i], op->out[0]);
    for (int i = 1; i < op->out_count && columns.end; i++)
        join(r, op->out[i], op->out[0]);
}

/* Closes regions of which the op needs or makes whole rows, or that come from outside the graph. */
static void close_whole(const Regions *r, const Op *op) {
    Operands columns = tensor_columns(op);
    bool product = tensor_is_product(op);
    for (int i = 0; i < op->in_count; i++) {
        bool apart = (i >= columns.first && i < columns.end) || (product && i == 0);
        if (!apart || !use_maker(r->uses, op->in[i]))
            region_of(r, op->in[i])->open = false;
    }
    for (int i = 0; i < op->out_count && !product && !columns.end; i++)
        region_of(r, op->out[i])->open = false;
    if (product && id_of(r, op->in[0]) == id_of(r, op->out[0]))
        region_of(r, op->in[0])->open = false;
}

static void count_product(const Regions *r, const Op *op) {
    if (!tensor_is_product(op) || op->attr.accumulate)
        return;
    region_of(r, op->in[0])->read = true;
    region_of(r, op->out[0])->made += value_elements(op->out[0]);
}

static Region *largest(const Regions *r) {
    Region *found = NULL;
    for (int i = 0; i < r->graph->op_count; i++) {
        const Op *op = r->graph->ops[i];
        Region *region = op->out_count ? region_of(r, op->out[0]) : NULL;
        if (region && region->open && region->read && !region->split &&
            region->made > (found ? found->made : 0))
            found = region;
    }
    return found;
}

static void split_region(const Regions *r, Region *region) {
    region->split = true;
    for (int i = 0; i < r->graph->op_count; i++) {
        const Op *op = r->graph->ops[i];
        if (!tensor_is_product(op))
            continue;
        Region *read = region_of(r, op->in[0]), *made = region_of(r, op->out[0]);
        read->open &= made != region;
        made->open &= read != region;
    }
}

bool *tensor_split_ops(const Program *p, const Graph *graph, const GraphUses *uses) {
    size_t values = (size_t)p->value_count;
    Regions r = {graph, uses, arena_array(p->arena, values, sizeof(int)),
                 arena_array(p->arena, values, sizeof(Region))};
    for (int i = 0; i < p->value_count; i++) {
        r.part_of[i] = i;
        r.region[i].open = true;
    }
    for (int i = 0; i < graph->op_count; i++)
        join_columns(&r, graph->ops[i]);
    for (int i = 0; i < graph->op_count; i++) {
        close_whole(&r, graph->ops[i]);
        count_product(&r, graph->ops[i]);
    }
    for (Region *region = largest(&r); region; region = largest(&r))
        split_region(&r, region);
    bool *split = arena_array(p->arena, (size_t)graph->op_count + 1, sizeof *split);
    for (int i = 0; i < graph->op_count; i++)
        split[i] = graph->ops[i]->out_count && region_of(&r, graph->ops[i]->out[0])->split;
    return split;
}
