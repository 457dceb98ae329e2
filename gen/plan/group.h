/* Groups of ops that run as one launch, while the grouping is under way. */
#ifndef PLAN_GROUP_H
#define PLAN_GROUP_H

#include "plan/plan.h"

enum { GROUP_WINDOW = 24, GROUP_OPS = 32 }; /* most groups searched; most ops in a group */

typedef struct {
    const Op **ops;
    Body **parts; /* the body of each op, before they were joined */
    int count, capacity;
    Body *body;    /* joined; NULL: a matrix product, a memset or a template and nothing else */
    bool epilogue; /* the body is the epilogue of the template that serves ops[0] */
    int hosts;     /* if the body is a prologue: how many ops, the last in `ops`, share its
                    * template's kernel; else 0 */
    const Op *windows; /* epilogue: the op whose windows over the result are the body's rows;
                        * NULL: the body's rows are the result's rows */
} Group;

typedef struct {
    Plan *plan;
    Entry entry;
    const GraphUses *uses;
    Group *groups; /* in the order in which they will run */
    int count, capacity;
} Grouping;

/* Appends a group of one op. */
Group *group_new(Grouping *, const Op *, Body *);
/* Adds the op to the group that it can join, or to a new one. A sum over rows is complete only
 * after its second kernel, which belongs to another group. */
void group_op(Grouping *, const Op *, bool fusion);
/* Appends the op; the caller joins its body with the others. */
void group_append(Arena *, Group *, const Op *, Body *part);
/* The body of both, the first's steps before the second's; NULL: one kernel cannot run them. */
Body *group_join_bodies(const Program *, Body *first, Body *second);
/* Whether the order of the two matters. */
bool ops_conflict(const Op *, const Op *);
bool groups_conflict(const Group *, const Group *);
/* Whether one launch may serve both, as far as their ops' flags tell. */
bool groups_may_share(const Group *, const Group *);
/* Whether group `later` can move up to group `first`, or else `first` down to `later`. */
bool groups_can_meet(const Grouping *, int first, int later, bool *moves_down);
void group_move(Grouping *, int from, int to); /* to a later place */
void group_remove(Grouping *, int index);
/* Whether nothing outside the group reads the value, a result of one of its ops. */
bool group_hides(const Grouping *, const Group *, const Value *);
/* Drops stores that nothing outside the group reads. */
void group_drop_stores(const Grouping *, const Group *, Body *);

/* Whether the op's template has an epilogue: a body that decides what becomes of its result. */
bool op_has_epilogue(const Op *);
/* Whether the template's threads can each compute a whole window of the result, as the reader's
 * windows require. */
bool op_finds_windows(const Op *, const Op *reader);
/* Moves pointwise bodies that follow a template into its epilogue where that moves fewer bytes. */
void group_epilogues(Grouping *);

/* Op i of those that the body of the group is the prologue of. */
const Op *group_host(const Group *, int i);
/* Moves pointwise bodies that make a template's operand into its prologue. */
void group_prologues(Grouping *);

#endif
