/* Prologues: pointwise work that makes a template's operand becomes part of the template's kernel, so
 * that the operand need not be read again, and is not even stored if nothing else reads it.
 *
 * Runs after the grouping. Several ops that each read a result of the same pointwise group may share
 * one kernel, if their template says so. */
#include "plan/kernels.h"

#include "graph/op_table.h"
#include "graph/pointwise.h"
#include "plan/skeleton.h"

/* Whether the body makes the op's first operand, for no other op so far, and nothing else that the op
 * reads. */
static bool makes_operand(const Body *body, const Op *op) {
    bool found = false;
    for (int i = 0; i < body->count; i++) {
        const Step *s = &body->steps[i];
        if (!step_writes(s->kind))
            continue;
        for (int k = 1; k < op->in_count; k++)
            if (value_overlaps(op->in[k], s->value))
                return false;
        if (value_same_view(s->value, op->in[0]))
            found = !s->operand;
        else if (value_overlaps(s->value, op->in[0]))
            return false;
    }
    return found;
}

/* Whether a thread makes whole vectors of the value. */
static bool makes_vectors(const Plan *plan, Body *body, const Value *v) {
    Kernel k = {.body = body, .real = plan->program->real};
    skeleton_prologue(&k);
    for (int i = 0; i < body->count; i++)
        if (body->steps[i].kind == STEP_STORE && value_same_view(body->steps[i].value, v))
            return step_is_vector(&k, i);
    return false;
}

const Op *group_host(const Group *group, int i) {
    return group->ops[group->count - group->hosts + i];
}

/* Pointers of a kernel: those of the prologue, and each op's besides the operand that this makes. */
static bool pointers_fit(const Group *group) {
    int count = 0;
    for (int i = 0; i < group->body->count; i++)
        count += group->body->steps[i].kind == STEP_LOAD || group->body->steps[i].kind == STEP_STORE;
    for (int i = 0; i < group->hosts; i++) {
        const Op *op = group_host(group, i);
        count += op->in_count - 1 - op->attr.accumulate + op->out_count;
    }
    return count <= MAX_PARAMS;
}

static bool a_kernel_serves(const Grouping *g, const Group *group) {
    const Op *added = group_host(group, group->hosts - 1);
    return makes_vectors(g->plan, group->body, added->in[0]) && pointers_fit(group) &&
           prologue_is_served(g->plan, g->entry, group);
}

/* Makes the group with one more op; false if no kernel can serve it. */
static bool add_host(const Grouping *g, const Group *group, const Group *reader, Group *joined) {
    const Op *op = reader->ops[0];
    if (!op_is(op, TRAIT_PROLOGUE) || group->count == GROUP_OPS ||
        !groups_may_share(group, reader) || !makes_operand(group->body, op))
        return false;
    *joined = *group;
    group_append(g->plan->program->arena, joined, op, NULL);
    joined->hosts++;
    return a_kernel_serves(g, joined);
}

/* Marks the operand that the last of the ops takes over from the body. */
static void hand_over(const Grouping *g, const Group *group) {
    const Value *made = group_host(group, group->hosts - 1)->in[0];
    for (int i = 0; i < group->body->count; i++) {
        Step *s = &group->body->steps[i];
        if (s->kind != STEP_STORE || !value_same_view(s->value, made))
            continue;
        s->operand = group->hosts;
        s->unstored = group_hides(g, group, made);
    }
}

/* Adds the reader to the group at *index, which may move down to it; *index is its new place. */
static bool take_up(Grouping *g, int *index, int reader) {
    bool moves_down;
    Group joined;
    if (!add_host(g, &g->groups[*index], &g->groups[reader], &joined) ||
        !groups_can_meet(g, *index, reader, &moves_down))
        return false;
    hand_over(g, &joined);
    g->groups[*index] = joined;
    if (moves_down) {
        group_move(g, *index, reader - 1);
        *index = reader - 1;
    }
    group_remove(g, reader);
    return true;
}

static bool can_be_prologue(const Group *group) {
    return group->body && !group->epilogue && body_is_pointwise(group->body);
}

void group_prologues(Grouping *g) {
    for (int i = g->count - 1; i >= 0; i--) {
        int index = i;
        if (!can_be_prologue(&g->groups[i]))
            continue;
        for (int r = i + 1; r < g->count && r <= index + GROUP_WINDOW; r++)
            r -= take_up(g, &index, r);
    }
}
