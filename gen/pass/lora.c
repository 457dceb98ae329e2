/* LoRA (Hu et al., arXiv 2106.09685): y = x W^T becomes y + s (dropout(x) A^T) B^T on the chosen
 * linears; the base is frozen. s = alpha / r, or alpha / sqrt(r) with use_rslora (arXiv
 * 2312.03732).
 *
 * Requires forward graphs only. Names and initial values are PEFT's. Evaluation has no dropout. */
#include "base/dotted.h"
#include "pass/pass.h"
#include "pass/peft_config.h"

#include <math.h>
#include <string.h>

/* "all-linear" is every linear but the head. */
static bool target_matches(const char *target, const Op *op) {
    if (!strcmp(target, "all-linear"))
        return strcmp(name_last_part(op->name), "lm_head") != 0;
    return !strcmp(target, name_last_part(op->name)) || !strcmp(target, op->name);
}

static bool is_target(const Spec *spec, const Op *op) {
    if (op->kind != OP_linear)
        return false;
    for (int i = 0; i < spec->adapter.target_modules.count; i++)
        if (target_matches(spec->adapter.target_modules.items[i], op))
            return true;
    return false;
}

static void check_targets(const Program *p, const Spec *spec) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < spec->adapter.target_modules.count; i++) {
        bool found = false;
        for (int k = 0; k < graph->op_count && !found; k++)
            found = graph->ops[k]->kind == OP_linear &&
                    target_matches(spec->adapter.target_modules.items[i], graph->ops[k]);
        if (!found)
            user_error(spec->adapter.target_modules.at[i],
                       "use names such as \"q_proj\" or \"down_proj\", or \"all-linear\"",
                       "target module \"%s\" matches no linear of this model",
                       spec->adapter.target_modules.items[i]);
    }
}

static void freeze_base(Program *p) {
    for (int i = 0; i < p->param_count; i++)
        value_set_role(p->params[i].weight, ROLE_FROZEN);
}

static Value *adapter_weight(Program *p, const Op *op, const char *which, int64_t rows,
                             int64_t cols, int init, double scale, Pos pos) {
    const char *file = arena_printf(p->arena, "base_model.model.%s.%s.weight", op->name, which);
    Value *weight = program_weight(p, file);
    if (weight)
        return weight;
    const char *name = arena_printf(p->arena, "%s.%s.weight", op->name, which);
    weight = value_2d(p, name, ROLE_ADAPTER, p->activation, rows, cols, pos);
    program_add_param(p, (Param){.weight = weight,
                                 .master = weight,
                                 .file_name = file,
                                 .init = init,
                                 .init_scale = scale});
    return weight;
}

static Value *find_input(const Program *p, const char *name) {
    for (int i = 0; i < p->value_count; i++)
        if (p->values[i]->role == ROLE_INPUT && !strcmp(p->values[i]->name, name))
            return p->values[i];
    ENSURE(false, "no input %s", name);
}

static Value *drop(Program *p, Graph *graph, const Spec *spec, const Op *op, Value *x) {
    if (spec->adapter.lora_dropout == 0 || graph != &p->entry[ENTRY_MICRO_STEP])
        return x;
    const char *name = arena_printf(p->arena, "%s.lora_dropout", op->name);
    Attr attr = {.rate = spec->adapter.lora_dropout, .stream = stable_hash(name)};
    Value *in[] = {x, p->counters.seed, p->counters.step, find_input(p, "first_row")};
    return op_add(p, graph, OP_dropout, name, in, 4, attr, spec_pos(spec, KEY_adapter_lora_dropout))
        ->out[0];
}

static Value *first_weight(Program *p, const Spec *spec, const Op *op) {
    int64_t features = value_cols(op->in[0]);
    /* PEFT draws A as torch.nn.Linear does: uniform within 1 / sqrt(features). */
    return adapter_weight(p, op, "lora_A", spec->adapter.r, features, INIT_UNIFORM,
                          1 / sqrt((double)features), spec_pos(spec, KEY_adapter_r));
}

/* Appends the low-rank path after `op`; returns the sum, which takes the place of op's result. */
static Value *add_path(Program *p, Graph *graph, const Spec *spec, Op *op) {
    Pos pos = spec_pos(spec, KEY_adapter_r);
    int64_t r = spec->adapter.r;
    double scale =
        spec->adapter.lora_alpha / (spec->adapter.use_rslora ? sqrt((double)r) : (double)r);
    Value *a = first_weight(p, spec, op);
    Value *b = adapter_weight(p, op, "lora_B", value_rows(op->in[1]), r, INIT_ZEROS, 0, pos);
    Value *x = drop(p, graph, spec, op, op->in[0]);
    const char *name_a = arena_printf(p->arena, "%s.u", op->name);
    const char *name_b = arena_printf(p->arena, "%s.lora_B", op->name);
    Value *u =
        op_add(p, graph, OP_linear, name_a, (Value *[]){x, a}, 2, (Attr){.alpha = 1}, pos)->out[0];
    Value *sum = value_alias(p, op->out[0], op->out[0]->name);
    Attr attr = {.alpha = scale, .accumulate = true};
    Op *up = op_add_into(p, graph, OP_linear, name_b, (Value *[]){u, b, op->out[0]}, 3, &sum, 1,
                         attr, pos);
    up->observe = op->observe; /* the observed value is the sum */
    op->observe = NULL;
    return sum;
}

/* Creates the A's that read the same x one after another, so that one product can train them. */
static void make_first_weights(Program *p, const Spec *spec, Op *const *ops, int count) {
    for (int i = 0; i < count; i++)
        if (ops[i]->in[0] == ops[0]->in[0] && is_target(spec, ops[i]))
            first_weight(p, spec, ops[i]);
}

static void rewrite(Program *p, Graph *graph, const Spec *spec) {
    int values = p->value_count;
    Value **now = arena_array(p->arena, (size_t)values, sizeof *now); /* by id: what replaced it */
    const Graph old = graph_take(graph);
    for (int i = 0; i < old.op_count; i++) {
        Op *op = old.ops[i];
        for (int k = 0; k < op->in_count; k++)
            if (op->in[k]->id < values && now[op->in[k]->id])
                op->in[k] = now[op->in[k]->id];
        graph_add(p, graph, op);
        if (!is_target(spec, op))
            continue;
        make_first_weights(p, spec, old.ops + i, old.op_count - i);
        now[op->out[0]->id] = add_path(p, graph, spec, op);
    }
}

bool pass_lora(Program *p, const Spec *spec) {
    if (spec->adapter.type != ADAPTER_LORA)
        return false;
    check_targets(p, spec);
    freeze_base(p);
    for (int i = 0; program_forward(p, i); i++)
        rewrite(p, program_forward(p, i), spec);
    p->adapter_json = peft_config(p, spec);
    return true;
}
