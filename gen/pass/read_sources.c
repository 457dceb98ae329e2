/* An op of backward over rows, such as the gradient of a rounding, reads an x that pointwise ops made.
 * If its kernel reads what x was made from anyway, it makes x again and need not read it:
 *
 *     dx = fake_quant_tokens_grad(x, dy)            again = swiglu(gate, up)
 *     dgate, dup = swiglu_grad(gate, up, dx)   ->   dx = fake_quant_tokens_grad(again, dy)
 *                                                   dgate, dup = swiglu_grad(gate, up, dx)
 *
 * Between the two there may be pointwise ops, such as the addition of other gradients of x. A norm is
 * pointwise once its sums over rows are known. Requires that values have their places and that backward
 * is marked. If nothing else of backward reads x, it is no longer kept. This changes no bits. */
#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "pass/again.h"
#include "pass/pass.h"

#include <limits.h>

/* Whether the maker reads the operand for each row of its result, as against weights. */
static bool is_source(const Op *maker, int i) {
    return value_rows(maker->in[i]) == value_rows(maker->out[0]);
}

static bool reads_sources(const Op *op, const Op *maker) {
    for (int i = 0; i < maker->in_count; i++)
        if (is_source(maker, i) && !op_reads(op, maker->in[i]))
            return false;
    return true;
}

/* The last op that may read all of the maker's sources. */
static int last_reader(const GraphUses *uses, const Op *maker) {
    for (int i = 0, count; i < maker->in_count; i++)
        if (is_source(maker, i)) {
            Op *const *readers = use_readers(uses, maker->in[i], &count);
            return count ? readers[count - 1]->id : -1;
        }
    return INT_MAX;
}

/* Whether the value reaches an op of backward that reads the maker's sources, by way of pointwise
 * ops. None behind `last` does, although the gradient goes on through all layers. */
static bool meets_sources(const Program *p, const GraphUses *uses, const Value *v, const Op *maker,
                          int last) {
    int count;
    Op *const *readers = use_readers(uses, v, &count);
    for (int i = 0; i < count; i++) {
        const Op *op = readers[i];
        if (op->id > last || !op_table[op->kind].expand || op->out_count == 0)
            continue;
        if (reads_sources(op, maker) ||
            (again_is_pointwise(p, op, v) && meets_sources(p, uses, op->out[0], maker, last)))
            return true;
    }
    return false;
}

/* The op that can make x, the first operand of `op`, again; NULL: it stays as it is. A pointwise op is
 * fused with what makes its operands as it is. */
static Op *find_maker(Program *p, const GraphUses *uses, const Op *op) {
    if (op->phase != PHASE_BACKWARD || op->out_count != 1 || !op_is_over_rows(p, op))
        return NULL;
    Op *maker = again_maker(p, uses, op->in[0]);
    bool meets =
        maker && meets_sources(p, uses, op->out[0], maker, last_reader(uses, maker));
    return meets ? maker : NULL;
}

static void rewrite(Program *p, Graph *graph, Op *const *maker) {
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        if (maker[i]) {
            Op *again = again_new(p, maker[i], old.ops[i - 1]);
            graph_add(p, graph, again);
            op_read_instead(old.ops[i], maker[i]->out[0], again->out[0]);
        }
        graph_add(p, graph, old.ops[i]);
    }
}

bool pass_read_sources(Program *p, const Spec *spec) {
    (void)spec;
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    Arena scratch = {0};
    GraphUses uses = uses_find(&scratch, p, graph);
    Op **maker = arena_array(&scratch, (size_t)graph->op_count + 1, sizeof *maker);
    bool found = false;
    for (int i = 0; i < graph->op_count; i++) {
        maker[i] = find_maker(p, &uses, graph->ops[i]);
        found |= maker[i] != NULL;
    }
    if (found)
        rewrite(p, graph, maker);
    arena_free(&scratch);
    return found;
}
