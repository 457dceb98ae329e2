/* The parts of a run. */
#ifndef GPUOPT_LOOP_H
#define GPUOPT_LOOP_H

#include "runtime/base/rt.h"

int train(Rt *rt); /* returns the exit code */

/* Runs the held-out batches, records the result in rt->evaluations and prints it. `when` is
 * "before", "after" or, during training, NULL. The loss is NAN if there is nothing to evaluate. */
RtEvaluation evaluate(Rt *rt, const char *when);
/* The same with the weights that `convert` left, but the result is not recorded. */
RtEvaluation evaluate_converted(Rt *rt);
/* Replays the step launch by launch and ends the process, naming the first non-finite tensor. */
_Noreturn void bad_step_explain(Rt *rt, int64_t step);

/* Prints one line about the latest known step, with the speed since the last line and the time
 * left. */
void progress_show(Rt *rt);
/* The same for the first step if later ones have ended too: the next line, which follows at once,
 * has no speed either. */
void progress_show_late(Rt *rt);
void progress_end(void);     /* call before printing anything else */
void progress_start(Rt *rt); /* speed is measured from here */

void options_read(RtOptions *options, const RtProgram *program, int argc, char **argv);

/* Ends the process if dump_first_step() could not write options.dump_file, or if the run would
 * write a result there. The out folder exists. */
void dump_check(const Rt *rt);
/* Runs training step 0 without graphs and writes options.dump_file; training continues at step
 * 1. */
void dump_first_step(Rt *rt);

#endif
