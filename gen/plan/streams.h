/* Shared by the files that assign launches to streams. */
#ifndef PLAN_STREAMS_H
#define PLAN_STREAMS_H

#include "plan/plan.h"

/* Whether the launch is a kernel that may start while its predecessor on the stream ends
 * (compile.programmatic_launch): the predecessor must be a kernel of the plan too, and the launch
 * must not wait for another stream. rt_launch uses the same rule. */
bool launch_is_programmatic(const Plan *, const PlanEntry *, int launch);
/* Overhead before a kernel or product does work: the gap to its predecessor, and its start and end. */
double launch_begin_ms(const Plan *, const PlanEntry *, int launch);
/* Time of one run of an entry, whose launches must be priced, until its last stream finishes.
 * *slowed_ms, unless NULL, becomes the time that kernels lose to concurrent collectives, which hold
 * multiprocessors. */
double timeline_ms(const Plan *, const PlanEntry *, bool ends_step, double *slowed_ms);
/* The same if collectives took no time. */
double timeline_without_collectives_ms(const Plan *, const PlanEntry *, bool ends_step);
/* In a step's last run of the entry: how long before `launch` begins the stream finishes everything
 * that it was given before that launch. Negative: it finishes later than `launch` could begin. */
double timeline_slack_ms(const Plan *, const PlanEntry *, int launch, int stream);

bool is_collective(const Launch *);
/* Whether the order of two launches matters. */
bool launches_conflict(const Launch *, const Launch *);
/* Storages that a launch uses and writes, each as bit id % 64. */
typedef struct {
    uint64_t used, written;
} Storages;
Storages launch_storages(const Launch *);
/* False if the order of the two launches cannot matter: most pairs have no storage in common. */
bool storages_conflict(Storages, Storages);
/* Whether a later launch on the compute stream depends on it. */
bool is_awaited(const PlanEntry *, int launch);
/* Sets what waits for what; the launches' streams must be known. */
void plan_waits(const Plan *, PlanEntry *);

/* Joins similar collectives over neighbouring bytes into buckets. The entry's launches must be
 * priced. */
void join_buckets(Plan *, PlanEntry *);

#endif
