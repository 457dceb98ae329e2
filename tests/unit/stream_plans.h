/* Plans of small specs, with the streams that they give their launches; a plan in which a wait is missing
 * fails the test. */
#ifndef TESTS_UNIT_STREAM_PLANS_H
#define TESTS_UNIT_STREAM_PLANS_H

#include "plan/plan.h"
#include "plan/streams.h"
#include "spec_files.h"

/* What a test makes is in `arena`; teardown frees it. */
int teardown(void **state);

/* For an H100, of a spec's text and `--set`s. */
Plan *plan_of(const char *text, const char *const *sets, int count);
#define PLAN_OF(text, ...)                         \
    plan_of(text, (const char *const[]){__VA_ARGS__}, \
            (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *)))

PlanEntry *micro_step(Plan *plan);
/* Indices of the collectives of an entry; how many. */
int collectives(const PlanEntry *entry, int found[16]);

#endif
