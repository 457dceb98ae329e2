/* A script for Slurm. */
#ifndef EMIT_JOB_H
#define EMIT_JOB_H

#include "plan/plan.h"

/* Of a program that a signal stopped and that can be resumed. */
enum { EXIT_RESUMABLE = 75 };

typedef struct {
    const char *name; /* of its folder in the study's folder; "" if the spec is no study */
    const Plan *plan;
} JobPoint;

/* Writes job.sbatch: one task per card, and an array job if there are several points. */
void emit_job(const char *folder, const JobPoint *points, int count, StrBuf *);

#endif
