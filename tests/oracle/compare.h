/*
 * compare.h - one dumped step against a fixture's reference.
 */
#ifndef TESTS_ORACLE_COMPARE_H
#define TESTS_ORACLE_COMPARE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct CompareJob {
    const char *case_dir; /* a folder under cases/ */
    const char *dtype;    /* "fp64", "fp32", "tf32", "bf16" or "fp16": which bounds apply */
    const char *dump;     /* the program's --dump file */
    bool other_batch;     /* whose rows lie otherwise than the fixture's: inputs are not compared */
    const char *losses;   /* its loss.csv; NULL: the course of the losses is not compared */
    const char *evaluations; /* its eval.csv; NULL: the held-out figures are not compared */
} CompareJob;

/*
 * True when every tensor is within its bound. Prints one line a failure, and on any failure the
 * whole table, to `out`.
 */
bool compare_case(const CompareJob *job, FILE *out);

#endif
