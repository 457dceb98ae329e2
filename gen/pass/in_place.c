/* A result takes the place of an operand that nobody reads any more:
 *
 *     [q|k|v] = linear(x),  [q'|k'] = rope([q|k])   ->   [q'|k'|v]
 *
 * Otherwise q and k would stay for as long as v, because memory that an activation no longer needs
 * is reused as a whole, not by columns. And the gradient of logits lies where they were: of a large
 * vocabulary, a chunk of them is half a gigabyte, and memory is full when backward begins.
 *
 * Requires gradients, because backward may read the operand; before chunk_rows, which cuts operand
 * and result alike. Changes only ops with TRAIT_IN_PLACE whose result no op reads that could share
 * their kernel, which in place they cannot. */
#include "graph/op_table.h"
#include "pass/pass.h"

/* Whether an op after number `at` reads or writes any of v. */
static bool is_used_after(const GraphUses *uses, const Value *v, int at) {
    for (Value *view = v->storage->views; view; view = view->next_view) {
        int count;
        Op *const *reader = use_readers(uses, view, &count);
        const Op *maker = use_maker(uses, view);
        if (!value_overlaps(view, v))
            continue;
        if ((count && reader[count - 1]->id > at) || (maker && maker->id > at))
            return true;
    }
    return false;
}

static bool can_work_in_place(const GraphUses *uses, const Op *op) {
    if (!op_is(op, TRAIT_IN_PLACE) || !op_is_plain(op))
        return false;
    const Value *x = op->in[0], *y = op->out[0];
    return x->role == ROLE_ACTIVATION && y->role == ROLE_ACTIVATION && x->dtype == y->dtype &&
           x->storage != y->storage && use_can_stride(uses, y) &&
           !is_used_after(uses, x, op->id) && !use_read_by_body(uses, y);
}

bool pass_in_place(Program *p, const Spec *spec) {
    Graph *graph;
    bool found = false;
    for (int i = 0; spec->compile.in_place && (graph = program_forward(p, i)) != NULL; i++) {
        Arena scratch = {0};
        GraphUses uses = uses_find(&scratch, p, graph);
        for (int k = 0; k < graph->op_count; k++) {
            Op *op = graph->ops[k];
            if (!can_work_in_place(&uses, op))
                continue;
            value_move(op->out[0], op->in[0]);
            found = true;
        }
        arena_free(&scratch);
    }
    return found;
}
