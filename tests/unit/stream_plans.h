/* Plans of small specs, with streams for their launches; a plan in which a wait is missing fails
 * the test. */
#ifndef TESTS_UNIT_STREAM_PLANS_H
#define TESTS_UNIT_STREAM_PLANS_H

#include "plan/plan.h"
#include "plan/streams.h"
#include "spec_files.h"

/* Everything that a test allocates is in `arena`; teardown frees it. */
int teardown(void **state);

/* Plans a spec's text with `--set`s for an H100. */
Plan *plan_of(const char *text, const char *const *sets, int count);
#define PLAN_OF(text, ...)                         \
    plan_of(text, (const char *const[]){__VA_ARGS__}, \
            (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *)))

PlanEntry *micro_step(Plan *plan);
/* Finds the indices of an entry's collectives; returns their number. */
int collectives(const PlanEntry *entry, int found[16]);

#endif
