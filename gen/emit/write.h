/* Writing an emitted program to disk. */
#ifndef EMIT_WRITE_H
#define EMIT_WRITE_H

#include "emit/emit_job.h"

/* Writes the whole program into `folder`, which is created if needed: program.c, kernels.cu,
 * buffers.h, values.c, Makefile, plan.txt, plan.json, spec.toml, and the runtime's sources under
 * runtime/. For a pipeline of several stages, each stage has its own files up to plan.json in
 * stage_0, stage_1, …, and `folder` has the Makefile and plan of all stages.
 * A file is written only if its text changes. If a person has edited a generated file, nothing at
 * all is written, unless `force`. */
void write_program(const Plan *const *stages, int count, const char *folder, bool force);
/* Writes the list of a study's points, one per line, in the study's folder. */
void write_points(const char *folder, const char *points);
/* Writes job.sbatch into the folder of an experiment or a study; edited files are treated as
 * above. */
void write_job(const char *folder, const JobPoint *points, int count, bool force);
/* Removes job.sbatch from the folder, unless it is missing or was edited. */
void remove_job(const char *folder);
/* Whether the folder has files, but neither a program, nor a study, nor their results. */
bool is_of_others(const char *folder);
/* Records what was generated last, for `make run`: a program's folder or a study's list of
 * points. */
void write_last(const char *path);

#endif
