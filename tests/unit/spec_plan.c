#include "tests/unit/spec_plan.h"

#include "model/model.h"
#include "pass/pass.h"
#include "plan/plan_steps.h"

Program *program_of_spec(Arena *arena, const Spec *spec) {
    Program *program = model_build(arena, spec);
    passes_run(program, spec, NULL, NULL);
    return program;
}

Plan *launches_of_spec(Arena *arena, const Spec *spec, const Device *device) {
    Plan *plan = plan_new(program_of_spec(arena, spec), spec, device);
    plan_launches(plan);
    return plan;
}

Plan *plan_of_spec(Arena *arena, const Spec *spec, const Device *device) {
    Plan *plan = launches_of_spec(arena, spec, device);
    plan_lasting(plan);
    plan_join_launches(plan);
    plan_streams(plan);
    plan_memory(plan);
    return plan;
}
