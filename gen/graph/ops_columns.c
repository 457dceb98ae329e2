/* Splitting a matrix into runs of columns, and joining these. Both ops are views and cost nothing:
 * the parts are neighbouring columns of one matrix.
 *
 * split_columns  (x[R,n C]) -> n parts [R,C]; n is attr.rows
 * join_columns   (n parts [R,C]) -> y[R,n C]; moves parts that have their own storages into y */
#include "graph/op_table.h"

static void expect_parts(const Op *op, const Value *whole, Value *const *part, int count) {
    int64_t width = value_cols(whole) / count;
    for (int i = 0; i < count; i++)
        op_expect(op,
                  part[i]->storage == whole->storage && value_cols(part[i]) == width &&
                      part[i]->offset == whole->offset + i * width &&
                      part[i]->row_stride == whole->row_stride,
                  "parts elsewhere");
}

void shape_split_columns(Program *p, Op *op) {
    Value *x = op->in[0];
    int parts = (int)op->attr.rows;
    op_expect(op,
              op->in_count == 1 && parts > 0 && parts <= MAX_RESULTS && value_cols(x) % parts == 0,
              "parts");
    int64_t width = value_cols(x) / parts;
    for (int i = op->out_count; i < parts; i++) {
        const char *name = arena_printf(p->arena, "%s.%d", op->name, i);
        op->out[op->out_count++] = value_columns(p, x, i * width, width, name);
    }
    expect_parts(op, x, op->out, parts);
}

/* Each part's gradient comes from the part's readers and must have a storage of its own. */
void grad_split_columns(Backward *b, const Op *op) {
    Value *part[MAX_RESULTS];
    for (int i = 0; i < op->out_count; i++) {
        part[i] = backward_of(b, op->out[i]);
        ENSURE(part[i] && value_can_move(part[i]) && part[i]->role == ROLE_ACTIVATION,
               "the gradient of %s has no place of its own", op->out[i]->name);
    }
    backward_pass(b, op->in[0],
                  backward_op(b, op, OP_join_columns, part, op->out_count, (Attr){0})->out[0]);
}

void shape_join_columns(Program *p, Op *op) {
    int64_t width = value_cols(op->in[0]);
    if (!op->out_count) {
        Value *y = value_2d(p, op->name, ROLE_ACTIVATION, op->in[0]->dtype, value_rows(op->in[0]),
                            op->in_count * width, op->pos);
        op->out[op->out_count++] = y;
        for (int i = 0; i < op->in_count; i++)
            value_move(op->in[i], value_columns(p, y, i * width, width, op->in[i]->name));
    }
    expect_parts(op, op->out[0], op->in, op->in_count);
}
