/* emit_settings.c calls these, first for the tables that `program` points to, then for its fields.
 * All ranks run the same program: each finds its number in a group from its own and the mesh. */
#include "emit/emit_ranks.h"

#include "emit/names.h"
#include "plan/collectives.h"

void emit_groups(const Plan *plan, StrBuf *out) {
    RankGroup groups[GROUP_SETS];
    int count = plan_groups(plan, groups);
    Arena arena = {0};
    for (int i = 0; i < count; i++)
        sb_printf(out, "%s%s", i > 0 ? ", " : "static const RtGroup groups[] = {",
                  group_text(&arena, &plan->program->mesh, groups[i]));
    if (count > 0)
        sb_puts(out, "};\n\n");
    arena_free(&arena);
}

/* Writes the table of values that tell a rank its number in a group. */
void emit_group_ranks(const Places *places, StrBuf *out) {
    const Program *p = places->plan->program;
    Arena arena = {0};
    if (!p->group_rank_count)
        return;
    sb_puts(out, "static const RtGroupRank group_ranks[] = {\n");
    for (int i = 0; i < p->group_rank_count; i++)
        sb_printf(out, "    {%s, %s},\n", group_text(&arena, &p->mesh, p->group_ranks[i].group),
                  offset_text(&arena, places->symbols, p->group_ranks[i].value));
    sb_puts(out, "};\n\n");
    arena_free(&arena);
}

static void put_mesh(const Mesh *mesh, StrBuf *out) {
    Arena arena = {0};
    const char *before = "    .mesh = {";
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        if (!mesh_has(mesh, 1u << axis))
            continue;
        sb_printf(out, "%s[RT_AXIS_%s] = %lld", before, upper_text(&arena, axis_name((Axis)axis)),
                  (long long)mesh->size[axis]);
        before = ", ";
    }
    sb_puts(out, "},\n");
    arena_free(&arena);
}

void emit_ranks(const Plan *plan, StrBuf *out) {
    RankGroup groups[GROUP_SETS];
    const Mesh *mesh = &plan->program->mesh;
    if (!mesh_has(mesh, GROUP_WORLD))
        return;
    put_mesh(mesh, out);
    sb_printf(out, "    .groups = groups,\n    .group_count = %d,\n", plan_groups(plan, groups));
    if (plan->program->group_rank_count)
        sb_printf(out, "    .group_ranks = group_ranks,\n    .group_rank_count = %d,\n",
                  plan->program->group_rank_count);
    sb_printf(out, "    .comm_timeout_s = %.17g,\n", plan->spec->parallelism.comm_timeout_s);
}
