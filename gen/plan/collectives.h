/* The plan's collectives: what ranks exchange, how many bytes, and how long it takes. */
#ifndef PLAN_COLLECTIVES_H
#define PLAN_COLLECTIVES_H

#include "plan/plan.h"

/* Index of an equal collective in plan->collectives, which is appended if there is none. */
int plan_collective(Plan *, Collective);
/* Bytes and time of a COLLECTIVE launch. Bytes are counted as nccl-tests does: the parts of all
 * ranks together where ranks have parts. */
double collective_bytes(const Plan *, const Launch *);
Time collective_time(const Plan *, const Launch *);
/* The ranks that take part, as the device's links see them. */
Party collective_party(const Plan *, const Collective *);
/* Lists the rank groups that need a communicator; returns how many. */
int plan_groups(const Plan *, RankGroup groups[GROUP_SETS]);

#endif
