/* Groups of ops that run as one launch, while they are made. */
#ifndef PLAN_GROUP_H
#define PLAN_GROUP_H

#include "plan/plan.h"

enum { GROUP_WINDOW = 24, GROUP_OPS = 32 }; /* groups that are looked at; ops in one */

typedef struct {
    const Op **ops;
    Body **parts; /* of each op, before they were joined */
    int count, capacity;
    Body *body;    /* of all; NULL: a matrix product, a memset or a template without an epilogue */
    bool epilogue; /* the body is what follows in the kernel of the template that serves ops[0] */
    const Op *windows; /* of an epilogue: the op whose windows over the result are the body's rows;
                        * NULL: they are the result's */
} Group;

typedef struct {
    Plan *plan;
    Entry entry;
    const Graph *graph;
    GraphUses uses;
    Group *groups; /* in the order in which they will run */
    int count, capacity;
} Grouping;

/* A group of one op, behind the others. */
Group *group_new(Grouping *, const Op *, Body *);
/* Into the group that it can join, or into one of its own. A sum over rows is there only after its
 * second kernel, which stands in a group of its own. */
void group_op(Grouping *, const Op *, bool fusion);
/* Appends the op; to join its body with the others' is left to the caller. */
void group_append(Arena *, Group *, const Op *, Body *part);
/* Whether the order of the two matters. */
bool ops_conflict(const Op *, const Op *);
bool groups_conflict(const Group *, const Group *);
bool group_observed(const Group *);
/* Whether nobody outside of the group reads the value, a result of one of its ops. */
bool group_hides(const Grouping *, const Group *, const Value *);
/* Drops from the body, which is not that of a single op, what nobody outside of the group reads. */
void group_drop_stores(const Grouping *, const Group *, Body *);

/* Whether the op's template leaves open what becomes of its result. */
bool op_has_epilogue(const Op *);
/* Whether the template then can find all of a window at once, of those that the reader has over the
 * result. */
bool op_finds_windows(const Op *, const Op *reader);
/* Pointwise bodies behind a template move into its epilogue, where fewer bytes move then. */
void group_epilogues(Grouping *);

#endif
