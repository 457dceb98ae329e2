#include "pass/again.h"

#include "graph/op_table.h"
#include "graph/pointwise.h"

bool again_is_pointwise(const Program *p, const Op *op, const Value *like) {
    Arena scratch = {0};
    const Body *body = op_expand(&scratch, p, op);
    bool alike = body && body_is_pointwise(body) && body->rows == value_rows(like) &&
                 body->cols == value_cols(like);
    arena_free(&scratch);
    return alike;
}

/* Whether the op's operands still have their contents at the end of the graph. */
static bool operands_last(const GraphUses *uses, const Op *op) {
    for (int i = 0; i < op->in_count; i++)
        for (const Value *view = op->in[i]->storage->views; view; view = view->next_view) {
            const Op *writer = use_maker(uses, view);
            if (writer && writer->id > op->id && value_overlaps(view, op->in[i]))
                return false;
        }
    return true;
}

Op *again_maker(Program *p, const GraphUses *uses, const Value *v) {
    const Op *op = use_maker(uses, v);
    if (!op || op->phase != PHASE_FORWARD || op->ends_step || v->role != ROLE_ACTIVATION)
        return NULL;
    Op *again = arena_alloc(p->arena, sizeof *again);
    if (!op_applied(op, again))
        *again = *op;
    bool makes = again->out_count == 1 && again->out[0] == v;
    return makes && again_is_pointwise(p, again, v) && operands_last(uses, again) ? again : NULL;
}

void again_mark(Program *p, Op *copy, Op *after) {
    copy->name = arena_printf(p->arena, "%s.recomputed", copy->name);
    copy->phase = PHASE_RECOMPUTE;
    copy->after = after;
    copy->observe = NULL;
    copy->observed = NULL;
}

Op *again_new(Program *p, const Op *maker, Op *after) {
    const Value *v = maker->out[0];
    Op *op = op_copy(p, maker);
    again_mark(p, op, after);
    op->out[0] = value_2d(p, arena_printf(p->arena, "%s.recomputed", v->name), v->role, v->dtype,
                          value_rows(v), value_cols(v), v->pos);
    return op;
}
