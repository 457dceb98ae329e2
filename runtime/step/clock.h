/* Time of steps on the device. */
#ifndef GPUOPT_CLOCK_H
#define GPUOPT_CLOCK_H

#include "runtime/base/rt.h"

void clock_open(Rt *rt);
void clock_close(Rt *rt);
/* The next step's time starts here, not at the end of the step before it. The compute stream is
 * idle. */
void clock_restart(Rt *rt);
/* A step was enqueued; `profiled` marks its time. */
void clock_step(Rt *rt, bool profiled);
/* Reads what is not read yet into measured.iteration_ms; the compute stream is idle. */
void clock_collect(Rt *rt);

#endif
