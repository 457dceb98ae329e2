/* The process's rank according to the environment variables of its launcher (mpirun, srun). */
#ifndef GPUOPT_LAUNCHER_H
#define GPUOPT_LAUNCHER_H

int launched_rank(void);  /* 0 without a launcher */
int launched_ranks(void); /* 1 without a launcher */

#endif
