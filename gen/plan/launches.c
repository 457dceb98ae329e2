/* From ops to launches.
 *
 * Ops are put into groups in their order (group.c). If `[compile] fusion` allows it, a second pass
 * gives templates their epilogues and prologues (epilogue.c, prologue.c). Collectives that nothing
 * later waits for are placed last, so that they do not keep other ops from being fused. */
#include "plan/group.h"

#include <string.h>

#include "graph/op_table.h"
#include "plan/kernels.h"
#include "plan/plan_steps.h"

/* ---- collectives ----------------------------------------------------------------------------- */

static bool is_loose(const Graph *graph, const bool *loose, const Op *op) {
    if (!op_is(op, TRAIT_COLLECTIVE))
        return false;
    for (int i = op->id + 1; i < graph->op_count; i++)
        if (!loose[i] && ops_conflict(op, graph->ops[i]))
            return false;
    return true;
}

/* By op: whether it is a collective that nothing later waits for except other such collectives. */
static bool *find_loose(const Graph *graph, Arena *arena) {
    bool *loose = arena_array(arena, (size_t)graph->op_count + 1, sizeof *loose);
    for (int i = graph->op_count - 1; i >= 0; i--)
        loose[i] = is_loose(graph, loose, graph->ops[i]);
    return loose;
}

/* Places a collective right after the last group that it depends on and after collectives that are
 * already there. */
static void add_loose(Grouping *g, const Op *op) {
    Group group = *group_new(g, op, NULL);
    int at = g->count - 1;
    while (at > 0 && !groups_conflict(&g->groups[at - 1], &group))
        at--;
    while (at < g->count - 1 && op_is(g->groups[at].ops[0], TRAIT_COLLECTIVE))
        at++;
    memmove(&g->groups[at + 1], &g->groups[at], (size_t)(g->count - 1 - at) * sizeof group);
    g->groups[at] = group;
}

/* ---- launches -------------------------------------------------------------------------------- */

static void plan_group(const Grouping *g, const Group *group) {
    if (group->body)
        group_drop_stores(g, group, group->body);
    if (group->body && !group->epilogue && !group->hosts)
        plan_body(g->plan, g->entry, group->body, group->ops, group->count);
    else
        plan_op(g->plan, g->entry, group);
}

static void ensure_observed(const PlanEntry *entry, const Graph *graph, Arena *scratch) {
    bool *shown = arena_array(scratch, (size_t)graph->op_count + 1, sizeof *shown);
    for (int i = 0; i < entry->launch_count; i++)
        for (int k = 0; k < entry->launches[i].op_count; k++) {
            const Op *op = entry->launches[i].ops[k];
            shown[op->id] |= entry->launches[i].observe == op->observe;
        }
    for (int i = 0; i < graph->op_count; i++)
        ENSURE(!graph->ops[i]->observe || shown[i], "no launch shows the result of %s",
               graph->ops[i]->name);
}

static void plan_entry(Plan *plan, Entry entry) {
    const Graph *graph = &plan->program->entry[entry];
    bool fusion = plan->spec->compile.fusion;
    Arena scratch = {0};
    plan->entry[entry].uses = uses_find(plan->program->arena, plan->program, graph);
    Grouping g = {.plan = plan, .entry = entry, .uses = &plan->entry[entry].uses};
    const bool *loose = find_loose(graph, &scratch);
    for (int i = 0; i < graph->op_count; i++)
        if (!loose[i])
            group_op(&g, graph->ops[i], fusion);
    if (fusion) {
        group_epilogues(&g);
        group_prologues(&g);
    }
    for (int i = 0; i < graph->op_count; i++)
        if (loose[i])
            add_loose(&g, graph->ops[i]);
    plan_expect_launches(plan, entry, g.count + g.count / 2); /* some ops take several */
    for (int i = 0; i < g.count; i++)
        plan_group(&g, &g.groups[i]);
    ensure_observed(&plan->entry[entry], graph, &scratch);
    arena_free(&scratch);
}

void plan_launches(Plan *plan) {
    for (int e = 0; e < ENTRY_COUNT; e++)
        plan_entry(plan, (Entry)e);
}
