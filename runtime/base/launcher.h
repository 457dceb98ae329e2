/* What started this process: its place among those that were started together, as the environment
 * has it. */
#ifndef GPUOPT_LAUNCHER_H
#define GPUOPT_LAUNCHER_H

int launched_rank(void);  /* 0 without a launcher */
int launched_ranks(void); /* 1 without one */

#endif
