/* From a spec to its plans: the compiler without its command line and without what it writes. */
#pragma once
#include "plan/plan.h"

/* An experiment's plans, one a stage of its pipeline; without a pipeline there is one. */
typedef struct {
    Plan **stages;
    int count;
} Plans;

/* The device that the spec names; a user_error where its file is missing, wrong, or lacks what the spec
 * asks for. */
const Device *compile_device(Arena *, const Spec *);
/* Whether one process would have to drive more cards than a machine with the device has. */
bool compile_leaves_node(const Spec *, const Device *);

/* Plans live in the arena. A plan may not fit its device (plan_fits); everything else that is wrong
 * with the spec is a user_error. Where `pass` is not NULL, the program as that pass leaves it is
 * appended to `dump`, stage after stage. */
Plans compile_spec(Arena *, const Spec *, const char *pass, StrBuf *dump);

/* The first stage that does not fit its device; NULL: all do. */
const Plan *plans_unfit(Plans);
/* The stage that needs most memory. All stages take the same step, so it stands for them all where one
 * line is printed of an experiment. */
const Plan *plans_fullest(Plans);
