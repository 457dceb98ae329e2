/* The phases of a step, each captured as a graph. */
#ifndef GPUOPT_CAPTURE_H
#define GPUOPT_CAPTURE_H

#include "runtime/base/rt.h"

/* A unit that is enqueued together and captured as one graph: one entry, or a step's last entry
 * followed by the update. See RtProgram.replicate for which card runs which entry. */
typedef enum {
    RT_PHASE_REPLICATE,
    RT_PHASE_MICRO_STEP,
    RT_PHASE_LAST_MICRO_STEP, /* with a single card only */
    RT_PHASE_EARLY_MICRO_STEP, /* in the first RtTraining.early_steps steps */
    RT_PHASE_LAST_EARLY_MICRO_STEP,
    RT_PHASE_STEP,            /* a whole step of a pipeline stage */
    RT_PHASE_COLLECT,
    RT_PHASE_LAST_COLLECT,
    RT_PHASE_EVALUATE,
    RT_PHASE_EVALUATE_CONVERTED,
    RT_PHASES
} RtPhase;

enum { RT_PHASE_ENTRIES = 2 };
/* Sets the entries of a phase, in order, and returns their number. Also sets rt->ends_step, by
 * which an entry includes the launches of a step's last micro-step. */
int phase_begin(Rt *rt, RtPhase phase, const RtEntry *entries[RT_PHASE_ENTRIES]);

void graphs_open(Rt *rt); /* captures the graphs, unless cuda_graph is false */
void graphs_close(Rt *rt);
/* Launches the phase's graph, or enqueues its launches one by one. The slot of RT_PHASE_STEP is
 * that of its first batch. */
void rt_run_phase(Rt *rt, RtPhase phase, int slot);

#endif
