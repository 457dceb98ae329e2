/* From a spec to its plans: the compiler without its command line and without writing files. */
#pragma once
#include "plan/plan.h"

/* An experiment's plans: one per pipeline stage, or a single one without a pipeline. */
typedef struct {
    Plan **stages;
    int count;
} Plans;

/* Reads the device that the spec names. It is a user_error if the device's file is missing or
 * wrong, or lacks a feature that the spec asks for. */
const Device *compile_device(Arena *, const Spec *);
/* Whether a single process would have to drive more cards than a node with this device has. */
bool compile_leaves_node(const Spec *, const Device *);

/* Single cards that experiments have been compared with. Points of a study that differ only in their
 * cards share one. Starts as {arena}, of an arena that outlives the points. */
typedef struct OneCard OneCard;
typedef struct {
    Arena *arena;
    OneCard *newest;
} OneCards;

/* Plans an experiment; the plans live in the arena. A plan may not fit its device (see plan_fits);
 * anything else wrong with the spec is a user_error. If `pass` is not NULL, the program as it is
 * after that pass is appended to `dump`, for each stage in order. */
Plans compile_spec(Arena *, OneCards *, const Spec *, const char *pass, StrBuf *dump);

/* The stage that needs most memory. The predicted step is the same for all stages, so this one
 * represents an experiment that is printed as one line. */
const Plan *plans_fullest(Plans);
/* The same if it does not fit its device, or NULL if all fit. */
const Plan *plans_unfit(Plans);
