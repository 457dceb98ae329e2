#include "emit/emit_ranks.h"

#include "emit/names.h"

static int groups_named(const Plan *plan, bool *named) {
    int count = 0;
    for (int i = 0; i < plan->collective_count; i++) {
        RankGroup group = plan->collectives[i].group;
        count += !named[group];
        named[group] = true;
    }
    return count;
}

void emit_groups(const Plan *plan, StrBuf *out) {
    bool named[GROUP_WORLD + 1] = {false};
    const char *before = "static const RtGroup groups[] = {";
    Arena arena = {0};
    if (groups_named(plan, named) == 0)
        return;
    for (RankGroup group = 0; group <= GROUP_WORLD; group++) {
        if (!named[group])
            continue;
        sb_printf(out, "%s%s", before, group_text(&arena, group));
        before = ", ";
    }
    sb_puts(out, "};\n\n");
    arena_free(&arena);
}

/* What tells a rank its place in a group. */
void emit_rank_places(const Places *places, StrBuf *out) {
    const Program *p = places->plan->program;
    Arena arena = {0};
    if (!p->place_count)
        return;
    sb_puts(out, "static const RtPlace rank_places[] = {\n");
    for (int i = 0; i < p->place_count; i++)
        sb_printf(out, "    {%s, %s},\n", group_text(&arena, p->places[i].group),
                  offset_text(&arena, places->symbols, p->places[i].value));
    sb_puts(out, "};\n\n");
    arena_free(&arena);
}

static void put_mesh(const Mesh *mesh, StrBuf *out) {
    static const char *const axes[AXIS_COUNT] = {[AXIS_PIPELINE] = "PIPELINE",
                                                 [AXIS_REPLICATE] = "REPLICATE",
                                                 [AXIS_SHARD] = "SHARD",
                                                 [AXIS_TENSOR] = "TENSOR"};
    const char *before = "    .mesh = {";
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        if (mesh->size[axis] == 1)
            continue;
        sb_printf(out, "%s[RT_AXIS_%s] = %lld", before, axes[axis], (long long)mesh->size[axis]);
        before = ", ";
    }
    sb_puts(out, "},\n");
}

void emit_ranks(const Plan *plan, StrBuf *out) {
    bool named[GROUP_WORLD + 1] = {false};
    const Mesh *mesh = &plan->program->mesh;
    int groups = groups_named(plan, named);
    if (mesh_ranks(mesh, GROUP_WORLD) == 1)
        return;
    put_mesh(mesh, out);
    if (groups > 0)
        sb_printf(out, "    .groups = groups,\n    .group_count = %d,\n", groups);
    if (plan->program->place_count)
        sb_printf(out, "    .places = rank_places,\n    .place_count = %d,\n",
                  plan->program->place_count);
    sb_printf(out, "    .comm_timeout_s = %.17g,\n", plan->spec->parallelism.comm_timeout_s);
}
