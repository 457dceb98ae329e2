/* Reverse-mode differentiation of micro_step, from its loss to the trained parameters.
 *
 * Requires the train state. In a pipeline stage it starts from the gradient of what the stage
 * sends, which the next stage provides, and ends with the gradient of what the stage receives. The
 * walk is generic: the rules are in the op table. A value that depends on no trained parameter gets
 * no gradient, so a frozen weight costs no product. Weight gradients go straight into their
 * buffers; with several micro-steps they are added there, if the buffers persist. */
#include "graph/op_table.h"
#include "pass/pass.h"

#include <string.h>

typedef struct Part {
    Value *value;
    bool owned; /* made only for this operand: may be added onto in place */
    struct Part *older;
} Part;

struct Backward {
    Program *program;
    Graph *graph;
    Part **parts; /* by value id: contributions to its gradient, newest first */
    bool *needed; /* by value id */
};

bool backward_needs(Backward *b, const Value *operand) { return b->needed[operand->id]; }

static void mark_needed(Backward *b) {
    for (int i = 0; i < b->program->param_count; i++) {
        const Value *weight = b->program->params[i].weight;
        b->needed[weight->id] = value_trains(weight);
    }
    if (b->program->stage.trained)
        b->needed[b->program->stage.trained->id] = true;
    for (int i = 0; i < b->graph->op_count; i++) {
        const Op *op = b->graph->ops[i];
        bool any = false;
        for (int k = 0; k < op->in_count; k++)
            any |= b->needed[op->in[k]->id];
        for (int k = 0; k < op->out_count; k++)
            b->needed[op->out[k]->id] = any;
    }
}

static void contribute(Backward *b, const Value *operand, Value *value, bool owned) {
    Part *part = arena_alloc(b->program->arena, sizeof *part);
    *part = (Part){value, owned, b->parts[operand->id]};
    b->parts[operand->id] = part;
}

void backward_pass(Backward *b, Value *operand, Value *gradient) {
    if (b->needed[operand->id])
        contribute(b, operand, gradient, false);
}

static const char *gradient_name(Backward *b, const Value *operand) {
    return arena_printf(b->program->arena, "%s.grad", operand->name);
}

/* The sum has the name of the gradient; what had it until now, in one place, is called a part. */
static void call_part(Backward *b, const Part *part, const char *gradient) {
    Storage *storage = part->value->storage;
    const char *name = arena_printf(b->program->arena, "%s.part", gradient);
    if (!part->owned)
        return;
    for (int i = 0; i < b->graph->op_count; i++)
        for (int k = 0; k < b->graph->ops[i]->out_count; k++) {
            Value *v = b->graph->ops[i]->out[k];
            if (v->storage == storage && strcmp(v->name, gradient) == 0)
                v->name = name;
        }
    if (strcmp(storage->name, gradient) == 0)
        storage->name = name;
}

Value *backward_of(Backward *b, Value *result) {
    const char *name = gradient_name(b, result);
    Part *part = b->parts[result->id];
    while (part && part->older) {
        Value *in[] = {part->older->value, part->value};
        call_part(b, part->older, name);
        call_part(b, part, name);
        Value *sum =
            op_add(b->program, b->graph, OP_add, name, in, 2, (Attr){0}, result->pos)->out[0];
        part->older->value = sum;
        part->older->owned = true;
        part = b->parts[result->id] = part->older;
    }
    return part ? part->value : NULL;
}

/* Emits kind(in.., onto) with its result in the place of `onto`. */
static Value *emit_onto(Backward *b, const char *name, OpKind kind, Value *const *in, int in_count,
                        Value *onto, Attr attr, Pos pos) {
    Value *all[MAX_OPERANDS], *out = value_alias(b->program, onto, name);
    for (int i = 0; i < in_count; i++)
        all[i] = in[i];
    all[in_count] = onto;
    attr.accumulate = true;
    op_add_into(b->program, b->graph, kind, name, all, in_count + 1, &out, 1, attr, pos);
    return out;
}

static bool adds_in_place(OpKind kind) { return op_table[kind].traits & TRAIT_ADDS; }

static Value *zeroed(Backward *b, Value *v, Pos pos) {
    Value *out = value_alias(b->program, v, v->name);
    const char *name = arena_printf(b->program->arena, "%s.zero", v->name);
    op_add_into(b->program, b->graph, OP_zero, name, &v, role_persistent(v->role), &out, 1,
                (Attr){0}, pos);
    return out;
}

/* What a contribution to a trained weight's gradient is added to. NULL: it is the first and fills
 * the buffer. */
static Value *gradient_so_far(const Backward *b, const Value *weight) {
    const Part *so_far = b->parts[weight->id];
    if (so_far)
        return so_far->value;
    Value *buffer = program_param(b->program, weight)->gradient;
    return b->program->micro_steps > 1 && role_persistent(buffer->role) ? buffer : NULL;
}

static void set_gradient(Backward *b, const Value *weight, Value *gradient) {
    if (b->parts[weight->id])
        b->parts[weight->id]->value = gradient;
    else
        contribute(b, weight, gradient, true);
}

static Value *added(Backward *b, const Value *weight, Value *onto, Value *fresh, Pos pos) {
    const char *name = gradient_name(b, weight);
    Value *out = value_alias(b->program, onto, name);
    op_add_into(b->program, b->graph, OP_add, name, (Value *[]){onto, fresh}, 2, &out, 1, (Attr){0},
                pos);
    return out;
}

/* Emits a contribution to the gradient buffer of a trained weight. */
static void emit_weight(Backward *b, const Op *forward, Value *weight, OpKind kind,
                        Value *const *in, int in_count, Attr attr) {
    Program *p = b->program;
    Value *buffer = program_param(p, weight)->gradient;
    const char *name = gradient_name(b, weight);
    Value *onto = gradient_so_far(b, weight);
    if (!onto && op_table[kind].traits & TRAIT_ONLY_ADDS)
        onto = zeroed(b, buffer, forward->pos);
    Value *out = buffer;
    if (!onto) {
        op_add_into(p, b->graph, kind, name, in, in_count, &out, 1, attr, forward->pos);
    } else if (adds_in_place(kind)) {
        out = emit_onto(b, name, kind, in, in_count, onto, attr, forward->pos);
    } else {
        Value *fresh = op_add(p, b->graph, kind, arena_printf(p->arena, "%s.part", name), in,
                              in_count, attr, forward->pos)
                           ->out[0];
        out = added(b, weight, onto, fresh, forward->pos);
    }
    set_gradient(b, weight, out);
}

void backward_emit(Backward *b, const Op *forward, Value *operand, OpKind kind, Value *const *in,
                   int in_count, Attr attr) {
    if (!b->needed[operand->id])
        return;
    if (value_trains(operand)) {
        emit_weight(b, forward, operand, kind, in, in_count, attr);
        return;
    }
    const char *name = gradient_name(b, operand);
    Part *newest = b->parts[operand->id];
    if (newest && newest->owned && adds_in_place(kind))
        newest->value = emit_onto(b, name, kind, in, in_count, newest->value, attr, forward->pos);
    else
        contribute(
            b, operand,
            op_add(b->program, b->graph, kind, name, in, in_count, attr, forward->pos)->out[0],
            true);
}

Op *backward_op(Backward *b, const Op *forward, OpKind kind, Value *const *in, int in_count,
                Attr attr) {
    const char *name = arena_printf(b->program->arena, "%s.grad", forward->name);
    return op_add(b->program, b->graph, kind, name, in, in_count, attr, forward->pos);
}

Op *backward_op_of(Backward *b, const Op *forward, OpKind kind, Value *const *in, int in_count,
                   Value *const *operands, int operand_count, Attr attr) {
    const char *name = arena_printf(b->program->arena, "%s.grad", forward->name);
    Value *out[MAX_RESULTS] = {0};
    for (int i = 0; i < operand_count; i++)
        if (value_trains(operands[i]) && !gradient_so_far(b, operands[i]))
            out[i] = program_param(b->program, operands[i])->gradient;
    Op *op = op_add_into(b->program, b->graph, kind, name, in, in_count, out, operand_count, attr,
                         forward->pos);
    for (int i = 0; i < operand_count; i++) {
        if (!value_trains(operands[i]))
            backward_pass(b, operands[i], op->out[i]);
        else if (out[i])
            set_gradient(b, operands[i], out[i]);
        else
            set_gradient(
                b, operands[i],
                added(b, operands[i], gradient_so_far(b, operands[i]), op->out[i], forward->pos));
    }
    return op;
}

static bool has_gradient(const Backward *b, const Op *op) {
    bool arrived = false, useful = false;
    for (int k = 0; k < op->out_count; k++)
        arrived |= b->parts[op->out[k]->id] != NULL;
    for (int k = 0; k < op->in_count; k++)
        useful |= b->needed[op->in[k]->id];
    return arrived && useful;
}

/* The gradient that the walk starts from: the constant 1 for the loss; else the received one. */
static Value *first_gradient(Program *p, const Spec *spec) {
    static const double unit[] = {1.0};
    PipelineStage *stage = &p->stage;
    if (!stage->sent) {
        Value *one =
            value_1d(p, "loss.grad", ROLE_CONSTANT, p->real, 1, spec_pos(spec, KEY_training_task));
        one->data = unit;
        return p->loss_gradient = one;
    }
    const Value *sent = p->loss_of_micro_step;
    const char *name = arena_printf(p->arena, "%s.grad", sent->name);
    return stage->received_gradient = value_stash(p, sent, name);
}

static void walk(Backward *b) {
    for (int i = b->graph->op_count - 1; i >= 0; i--) {
        const Op *op = b->graph->ops[i];
        if (!has_gradient(b, op))
            continue;
        ENSURE(op_table[op->kind].gradient, "op %s (%s) has no gradient rule", op->name,
               op_table[op->kind].name);
        op_table[op->kind].gradient(b, op);
    }
}

bool pass_autodiff(Program *p, const Spec *spec) {
    Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    Backward b = {.program = p, .graph = graph};
    b.parts = arena_array(p->arena, (size_t)p->value_count + 1, sizeof *b.parts);
    b.needed = arena_array(p->arena, (size_t)p->value_count + 1, sizeof *b.needed);
    mark_needed(&b);
    if (!b.needed[p->loss_of_micro_step->id])
        return false;
    contribute(&b, p->loss_of_micro_step, first_gradient(p, spec), false);
    walk(&b);
    if (!p->stage.trained)
        return true;
    p->stage.sent_gradient = backward_of(&b, p->stage.trained);
    value_set_role(p->stage.sent_gradient, ROLE_STASH);
    return true;
}
