/* Numbers that the compiler and the runtime both define. Neither includes the other's headers, and
 * programs contain what follows from these numbers rather than their names, so only this file compares
 * them. What programs name, such as RT_SCHEDULE_COSINE, the C compiler checks. */
#include "emit/emit_job.h"
#include "pass/train_state.h"
#include "plan/plan.h"
#include "runtime/base/rt.h"
#include "runtime/data/data_images.h"
#include "runtime/data/data_kind.h"
#include "runtime/files/safetensors.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SAME(compiler, runtime) assert_int_equal((int)(compiler), (int)(runtime))

/* The most that the runtime has room for. */
static void test_limits(void **state) {
    (void)state;
    const RtParam *param = 0;
    SAME(MAX_METRICS, RT_MAX_METRICS);
    SAME(MAX_RANK, sizeof param->shape / sizeof *param->shape);
    SAME(MAX_RANK, sizeof param->split / sizeof *param->split);
    SAME(MAX_RANK, sizeof param->order / sizeof *param->order);
    assert_true((int)MAX_RANK <= (int)ST_MAX_RANK);
}

/* Memory that one side lays out and the other reads. */
static void test_layouts(void **state) {
    (void)state;
    SAME(INPUT_SLOTS, RT_SLOTS);
    SAME(STATE_BLOCK, RT_MOMENT_BLOCK);
    SAME(BOX_NUMBERS * sizeof(int32_t), sizeof(Box));
    assert_true(IGNORED < 0); /* the losses ignore all negative labels */
}

/* Both number ranks by the order of the axes. */
static void test_axes(void **state) {
    (void)state;
    SAME(AXIS_COUNT, RT_AXES);
    SAME(AXIS_PIPELINE, RT_AXIS_PIPELINE);
    SAME(AXIS_REPLICATE, RT_AXIS_REPLICATE);
    SAME(AXIS_SHARD, RT_AXIS_SHARD);
    SAME(AXIS_TENSOR, RT_AXIS_TENSOR);
    SAME(AXIS_SAME_KEYS, RT_AXIS_SAME_KEYS);
}

static void test_groups(void **state) {
    (void)state;
    SAME(GROUP_SETS, RT_GROUPS);
    SAME(GROUP_WORLD, RT_WORLD);
    SAME(GROUP_DATA, RT_DATA);
    SAME(GROUP_TENSOR, RT_TENSOR);
    SAME(GROUP_KEYS, RT_KEYS);
    SAME(GROUP_ENDS, RT_ENDS);
}

/* The kinds of exchange, of which the report has the predicted and the measured ones. */
static void test_exchanges(void **state) {
    (void)state;
    SAME(COLLECTIVE_KINDS, RT_COLLECTIVES);
    SAME(PURPOSE_COUNT, RT_PURPOSES);
}

/* job.sbatch asks how the program ended. */
static void test_exit_codes(void **state) {
    (void)state;
    SAME(EXIT_RESUMABLE, RT_EXIT_RESUMABLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_axes),     cmocka_unit_test(test_groups),
        cmocka_unit_test(test_exchanges), cmocka_unit_test(test_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
