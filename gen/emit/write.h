/* Putting an emitted program on disk. */
#ifndef EMIT_WRITE_H
#define EMIT_WRITE_H

#include "emit/emit_job.h"

/* Writes the whole program into `folder` (made where it lacks): program.c, kernels.cu, buffers.h,
 * values.c, Makefile, plan.txt, plan.json, spec.toml, and the runtime's sources under runtime/. Of a
 * pipeline of several stages the first ones are in stage_0, stage_1, …, and Makefile and plan beside
 * them are those of all.
 * A file is touched only when its text changes. A generated file that a person has edited since
 * stops the whole writing before anything is written, unless `force`. */
void write_program(const Plan *const *stages, int count, const char *folder, bool force);
/* The list of a study's points, a line each, in the study's folder. */
void write_points(const char *folder, const char *points);
/* job.sbatch, in the folder of an experiment or a study; an edited one is left as above. */
void write_job(const char *folder, const JobPoint *points, int count, bool force);
/* Notes what was generated last, for `make run`: a program's folder or a study's list of points. */
void write_last(const char *path);

#endif
