/* Errors of processes that a launcher started on one machine and that do not know each other yet. */
#ifndef GPUOPT_SIBLINGS_H
#define GPUOPT_SIBLINGS_H

/* From now on, an error with which several of these processes end is said once, and names the rank:
 * the lowest one unless it fails much later. watch_share() does so where ranks share memory. */
void siblings_share_errors(int rank);

#endif
