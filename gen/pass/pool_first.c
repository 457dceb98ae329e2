/* Moves a ReLU from before a max pooling to after it: max_pool(relu(x)) is relu(max_pool(x)),
 * because a ReLU keeps the order of numbers (the sign of a zero may differ). Gradients are the same
 * too: where the two orders pick different maxima in a window, the ReLU's gradient is 0 at both.
 * The ReLU then keeps one number per window for backward instead of one per pixel. pool_sums does
 * the same for sums over gradients, which then no longer add up in the order of pixels.
 *
 * pool_first requires forward graphs only, pool_sums those with backward. */
#include "graph/window.h"
#include "pass/pass.h"

static bool keeps_order(OpKind kind) { return kind == OP_relu || kind == OP_relu6; }

static int reader_count(const Graph *graph, const Value *v) {
    int count = 0;
    for (int i = 0; i < graph->op_count; i++)
        count += op_reads(graph->ops[i], v);
    return count;
}

/* The activation before a pool, if nothing else reads its result; else NULL. */
static const Op *activation_of(const Graph *graph, const Op *op) {
    if (op->kind != OP_max_pool2d)
        return NULL;
    const Op *before = graph_producer(graph, op->in[0]);
    bool alone = before && keeps_order(before->kind) && reader_count(graph, before->out[0]) == 1;
    return alone ? before : NULL;
}

static bool is_before_pool(const Graph *graph, const Op *op) {
    for (int i = 0; keeps_order(op->kind) && i < graph->op_count; i++)
        if (activation_of(graph, graph->ops[i]) == op)
            return true;
    return false;
}

/* Makes both ops again in the opposite order. The activation writes the former result of the pool,
 * which may have views; each value is named after the op that makes it. */
static void swap(Program *p, Graph *graph, const Op *activation, const Op *pool) {
    Op *first = op_add(p, graph, pool->kind, pool->name, activation->in, 1, pool->attr, pool->pos);
    Op *second = op_add_into(p, graph, activation->kind, activation->name, first->out, 1, pool->out,
                             1, activation->attr, activation->pos);
    second->out[0]->name = second->out[0]->storage->name = activation->out[0]->name;
    second->observe = pool->observe;
}

static bool rewrite(Program *p, Graph *graph) {
    if (!graph_find(graph, OP_max_pool2d))
        return false;
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        const Op *activation = activation_of(&old, old.ops[i]);
        if (activation)
            swap(p, graph, activation, old.ops[i]);
        else if (!is_before_pool(&old, old.ops[i]))
            graph_add(p, graph, old.ops[i]);
    }
    return true;
}

bool pass_pool_first(Program *p, const Spec *spec) {
    bool found = false;
    for (int i = 0; spec->compile.pool_first && program_forward(p, i); i++)
        found |= rewrite(p, program_forward(p, i));
    return found;
}

/* ---- sums of gradients ----------------------------------------------------------------------- */

/* The gradient of a pool's operand has a window's number at one of its pixels and 0 at the others.
 * So its sum over pixels, as a bias before the pool needs it, equals the sum over windows. */
static bool sum_windows(Graph *graph) {
    bool changed = false;
    for (int i = 0; i < graph->op_count; i++) {
        Op *sum = graph->ops[i];
        const Op *pool = sum->kind == OP_column_sum ? graph_producer(graph, sum->in[0]) : NULL;
        if (!pool || pool->kind != OP_max_pool2d_grad || !pool_grad_by_window(pool))
            continue;
        sum->in[0] = pool->in[1];
        changed = true;
    }
    return changed;
}

bool pass_pool_sums(Program *p, const Spec *spec) {
    return spec->compile.pool_first && sum_windows(&p->entry[ENTRY_MICRO_STEP]);
}
