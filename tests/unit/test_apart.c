/* Comments on layers outside the loop say how they differ from its layers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/apart.h"
#include "tests/unit/spec_plan.h"

#include <string.h>

static Arena arena;

static Plan *plan_of_file(const char *file, const char *const *settings, int count) {
    Spec *spec = spec_read(&arena, file, settings, count);
    return plan_of_spec(&arena, spec, device_read(&arena, spec->job.device, (Pos){0}));
}

static Plan *plan_of(const char *const *settings, int count) {
    return plan_of_file("specs/base_tiny.toml", settings, count);
}

/* Returns the comments on layers outside loops, joined. */
static const char *comments(const Plan *plan, Entry which) {
    const PlanEntry *entry = &plan->entry[which];
    Blocks blocks = blocks_of(&arena, plan, entry);
    const char *all = "";
    for (int b = 0; b < blocks.count; b++) {
        const char *text = apart_text(&arena, plan, entry, &blocks, b);
        if (text)
            all = arena_printf(&arena, "%s%s; ", all, text);
    }
    return all;
}

static void expect(const Plan *plan, Entry entry, const char *comment) {
    const char *all = comments(plan, entry);
    if (!strstr(all, arena_printf(&arena, "%s; ", comment)))
        fail_msg("no \"%s\" in: %s", comment, all);
}

static Launch *launch_called(Plan *plan, Entry entry, const char *name) {
    for (int i = 0; i < plan->entry[entry].launch_count; i++)
        if (!strcmp(plan->entry[entry].launches[i].ops[0]->name, name))
            return &plan->entry[entry].launches[i];
    fail_msg("no launch is called %s", name);
    return NULL;
}

static void test_another_kernel(void **state) {
    (void)state;
    expect(plan_of(NULL, 0), ENTRY_EVALUATE,
           "where model.layers.*.mlp_residual is done by\n"
           "     * add_rms_norm_1024x128_2_results, here by add_rms_norm_1024x128_1_result");
}

static void test_another_stream(void **state) {
    (void)state;
    Plan *plan = plan_of(NULL, 0);
    launch_called(plan, ENTRY_EVALUATE, "model.layers.0.mlp.act")->stream = STREAM_SIDE;
    expect(plan, ENTRY_EVALUATE,
           "where model.layers.*.mlp.act runs on\n"
           "     * the compute stream, here on the side stream");
}

static void test_other_waits(void **state) {
    (void)state;
    Plan *plan = plan_of(NULL, 0);
    launch_called(plan, ENTRY_EVALUATE, "model.layers.0.mlp.act")->forks = true;
    expect(plan, ENTRY_EVALUATE,
           "where model.layers.*.mlp.act waits for\n"
           "     * no other stream, here for the compute stream");
}

static void test_several_differences(void **state) {
    (void)state;
    Plan *plan = plan_of(NULL, 0);
    launch_called(plan, ENTRY_EVALUATE, "model.layers.0.mlp.act")->stream = STREAM_SIDE;
    launch_called(plan, ENTRY_EVALUATE, "model.layers.0.mlp.down_proj")->forks = true;
    expect(plan, ENTRY_EVALUATE,
           "where, among others, model.layers.*.mlp.act runs on\n"
           "     * the compute stream, here on the side stream");
    plan = plan_of_file("specs/lora_r16.toml", NULL, 0);
    expect(plan, ENTRY_MICRO_STEP, "which also launches model.layers.*.input_layernorm.grad");
    launch_called(plan, ENTRY_MICRO_STEP, "model.layers.0.mlp.act.grad")->forks = true;
    expect(plan, ENTRY_MICRO_STEP,
           "which also launches model.layers.*.input_layernorm.grad, among others");
}

static void test_a_launch_between_the_layers(void **state) {
    (void)state;
    static const char *const settings[] = {"parallelism.data_parallel_replicate_degree=2",
                                           "model.num_hidden_layers=5"};
    expect(plan_of(settings, 2), ENTRY_MICRO_STEP,
           "which does not launch model.layers.2.all_reduce");
}

static void test_a_loop_that_begins_in_the_middle_of_a_layer(void **state) {
    (void)state;
    static const char *const settings[] = {"activation_checkpoint.mode=full"};
    expect(plan_of(settings, 1), ENTRY_MICRO_STEP, "which begins in the middle of a layer");
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_kernel),
        cmocka_unit_test(test_another_stream),
        cmocka_unit_test(test_other_waits),
        cmocka_unit_test(test_several_differences),
        cmocka_unit_test(test_a_launch_between_the_layers),
        cmocka_unit_test(test_a_loop_that_begins_in_the_middle_of_a_layer),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
