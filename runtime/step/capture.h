/* The phases of a step, each of which is captured as a graph. */
#ifndef GPUOPT_CAPTURE_H
#define GPUOPT_CAPTURE_H

#include "runtime/base/rt.h"

/* What is enqueued at once, and captured as one graph: an entry, or the last one of a step with the
 * update behind it. Which card runs what is said with RtProgram.replicate. */
typedef enum {
    RT_PHASE_REPLICATE,
    RT_PHASE_MICRO_STEP,
    RT_PHASE_LAST_MICRO_STEP, /* of a card alone */
    RT_PHASE_EARLY_MICRO_STEP, /* the same of a step that is one of the first */
    RT_PHASE_LAST_EARLY_MICRO_STEP,
    RT_PHASE_STEP,            /* all of one, of a pipeline's stage */
    RT_PHASE_COLLECT,
    RT_PHASE_LAST_COLLECT,
    RT_PHASE_EVALUATE,
    RT_PHASE_EVALUATE_CONVERTED,
    RT_PHASES
} RtPhase;

enum { RT_PHASE_ENTRIES = 2 };
/* The entries of a phase, in order; how many. From now on they do what a step's last micro-step alone
 * does if the phase is one. */
int phase_begin(Rt *rt, RtPhase phase, const RtEntry *entries[RT_PHASE_ENTRIES]);

void graphs_open(Rt *rt); /* captures; does nothing where cuda_graph is false */
void graphs_close(Rt *rt);
/* One graph launch, or the launches one by one. A whole step's slot is that of its first batch. */
void rt_run_phase(Rt *rt, RtPhase phase, int slot);

#endif
