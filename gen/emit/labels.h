/* What each launch of an entry belongs to. */
#ifndef EMIT_LABELS_H
#define EMIT_LABELS_H

#include "emit/roll.h"
#include "plan/plan.h"

/* A launch has a label: the name of its first op without the container, or in backward of the weight
 * that it reads, because the gradient of an operand is named after the operand. If it decodes a weight
 * for another module, it has the label of the launch there that reads this. A launch of a repeated run
 * has a star in place of what is counted, until name_blocks knows what the names need. */
typedef struct {
    Arena *arena;
    const Plan *plan;
    const PlanEntry *entry;
    const char *container; /* "model." if modules are named model.layers.0 */
    int first_backward;    /* launch of the entry; launch_count: none */
    const char **label;    /* of each launch; in a repeated run, of the first iteration's */
} Labels;

/* Consecutive launches of one run. */
typedef struct {
    int first, count; /* in the entry */
    bool whole;       /* all of the run, or of its part in one module */
} Group;

Labels labels_of(Arena *, const Plan *, const PlanEntry *, const Rolled *);

bool is_backward(const Op *);
/* Length of the module that a label begins with, up to its first number: "features.3" for
 * features.3.conv.0.1. 0 if the label has no number. */
size_t label_module(const char *label);
/* Whether names are of one module, as above. */
bool in_one_module(const char *a, const char *b);
/* Returns "layers.8_to_10.mlp" for layers.*.mlp and 8_to_10. */
const char *with_range(Arena *, const char *name, const char *range);
/* Length of the parts that all labels of the group have in common. */
size_t common_of_group(const Labels *, const Group *);
/* Whether `is` holds for the ops of most of the group's launches. */
bool mostly(const Labels *, const Group *, bool is(const Op *));

#endif
