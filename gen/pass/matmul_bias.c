/* A matrix product adds the bias itself:
 *
 *     y = matmul(a, b),  z = add_bias(y, bias)   ->   z = matmul_bias(a, b, bias)
 *
 * cuBLASLt adds it to its sums before it rounds them, as in torch.addmm: y is never stored.
 *
 * Requires a lowered program, after chunk_rows, which cuts the two ops apart from each other. Leaves
 * them as they are if anything else reads y, or if other work has to come between them. */
#include "graph/op_table.h"
#include "pass/pass.h"

enum { A, B, BIAS };

/* The op that makes y, perhaps under another name: a border renames the result of its linear. */
static Op *maker_of(const GraphUses *uses, const Value *y) {
    Op *maker = use_maker(uses, y);
    for (Value *view = y->storage->views; view && !maker; view = view->next_view)
        if (value_same_view(view, y))
            maker = use_maker(uses, view);
    return maker;
}

/* Whether anything but `reader` reads the product's result. */
static bool is_read_elsewhere(const Graph *graph, const Op *product, const Op *reader) {
    for (int i = product->id + 1; i < graph->op_count; i++)
        if (graph->ops[i] != reader && op_reads_part(graph->ops[i], product->out[0]))
            return true;
    return false;
}

/* Returns the product that op, an add_bias, adds to, if it can add the bias itself; else NULL. */
static Op *product_of(const GraphUses *uses, const Op *op) {
    Op *product = maker_of(uses, op->in[0]);
    const Value *z = op->out[0], *bias = op->in[1];
    if (!product || product->kind != OP_matmul || product->attr.accumulate ||
        !op_is_plain(product) || graph_waits_for(uses->graph, product))
        return NULL;
    bool same_types = z->dtype == product->out[0]->dtype && z->dtype == bias->dtype;
    bool may_wait = graph_may_move(uses->graph, product, op) && !op_reads_part(product, z);
    return same_types && may_wait && !is_read_elsewhere(uses->graph, product, op) ? product : NULL;
}

static void include(const Op *product, Op *add_bias) {
    add_bias->kind = OP_matmul_bias;
    add_bias->name = product->name;
    add_bias->attr = product->attr;
    add_bias->in[BIAS] = add_bias->in[1];
    add_bias->in[A] = product->in[A];
    add_bias->in[B] = product->in[B];
    add_bias->in_count = 3;
}

static bool include_biases(Program *p, Graph *graph) {
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    bool *gone = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *gone), found = false;
    for (int i = 0; i < graph->op_count; i++) {
        Op *op = graph->ops[i], *product = op->kind == OP_add_bias ? product_of(&uses, op) : NULL;
        if (!product)
            continue;
        include(product, op);
        found = gone[product->id] = true;
    }
    if (found)
        graph_remove(p, graph, gone);
    arena_free(&scratch);
    return found;
}

bool pass_matmul_bias(Program *p, const Spec *spec) {
    bool found = false;
    for (int e = 0; e < ENTRY_COUNT && spec->compile.matmul_bias; e++)
        found |= include_biases(p, &p->entry[e]);
    return found;
}
