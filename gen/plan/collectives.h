/* The plan's collectives: what ranks exchange, how much and for how long. */
#ifndef PLAN_COLLECTIVES_H
#define PLAN_COLLECTIVES_H

#include "plan/plan.h"

/* Index in plan->collectives of one that is alike, appended where there is none. */
int plan_collective(Plan *, Collective);
/* Of a COLLECTIVE launch; bytes as nccl-tests counts them, of all ranks' parts where ranks have
 * parts. */
double collective_bytes(const Plan *, const Launch *);
double collective_ms(const Plan *, const Launch *);
/* The ranks that take part, as the device's links see them. */
Party collective_party(const Plan *, const Collective *);

#endif
