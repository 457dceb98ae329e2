/* The dynamic loss scale, as torch.amp.GradScaler keeps it.
 *
 * update_scale (factor, scale, growth_tracker, skipped) -> scale, growth_tracker, skipped
 *              factor 0 (no update was applied): scale *= attr.backoff, the tracker is reset and
 *              the step counts as skipped; else scale *= attr.growth after every attr.interval
 *              updates in a row, unless the result is not finite */
#include "graph/op_table.h"

void shape_update_scale(Program *p, Op *op) {
    (void)p;
    op_expect(op, op->in_count == 4 && op->out_count == 3, "operands");
    for (int i = 0; i < 3; i++)
        op_expect(op, value_same_place(op->in[i + 1], op->out[i]), "not updated in place");
}

void expand_update_scale(const Op *op, Body *body) {
    const Attr *a = &op->attr;
    body->rows = body->cols = 1;
    int applied = step_binary(body, STEP_LT, step_const(body, 0), step_load(body, op->in[0]));
    int scale = step_load(body, op->in[1]), tracker = step_load(body, op->in[2]);
    int skipped = step_load(body, op->in[3]);
    int zero = step_const_int(body, 0), one = step_const_int(body, 1);
    int in_a_row = step_binary(body, STEP_ADD, tracker, one);
    int grows = step_binary(body, STEP_EQ, in_a_row, step_const_int(body, a->interval));
    int larger = step_binary(body, STEP_MUL, scale, step_named(body, a->growth, "GROWTH"));
    larger = step_select(body, step_unary(body, STEP_FINITE, larger), larger, scale);
    int smaller = step_binary(body, STEP_MUL, scale, step_named(body, a->backoff, "BACKOFF"));
    step_store(body, op->out[0],
               step_select(body, applied, step_select(body, grows, larger, scale), smaller));
    step_store(body, op->out[1],
               step_select(body, applied, step_select(body, grows, zero, in_a_row), zero));
    step_store(body, op->out[2],
               step_select(body, applied, skipped, step_binary(body, STEP_ADD, skipped, one)));
}
