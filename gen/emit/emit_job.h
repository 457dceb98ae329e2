/* A script for Slurm. */
#ifndef EMIT_JOB_H
#define EMIT_JOB_H

#include "plan/plan.h"

typedef struct {
    const char *name; /* of its folder within the study's; "" the one experiment of a spec */
    const Plan *plan;
} JobPoint;

/* job.sbatch: one task a card; an array where there are several points. */
void emit_job(const char *folder, const JobPoint *points, int count, StrBuf *);

#endif
