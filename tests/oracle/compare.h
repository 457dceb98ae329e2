/*
 * compare.h - compares a dumped step with a fixture's reference.
 */
#ifndef TESTS_ORACLE_COMPARE_H
#define TESTS_ORACLE_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct CompareJob {
    const char *case_dir; /* a folder under cases/ */
    const char *dtype;    /* "fp64", "fp32", "tf32", "bf16" or "fp16": which bounds apply */
    const char *dump;     /* the program's --dump file */
    bool other_batch;     /* rows are laid out differently from the fixture's: skip the inputs */
    const char *losses;   /* its loss.csv; NULL: the losses of the ten steps are not compared */
    const char *evaluations; /* its eval.csv; NULL: the held-out figures are not compared */
} CompareJob;

/*
 * Returns whether every tensor is within its bound. On failure prints to `out` why a file could not
 * be compared, if so, and the table of all tensors compared.
 */
bool compare_case(const CompareJob *job, FILE *out);

#endif
