/* Duration of steps on the device. */
#ifndef GPUOPT_CLOCK_H
#define GPUOPT_CLOCK_H

#include "runtime/base/rt.h"

void clock_open(Rt *rt);
void clock_close(Rt *rt);
/* Makes the next step's time start here, not at the end of the previous step. The compute stream
 * must be idle. */
void clock_restart(Rt *rt);
/* Call after a step was enqueued; `profiled` marks its time. */
void clock_step(Rt *rt, bool profiled);
/* Reads the remaining times into measured.iteration_ms. The compute stream must be idle. */
void clock_collect(Rt *rt);

#endif
