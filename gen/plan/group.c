/* From ops to launches, in the order of the graph. */
#include "plan/kernels.h"

static void plan_zero(Plan *plan, Entry entry, const Op *op) {
    Launch launch = {.kind = LAUNCH_ZERO, .arg = {op->out[0]}, .arg_count = 1, .grid = {1, 1, 1}};
    launch.written[0] = true;
    launch_carries(&launch, &op, 1);
    plan_add_launch(plan, entry, launch);
}

static void plan_op(Plan *plan, Entry entry, const Op *op) {
    const Body *body = op_expand(plan->program, op);
    if (body) plan_body(plan, entry, body, &op, 1);
    else if (op->kind == OP_matmul) plan_gemm(plan, entry, op);
    else if (op->kind == OP_zero) plan_zero(plan, entry, op);
    else plan_template(plan, entry, op);
}

void plan_launches(Plan *plan) {
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const Graph *graph = &plan->program->entry[e];
        plan->entry[e].name = graph->name;
        for (int i = 0; i < graph->op_count; i++) plan_op(plan, (Entry)e, graph->ops[i]);
    }
}
