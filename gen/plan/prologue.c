/* Prologues: pointwise work that makes a template's operand becomes part of the template's kernel, so
 * that the operand, which is stored as before, need not be read again.
 *
 * Runs after the grouping. Several ops that each read a result of the same pointwise group may share
 * one kernel, if their template says so. */
#include "plan/group.h"

#include "graph/op_table.h"
#include "plan/phases.h"

/* Whether a template's thread can run the step, which has only the elements of one row. */
static bool is_pointwise(const Body *body, const Step *s) {
    if (step_reduces(s->kind) || step_sums_columns(s->kind) || s->row_index >= 0 ||
        s->col_map != COL_SAME)
        return false;
    return !step_writes(s->kind) ||
           (value_rows(s->value) == body->rows && value_cols(s->value) == body->cols);
}

static bool all_pointwise(const Body *body) {
    for (int i = 0; i < body->count; i++)
        if (!is_pointwise(body, &body->steps[i]))
            return false;
    return true;
}

static const Op *maker_of(const Graph *graph, const Op *reader, const Value *v) {
    for (int i = reader->id - 1; i >= 0; i--)
        if (op_writes_part(graph->ops[i], v))
            return graph->ops[i];
    return NULL;
}

/* Whether only pointwise ops lie between the value and products or templates. An op over rows would
 * take these ops into its own kernel. */
static bool is_from_pointwise(const Program *p, const Graph *graph, const Op *reader, Value *v) {
    const Op *op = maker_of(graph, reader, v);
    const Body *body = op ? op_expand(p, op) : NULL;
    if (!body)
        return true;
    bool pointwise = all_pointwise(body);
    for (int i = 0; pointwise && i < op->in_count; i++)
        pointwise = is_from_pointwise(p, graph, op, op->in[i]);
    return pointwise;
}

bool is_made_pointwise(const Program *p, const Graph *graph, const Op *op) {
    const Op *maker = maker_of(graph, op, op->in[0]);
    return maker && op_table[maker->kind].expand && is_from_pointwise(p, graph, op, op->in[0]);
}

/* Whether the body makes the op's first operand and nothing else that the op reads. */
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
            found = true;
        else if (value_overlaps(s->value, op->in[0]))
            return false;
    }
    return found;
}

/* Makes the group with one more op; false if no kernel can serve it. What the template reads must be
 * stored, so something else has to read it too. */
static bool add_host(const Grouping *g, const Group *group, const Group *reader, Group *joined) {
    const Op *op = reader->ops[0];
    if (!op_is(op, TRAIT_PROLOGUE) || group->count == GROUP_OPS ||
        op->ends_step != group->ops[0]->ends_step || op->apart || group->ops[0]->apart ||
        (group_observed(group) && group_observed(reader)) || !makes_operand(group->body, op))
        return false;
    *joined = *group;
    group_append(g->plan->program->arena, joined, op, NULL);
    joined->hosts++;
    return !group_hides(g, joined, op->in[0]) && op_takes_prologue(g->plan, g->entry, joined);
}

/* Adds the reader to the group at *index, which may move down to it; *index is its new place. */
static bool take_up(Grouping *g, int *index, int reader) {
    bool moves_down;
    Group joined;
    if (!add_host(g, &g->groups[*index], &g->groups[reader], &joined) ||
        !groups_can_meet(g, *index, reader, &moves_down))
        return false;
    g->groups[*index] = joined;
    if (moves_down) {
        group_move(g, *index, reader - 1);
        *index = reader - 1;
    }
    group_remove(g, reader);
    return true;
}

static bool can_be_prologue(const Group *group) {
    return group->body && !group->epilogue && all_pointwise(group->body);
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
