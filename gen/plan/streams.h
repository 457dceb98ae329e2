/* What the files that lay launches over streams share. */
#ifndef PLAN_STREAMS_H
#define PLAN_STREAMS_H

#include "plan/plan.h"

/* What each launch costs on the plan's device, as far as its own operands say. */
void price_launches(const Plan *, PlanEntry *);
/* Whether it is a kernel that is launched while the one right before it on its stream ends, which is a
 * kernel of ours too (compile.programmatic_launch); what waits for another stream is not. rt_launch
 * goes by the same rule. */
bool launch_is_programmatic(const Plan *, const PlanEntry *, int launch);
/* What a launch takes before it works: the gap to the one before, and its start and end. */
double launch_begin_ms(const Plan *, const PlanEntry *, int launch);
/* When the last stream has done its part of a run of the entry, its launches priced, and how much
 * longer kernels have taken than without collectives beside them, which hold multiprocessors. */
double timeline_ms(const Plan *, const PlanEntry *, bool ends_step, double *slowed_ms);
/* The same if what ranks exchange took no time. */
double timeline_alone_ms(const Plan *, const PlanEntry *, bool ends_step);
/* In a step's last run of the entry, how long before that launch begins the stream has ended all that
 * it was given by then; negative: how long after. */
double timeline_slack_ms(const Plan *, const PlanEntry *, int launch, int stream);

bool is_collective(const Launch *);
/* Whether the order of two launches matters. */
bool launches_conflict(const Launch *, const Launch *);
/* Whether a launch behind it on the compute stream waits for it. */
bool is_awaited(const PlanEntry *, int launch);
/* What waits for what, the launches' streams known. */
void plan_waits(const Plan *, PlanEntry *);

/* Joins collectives of the entry, its launches priced, that are alike and whose bytes are neighbours
 * into buckets. */
void join_buckets(Plan *, PlanEntry *);

#endif
