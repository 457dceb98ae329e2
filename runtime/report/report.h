/* The report: what a run measured, next to what the plan predicted. */
#ifndef GPUOPT_REPORT_H
#define GPUOPT_REPORT_H

#include "runtime/base/rt.h"

/* Writes OUT/report.json, OUT/report.txt, OUT/loss.csv and OUT/eval.csv from rt->measured, the
 * histories, the evaluations and, if there was a profiling window, rt->profile. Figures that were
 * not measured are null. runtime/README.md explains each figure. Creates OUT. Ends the process with
 * one line if a file cannot be written. */
void report_write(Rt *rt);
/* Ends the process with one line if report_write() could not put its files into OUT, which
 * exists. */
void report_check(const Rt *rt);
/* Returns whether report_write() writes a file of this name. */
bool report_has(const char *name);
/* Removes the report in OUT and the files of its profiling window, because results that they are not of
 * are about to be written there. */
void report_remove(const Rt *rt);
/* Returns the step after which the report in OUT was written, or -1 if there is none. */
int64_t report_last_step(const Rt *rt);
/* Returns whether the report in OUT is of the state that a checkpoint has, by its checksum. A run that
 * started over, and was stopped at its end, has the same step as the run before it. */
bool report_is_of_state(const Rt *rt, const char *state_crc32);
/* Returns whether the report in OUT is of another experiment, or of other settings of this one. */
bool report_is_of_other(const Rt *rt);

#endif
