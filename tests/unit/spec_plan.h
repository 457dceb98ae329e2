/* Programs and plans of specs, made as in gen/compile.c. */
#ifndef TESTS_UNIT_SPEC_PLAN_H
#define TESTS_UNIT_SPEC_PLAN_H

#include "plan/plan.h"

/* After all passes. */
Program *program_of_spec(Arena *, const Spec *);
/* With launches, but in no stream or place. */
Plan *launches_of_spec(Arena *, const Spec *, const Device *);
/* With launches joined and in streams, and a place for each storage. */
Plan *plan_of_spec(Arena *, const Spec *, const Device *);

#endif
