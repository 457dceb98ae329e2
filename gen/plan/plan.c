/* A plan's making, and where a value lies. */
#include "plan/plan.h"

Plan *plan_new(Program *program, const Spec *spec, const Device *device) {
    Plan *plan = arena_alloc(program->arena, sizeof *plan);
    plan->program = program;
    plan->spec = spec;
    plan->device = device;
    for (int e = 0; e < ENTRY_COUNT; e++) plan->entry[e].name = program->entry[e].name;
    return plan;
}

Place plan_place(const Plan *plan, const Value *value) {
    Place place = plan->place[value->storage->id];
    if (place.offset >= 0) place.offset += value->offset * dtype_bytes(value->dtype);
    return place;
}
