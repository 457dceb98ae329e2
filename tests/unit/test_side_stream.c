/* The side stream: which kernels it overlaps with others, what waits for them, and the gain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/op_table.h"
#include "plan/figures.h"
#include "plan/plan_steps.h"
#include "plan/print_plan.h"
#include "stream_plans.h"

#include <math.h>
#include <string.h>

/* Kernels that take longer to launch than to run. */
static const char *const small =
    "[model]\nfamily = \"mlp\"\nnum_classes = 16\nimage_size = 8\nimage_channels = 1\n"
    "hidden_size = 64\nnum_hidden_layers = 3\n"
    "[training]\ntask = \"classify\"\nper_device_train_batch_size = 64\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"side\"\n";

static Plan *side_of(Plan *plan) {
    plan_side_stream(plan);
    const char *fault = plan_find_fault(plan);
    if (fault)
        fail_msg("%s", fault);
    return plan;
}

#define SIDE(...) side_of(PLAN_OF(small, __VA_ARGS__))

static int beside(const PlanEntry *entry) {
    int count = 0;
    for (int i = 0; i < entry->launch_count; i++)
        count += entry->launches[i].stream == STREAM_SIDE;
    return count;
}

static void test_gradients_of_weights_run_beside(void **state) {
    (void)state;
    Plan *plan = SIDE("training.steps=3"), *one = SIDE("compile.side_stream=false");
    const PlanEntry *entry = micro_step(plan);
    assert_true(beside(entry) > 0);
    assert_int_equal(beside(micro_step(one)), 0);
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        bool gradient = strstr(launch->ops[0]->name, "weight.grad") != NULL;
        /* The first layer's is the last launch: nothing is left to overlap with it. */
        assert_int_equal(gradient && i + 1 < entry->launch_count,
                         launch->kind == LAUNCH_GEMM && launch->stream == STREAM_SIDE);
        for (int w = 0; w < launch->wait_count; w++)
            assert_int_equal(launch->stream, STREAM_SIDE);
    }
    assert_true(plan->step.ms < 0.98 * one->step.ms);
    assert_int_equal(plan->gemm_workspaces, 2);
    assert_int_equal(one->gemm_workspaces, 1);
}

/* ---- what is printed ------------------------------------------------------------------------- */

static const char *side_line(const Plan *plan) {
    StrBuf text = {0};
    plan_print_text(plan, &text);
    const char *line = strstr(text.text, "side stream: ");
    const char *kept = line ? arena_strndup(&arena, line, strcspn(line, "\n")) : "";
    sb_free(&text);
    return kept;
}

/* What is saved is the difference to one stream, where the launches' times add up to the step. The line
 * is the same if the roles of the streams are swapped. */
static void test_what_is_saved_is_printed(void **state) {
    (void)state;
    Plan *plan = SIDE("training.steps=3"), *one = SIDE("compile.side_stream=false");
    PlanEntry *entry = micro_step(plan);
    double sum = 0;
    for (int i = 0; i < entry->launch_count; i++)
        sum += entry->launches[i].cost.ms;
    for (int i = 0; i < plan->entry[ENTRY_UPDATE].launch_count; i++)
        sum += plan->entry[ENTRY_UPDATE].launches[i].cost.ms;
    assert_float_equal(plan->beside_ms, sum - plan->step.ms, 1e-9);
    assert_float_equal(plan->beside_ms, one->step.ms - plan->step.ms, 1e-3);
    assert_true(plan->beside_ms > 0 && fabs(one->beside_ms) < 1e-9);
    double more = (double)(plan_total_bytes(plan) - plan_total_bytes(one));
    assert_true(more > 0 && one->beside_bytes == 0);
    assert_string_equal(side_line(one), "");
    const char *expected = arena_printf(
        &arena,
        "side stream: %d of these launches run beside others, which saves %.3f ms and adds %.2f MiB to "
        "the arenas; shares can add up to over 100 %%",
        beside(entry), plan->beside_ms, more / 0x1p20);
    assert_string_equal(side_line(plan), expected);
    for (int i = 0; i < entry->launch_count; i++) {
        bool side = entry->launches[i].stream == STREAM_SIDE;
        entry->launches[i].stream = side ? STREAM_COMPUTE : STREAM_SIDE;
    }
    assert_string_equal(side_line(plan), expected);
}

/* Where the side stream loses time to the exchange, the step waits for longer than that takes. */
static void test_no_more_is_exposed_than_exchanged(void **state) {
    (void)state;
    static const char *const cnn =
        "[model]\nfamily = \"cnn\"\nnum_classes = 6\nimage_size = 12\nimage_channels = 1\n"
        "layers = [\"conv 8 3\", \"relu\", \"conv 12 3 1 1\", \"max_pool 2\", \"flatten\", "
        "\"linear 16\", \"relu\"]\n"
        "[training]\ntask = \"classify\"\nper_device_train_batch_size = 4\nsteps = 2\n"
        "[parallelism]\ndata_parallel_replicate_degree = 2\n"
        "[data]\nformat = \"synthetic\"\n[job]\nname = \"side\"\n";
    Plan *plan = side_of(PLAN_OF(cnn, "training.steps=3"));
    assert_true(beside(micro_step(plan)) > 0);
    assert_true(plan->exposed_ms > 0 && plan->exposed_ms <= plan_exchanged(plan).ms);
}

/* Copies of batches lengthen the step, but move no kernel. */
static void test_copies_of_batches_move_nothing(void **state) {
    (void)state;
    Plan *plan = SIDE("training.steps=3"), *waits = SIDE("compile.overlap=false");
    assert_true(waits->step.ms > plan->step.ms);
    assert_int_equal(beside(micro_step(waits)), beside(micro_step(plan)));
}

static int products_beside(const PlanEntry *entry) {
    int count = 0;
    for (int i = 0; i < entry->launch_count; i++)
        count += entry->launches[i].kind == LAUNCH_GEMM && entry->launches[i].stream == STREAM_SIDE;
    return count;
}

/* The update of all weights waits for all their gradients. Only the last gradient holds it up. */
static void test_gradients_run_beside_before_an_update(void **state) {
    (void)state;
#define NO_NORM "training.max_grad_norm=0.0"
    Plan *plan = SIDE(NO_NORM), *after = SIDE(NO_NORM, "compile.optimizer_in_backward=false");
    const PlanEntry *entry = micro_step(plan);
    const Launch *last = &entry->launches[entry->launch_count - 1];
    assert_int_equal(last->ops[0]->kind, OP_adamw);
    assert_int_equal(last->stream, STREAM_COMPUTE);
    assert_int_equal(last->wait_count, 1);
    assert_true(products_beside(entry) > 0);
    assert_int_equal(products_beside(entry), products_beside(micro_step(after)));
    assert_true(plan->step.ms < after->step.ms);
}

/* Whether there may be something to gain is asked of the overheads that products have. */
static void test_overhead_of_products_counts(void **state) {
    (void)state;
    Plan *plan = PLAN_OF(small, "training.steps=3");
    Device device = *plan->device;
    device.kernel_ms = device.kernel_gap_ms = 0;
    plan->device = &device;
    plan_predict(plan);
    assert_true(products_beside(micro_step(side_of(plan))) > 0);
}

/* A weight is decoded just before its product, in the order of the graph, but waits for no gradient. */
static void test_decoding_waits_for_no_gradient(void **state) {
    (void)state;
    static const char *const qlora =
        "[model]\nfamily = \"llama\"\nvocab_size = 64\nhidden_size = 64\nintermediate_size = 128\n"
        "num_hidden_layers = 2\nnum_attention_heads = 2\nnum_key_value_heads = 1\n"
        "[adapter]\ntype = \"lora\"\nr = 4\n[quantization]\nquant_type = \"nf4\"\n"
        "[training]\ntask = \"sft\"\nseq_len = 16\nper_device_train_batch_size = 2\nsteps = 2\n"
        "[data]\nformat = \"synthetic\"\n[job]\nname = \"decoded\"\n";
    Plan *plan = side_of(PLAN_OF(qlora, "training.steps=3"));
    const PlanEntry *entry = micro_step(plan);
    int decoded = 0;
    for (int i = 0; i < entry->launch_count; i++)
        if (op_is(entry->launches[i].ops[0], TRAIT_DECODES)) {
            assert_int_equal(entry->launches[i].wait_count, 0);
            decoded++;
        }
    assert_true(decoded > 0 && beside(entry) > 0);
}

/* A kernel after a kernel begins earlier; after a product, on another stream or as the first it
 * does not. */
static void test_programmatic_launches_are_priced(void **state) {
    (void)state;
#define ONE_STREAM "compile.side_stream=false"
    Plan *plan = SIDE(ONE_STREAM, "compile.programmatic_launch=true"),
         *as_before = SIDE(ONE_STREAM);
    const PlanEntry *entry = micro_step(plan);
    double saved = plan->device->kernel_gap_ms - plan->device->programmatic_gap_ms;
    int early = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        bool behind_kernel = i > 0 && entry->launches[i - 1].kind == LAUNCH_KERNEL;
        bool is_early = entry->launches[i].kind == LAUNCH_KERNEL && behind_kernel;
        assert_int_equal(launch_is_programmatic(plan, entry, i), is_early);
        early += is_early;
    }
    assert_true(early > 0 && early < entry->launch_count - 1);
    assert_float_equal(micro_step(as_before)->cost.ms - entry->cost.ms, early * saved, 1e-6);
    Plan *two = SIDE("compile.programmatic_launch=true");
    entry = micro_step(two);
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].wait_count || entry->launches[i].forks)
            assert_false(launch_is_programmatic(two, entry, i));
    assert_true(beside(entry) > 0 && two->step.ms < SIDE("training.steps=3")->step.ms);
}

static void test_what_does_not_gain_stays(void **state) {
    (void)state;
    assert_int_equal(beside(micro_step(SIDE("compile.cuda_graph=false"))), 0);
    assert_int_equal(beside(micro_step(SIDE("parallelism.data_parallel_mode=dp",
                                            "parallelism.data_parallel_replicate_degree=2"))),
                     0);
    Plan *large = SIDE("training.per_device_train_batch_size=65535", "model.hidden_size=4096");
    Plan *one = SIDE("training.per_device_train_batch_size=65535", "model.hidden_size=4096",
                     "compile.side_stream=false");
    assert_int_equal(beside(micro_step(large)), 0);
    assert_int_equal(large->process_bytes, one->process_bytes);
    /* It would take more than a hundredth of the budget. */
#define MORE "training.per_device_train_batch_size=16384"
    assert_true(beside(micro_step(SIDE(MORE))) > 0);
    assert_int_equal(beside(micro_step(SIDE(MORE, "activation_checkpoint.memory_budget_gib=0.7"))),
                     0);
}

/* Adapters' copies into borders wait only for the update, and nothing waits for them. */
static const char *const adapted =
    "[model]\nfamily = \"llama\"\nvocab_size = 64\nhidden_size = 64\nintermediate_size = 128\n"
    "num_hidden_layers = 2\nnum_attention_heads = 4\n"
    "[adapter]\ntype = \"lora\"\nr = 4\ntarget_modules = \"all-linear\"\n"
    "[training]\ntask = \"sft\"\nseq_len = 32\nper_device_train_batch_size = 1\nsteps = 2\n"
    "[data]\nformat = \"synthetic\"\n[job]\nname = \"side\"\n";

/* Sums of gradients at the end of backward wait for the side stream; backward waits for neither. */
static void test_sums_at_the_end_wait_for_the_side_stream(void **state) {
    (void)state;
#define TWO_CARDS "parallelism.data_parallel_replicate_degree=2"
    Plan *plan = side_of(PLAN_OF(adapted, TWO_CARDS));
    Plan *one = side_of(PLAN_OF(adapted, TWO_CARDS, "compile.side_stream=false"));
    PlanEntry *entry = micro_step(plan);
    int at[16], sums = 0;
    assert_int_equal(collectives(entry, at), 1);
    Launch *sum = &entry->launches[at[0]];
    assert_int_equal(sum->stream, STREAM_COMMUNICATION);
    for (int w = 0; w < sum->wait_count; w++)
        sums += entry->launches[sum->wait[w]].stream == STREAM_SIDE;
    assert_int_equal(sums, 1);
    assert_true(beside(entry) > 0 && plan->step.ms < one->step.ms);
    for (int i = 0; i < entry->launch_count; i++)
        assert_true(entry->launches[i].stream != STREAM_COMPUTE || !entry->launches[i].wait_count);
    sum->wait_count = 0;
    assert_non_null(plan_find_fault(plan));
}

static void test_the_last_are_shared_out(void **state) {
    (void)state;
    Plan *plan = side_of(PLAN_OF(adapted, "training.steps=3"));
    const PlanEntry *entry = &plan->entry[ENTRY_UPDATE];
    int count[MAX_STREAMS] = {0};
    for (int i = 0; i < entry->launch_count; i++)
        if (strstr(entry->launches[i].ops[0]->name, ".border"))
            count[entry->launches[i].stream]++;
    assert_true(count[STREAM_SIDE] >= 4);
    assert_true(count[STREAM_COMPUTE] >= 4);
}

static Launch *last_product_beside(PlanEntry *entry) {
    Launch *last = NULL;
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].stream == STREAM_SIDE && entry->launches[i].kind == LAUNCH_GEMM)
            last = &entry->launches[i];
    return last;
}

static void test_missing_waits_of_the_side_stream_are_found(void **state) {
    (void)state;
    Plan *plan = SIDE("training.steps=3");
    PlanEntry *entry = &plan->entry[ENTRY_MICRO_STEP];
    Launch *product = last_product_beside(entry);
    product->wait_count--;
    assert_non_null(strstr(plan_find_fault(plan), "must come after"));
    product->wait_count++;
    entry->wait_count = 0;
    assert_non_null(strstr(plan_find_fault(plan), "may still run at its end"));
    entry->wait_count = 1;
    assert_null(plan_find_fault(plan));
    /* Puts its operand into the workspace of its products. */
    const Storage *read = product->arg[0]->storage;
    plan->place[read->id].offset = plan_gemm_workspace(plan, STREAM_SIDE);
    assert_non_null(strstr(plan_find_fault(plan), "the workspace"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_gradients_of_weights_run_beside, teardown),
        cmocka_unit_test_teardown(test_what_is_saved_is_printed, teardown),
        cmocka_unit_test_teardown(test_no_more_is_exposed_than_exchanged, teardown),
        cmocka_unit_test_teardown(test_copies_of_batches_move_nothing, teardown),
        cmocka_unit_test_teardown(test_gradients_run_beside_before_an_update, teardown),
        cmocka_unit_test_teardown(test_overhead_of_products_counts, teardown),
        cmocka_unit_test_teardown(test_decoding_waits_for_no_gradient, teardown),
        cmocka_unit_test_teardown(test_what_does_not_gain_stays, teardown),
        cmocka_unit_test_teardown(test_the_last_are_shared_out, teardown),
        cmocka_unit_test_teardown(test_missing_waits_of_the_side_stream_are_found, teardown),
        cmocka_unit_test_teardown(test_programmatic_launches_are_priced, teardown),
        cmocka_unit_test_teardown(test_sums_at_the_end_wait_for_the_side_stream, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
