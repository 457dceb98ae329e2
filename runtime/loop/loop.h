/* A run, and what it consists of. */
#ifndef GPUOPT_LOOP_H
#define GPUOPT_LOOP_H

#include "runtime/base/rt.h"

int train(Rt *rt); /* exit code */

/* Runs the held-out batches, keeps what was found and prints it; `when` is "before", "after" or
 * NULL for in between. The loss is NAN where there is nothing to evaluate. */
RtEvaluation evaluate(Rt *rt, const char *when);
/* The same of what convert has left; not kept among those of training. */
RtEvaluation evaluate_converted(Rt *rt);
/* Replays the step launch by launch and ends the process, naming the first tensor that went bad. */
_Noreturn void bad_step_explain(Rt *rt, int64_t step);

/* One line about the latest known step, with speed since the last line and time left. */
void progress_show(Rt *rt);
void progress_end(void);     /* before anything else is printed */
void progress_start(Rt *rt); /* speed is counted from here */

void options_read(RtOptions *options, const RtProgram *program, int argc, char **argv);


/* Training step 0, uncaptured, and options.dump_file written from it; the next step is step 1. */
void dump_first_step(Rt *rt);

#endif
