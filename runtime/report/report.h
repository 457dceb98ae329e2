/* What a run measured, beside what the plan predicted. */
#ifndef GPUOPT_REPORT_H
#define GPUOPT_REPORT_H

#include "runtime/base/rt.h"

/* Writes OUT/report.json, OUT/report.txt, OUT/loss.csv and OUT/eval.csv from rt->measured, the
 * histories, the evaluations and, where there was a profiling window, rt->profile. What was not
 * measured is null. runtime/README.md says what each figure is. Creates OUT. Ends the process
 * with one line when a file cannot be written. */
void report_write(Rt *rt);
/* The step after which the report in OUT was written; -1: there is none. */
int64_t report_last_step(const Rt *rt);

#endif
