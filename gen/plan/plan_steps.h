/* The steps of planning, in the order in which compile.c takes them.
 *
 *   launches.c           ops -> launches of kernels, GEMMs, memsets (what runs)
 *   join_launches.c      launches that differ only by a stride -> one launch
 *   buckets.c, streams.c launches -> streams, and what waits for what (what overlaps)
 *   memory.c, peak.c     storages -> offsets in the arenas (where it lies)
 *   cache.c, least.c,
 *   predict.c            bytes, FLOPs, time on the spec's device (what it costs)
 * side_stream.c repeats the last three with some kernels on a second stream.
 * check.c proves the memory plan independently, from launches and offsets only; it shares no code
 * with memory.c. */
#ifndef PLAN_PLAN_STEPS_H
#define PLAN_PLAN_STEPS_H

#include "plan/plan.h"

Plan *plan_new(Program *, const Spec *, const Device *);
/* Decides what runs. Fusion, when on, joins the bodies of neighbouring ops. */
void plan_launches(Plan *);
/* Places only the storages that outlive an entry, where plan_memory will place them too. */
void plan_lasting(Plan *);
/* Joins launches of a kernel whose operands are one stride apart. Requires plan_lasting. */
void plan_join_launches(Plan *);
/* Joins collectives over neighbouring bytes, then decides on which stream each launch runs and what
 * it waits for. Until then all launches are on one stream, in order. */
void plan_streams(Plan *);
/* Places all storages and sets the arenas' sizes. */
void plan_memory(Plan *);
/* Predicts the cost of every launch, and the process's memory. */
void plan_predict(Plan *);
/* Moves kernels that no later launch waits for to the side stream if that improves the plan, which
 * must be complete and priced; then plans memory and prices again. */
void plan_side_stream(Plan *);
/* Finds the peak. */
void plan_peak(Plan *);
/* Raises an internal fault unless every launch comes after those that it depends on, no two live
 * buffers share a byte, and every view is inside its arena. */
void plan_check(const Plan *);
/* Returns a sentence about the first such fault, or NULL. */
const char *plan_find_fault(const Plan *);

/* Schedules the stages of a pipeline together. Requires the prediction of each stage; sets each
 * plan's step time to that of the whole pipeline. */
void plan_stages(Plan *const *stages, int count);

#endif
