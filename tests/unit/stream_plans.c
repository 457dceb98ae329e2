#include "stream_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fileio.h"
#include "plan/plan_steps.h"
#include "tests/unit/spec_plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

Plan *plan_of(const char *text, const char *const *sets, int count) {
    char path[] = "/tmp/test_streams_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_null(file_write(path, text, strlen(text)));
    Spec *spec = spec_read(&arena, path, sets, count);
    unlink(path);
    Plan *plan = launches_of_spec(&arena, spec, device_read(&arena, "h100-sxm", (Pos){0}));
    plan_streams(plan); /* without joined launches: the tests look for single ones */
    plan_memory(plan);
    plan_predict(plan);
    const char *fault = plan_find_fault(plan);
    if (fault)
        fail_msg("%s", fault);
    return plan;
}

PlanEntry *micro_step(Plan *plan) { return &plan->entry[ENTRY_MICRO_STEP]; }

int collectives(const PlanEntry *entry, int found[16]) {
    int count = 0;
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_COLLECTIVE)
            found[count++] = i;
    return count;
}
