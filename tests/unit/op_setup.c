#include "op_setup.h"

#include "graph/op_table.h"

const char *name_of(Setup *s, const char *what) {
    return arena_printf(&s->arena, "%s%d", what, s->names++);
}

Value *param(Setup *s, Role role, int rank, int64_t rows, int64_t cols, int init) {
    int64_t dim[] = {rows, cols};
    const char *name = name_of(s, role == ROLE_FROZEN ? "frozen" : "w");
    Value *v = value_new(s->program, name, role, DT_F64, rank, rank == 1 ? &cols : dim, (Pos){0});
    program_add_param(s->program, (Param){.weight = v, .file_name = v->name, .init = init});
    return v;
}

Value *frozen(Setup *s, int64_t rows, int64_t cols) {
    return param(s, ROLE_FROZEN, 2, rows, cols, INIT_NORMAL);
}

Value *trained(Setup *s, int64_t rows, int64_t cols) {
    return param(s, ROLE_WEIGHT, 2, rows, cols, INIT_NORMAL);
}

Value *integers(Setup *s, int64_t rows, const int *numbers) {
    Value *v = value_2d(s->program, name_of(s, "input"), ROLE_INPUT, DT_I32, rows, 1, (Pos){0});
    s->input[s->input_count].numbers = numbers;
    s->input[s->input_count++].value = v;
    return v;
}

Value *op(Setup *s, OpKind kind, Value *const *in, int in_count, Attr attr) {
    const char *name = name_of(s, op_table[kind].name);
    return op_add(s->program, s->graph, kind, name, in, in_count, attr, (Pos){0})->out[0];
}

Value *op1(Setup *s, OpKind kind, Value *a, Attr attr) { return op(s, kind, &a, 1, attr); }

Value *op2(Setup *s, OpKind kind, Value *a, Value *b) {
    return op(s, kind, (Value *[]){a, b}, 2, (Attr){.alpha = 1});
}

Value *rows_of(Setup *s, int64_t rows, int64_t cols) {
    return op2(s, OP_linear, frozen(s, rows, WIDTH), trained(s, cols, WIDTH));
}

Value *activation(Setup *s, int64_t cols) { return rows_of(s, ROWS, cols); }

/* Adds the loss of y, which is also added to the step's loss. */
void add_loss(Setup *s, Value *y) {
    static const int labels[] = {2, 0, -100, 4, 1, 1};
    static const double weight = 0.3;
    Program *p = s->program;
    Value *logits = op2(s, OP_linear, y, frozen(s, CLASSES, value_cols(y)));
    Value *one = value_1d(p, "loss_weight", ROLE_CONSTANT, DT_F64, 1, (Pos){0});
    one->data = &weight;
    Value *in[] = {logits, integers(s, ROWS, labels), one};
    Value *loss =
        op1(s, OP_sum, op(s, OP_cross_entropy, in, 3, (Attr){.label_smoothing = s->smoothing}),
            (Attr){0});
    p->loss_of_micro_step = op1(s, OP_scale, loss, (Attr){.alpha = 0.7});
    Value *total = value_1d(p, "step_loss", ROLE_COUNTER, DT_F64, 1, (Pos){0});
    p->counters.step_loss = total;
    Value *sum = value_alias(p, total, "step_loss");
    op_add_into(p, s->graph, OP_add, "step_loss", (Value *[]){total, p->loss_of_micro_step}, 2,
                &sum, 1, (Attr){0}, (Pos){0});
}

Memory filled_memory(const Setup *s) {
    Memory m = memory_new(s->program);
    interpret_fill(&m, s->program, 1, 5);
    for (int i = 0; i < s->input_count; i++)
        for (int64_t k = 0; k < value_elements(s->input[i].value); k++)
            memory_set(&m, s->input[i].value, k, s->input[i].numbers[k]);
    return m;
}
