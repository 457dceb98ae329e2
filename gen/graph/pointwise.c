/* Finds operands that pointwise ops make. */
#include "graph/pointwise.h"

#include "graph/op_table.h"

static bool is_pointwise(const Body *body, const Step *s) {
    if (step_reduces(s->kind) || step_sums_columns(s->kind) || s->row_index >= 0 ||
        s->col_map != COL_SAME)
        return false;
    return !step_writes(s->kind) ||
           (value_rows(s->value) == body->rows && value_cols(s->value) == body->cols);
}

bool body_is_pointwise(const Body *body) {
    for (int i = 0; i < body->count; i++)
        if (!is_pointwise(body, &body->steps[i]))
            return false;
    return true;
}

bool op_is_pointwise(const Program *p, const Op *op) {
    Arena scratch = {0};
    const Body *body = op_expand(&scratch, p, op);
    bool pointwise = body && body_is_pointwise(body);
    arena_free(&scratch);
    return pointwise;
}

bool op_is_over_rows(const Program *p, const Op *op) {
    return op_table[op->kind].expand && !op_is_pointwise(p, op);
}

/* The last op before the reader that writes a part of the value. */
static const Op *maker_of(const GraphUses *uses, const Op *reader, const Value *v) {
    const Op *last = NULL;
    for (const Value *view = v->storage->views; view; view = view->next_view) {
        const Op *maker = use_maker(uses, view);
        if (maker && maker->id < reader->id && (!last || maker->id > last->id) &&
            value_overlaps(view, v))
            last = maker;
    }
    return last;
}

/* Whether only pointwise ops lie between the op's operands and products or templates. An op over rows
 * would take these ops into its own kernel. All makers are asked before what lies behind any of them:
 * the sum behind a norm's gradient is behind that of the layer above, and so on. */
static bool is_from_pointwise(const Program *p, const GraphUses *uses, const Op *op) {
    const Op *maker[MAX_OPERANDS];
    for (int i = 0; i < op->in_count; i++) {
        maker[i] = maker_of(uses, op, op->in[i]);
        if (maker[i] && op_is_over_rows(p, maker[i]))
            return false;
    }
    for (int i = 0; i < op->in_count; i++)
        if (maker[i] && op_table[maker[i]->kind].expand && !is_from_pointwise(p, uses, maker[i]))
            return false;
    return true;
}

bool is_made_pointwise(const Program *p, const GraphUses *uses, const Op *op) {
    const Op *maker = maker_of(uses, op, op->in[0]);
    return maker && op_is_pointwise(p, maker) && is_from_pointwise(p, uses, maker);
}
