/* What the files that lay launches over streams share. */
#ifndef PLAN_STREAMS_H
#define PLAN_STREAMS_H

#include "plan/plan.h"

/* What each launch costs on the plan's device, as far as its own operands say. */
void price_launches(const Plan *, PlanEntry *);
/* When the last stream has done its part of a run of the entry, its launches priced. What a kernel
 * loses to another beside it, a collective's share of multiprocessors and memory for one, is not
 * counted. */
double timeline_ms(const PlanEntry *, bool ends_step);
/* In a step's last run of the entry, how long before that launch begins the stream has ended all that
 * it was given by then; negative: how long after. */
double timeline_slack_ms(const PlanEntry *, int launch, int stream);

/* Joins collectives of the entry, its launches priced, that are alike and whose bytes are neighbours
 * into buckets. */
void join_buckets(Plan *, PlanEntry *);

#endif
