/* What the plan counts: the model's arithmetic is the same whatever the rewrites add to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fileio.h"
#include "model/model.h"
#include "pass/pass.h"
#include "plan/plan.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const base = "[model]\nvocab_size = 64\nhidden_size = 32\n"
                                "intermediate_size = 88\nnum_hidden_layers = 3\n"
                                "num_attention_heads = 2\nnum_key_value_heads = 2\n"
                                "max_position_embeddings = 32\n"
                                "[training]\ntask = \"sft\"\nseq_len = 32\n"
                                "per_device_train_batch_size = 4\nsteps = 2\n"
                                "[adapter]\ntype = \"lora\"\ntarget_modules = [\"all-linear\"]\n"
                                "[data]\nformat = \"synthetic\"\n[job]\nname = \"predict\"\n";

enum { MOST_SETS = 4 };

static Plan *plan_of(Arena *arena, const char *const *sets, int count) {
    char path[] = "/tmp/test_predict_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_null(file_write(path, base, strlen(base), NULL));
    Spec *spec = spec_read(arena, path, sets, count);
    unlink(path);
    Program *program = model_build(arena, spec);
    passes_run(program, spec, NULL, NULL);
    Plan *plan = plan_new(program, spec, device_read(arena, "h100-sxm", (Pos){0}));
    plan_launches(plan);
    plan_memory(plan);
    plan_predict(plan);
    return plan;
}

/* Of a step's matrix products. */
static Cost products(const char *const *sets, const char *bordered) {
    Arena arena = {0};
    const char *all[MOST_SETS + 1] = {bordered};
    int count = 1;
    while (sets[count - 1]) {
        all[count] = sets[count - 1];
        count++;
    }
    const PlanEntry *entry = &plan_of(&arena, all, count)->entry[ENTRY_MICRO_STEP];
    Cost sum = {0};
    for (int i = 0; i < entry->launch_count; i++)
        if (entry->launches[i].kind == LAUNCH_GEMM) {
            sum.flops += entry->launches[i].cost.flops;
            sum.model_flops += entry->launches[i].cost.model_flops;
        }
    arena_free(&arena);
    return sum;
}

static void compare(const char *const *sets) {
    Cost apart = products(sets, "compile.bordered=false");
    Cost bordered = products(sets, "compile.bordered=true");
    assert_true(bordered.flops > apart.flops);
    if (bordered.model_flops != apart.model_flops)
        fail_msg("%s: %.0f FLOPs, else %.0f", sets[0], bordered.model_flops, apart.model_flops);
}

/* A border multiplies zeros: of other linears' columns, and of padded ranks. */
static void test_zeros_are_no_work_of_the_model(void **state) {
    (void)state;
    compare((const char *const[]){"adapter.r=16", NULL});
    compare((const char *const[]){"adapter.r=3", NULL});
    compare((const char *const[]){"adapter.r=3", "adapter.lora_dropout=0.1", NULL});
    compare((const char *const[]){"adapter.r=3", "parallelism.tensor_parallel_degree=2", NULL});
    compare((const char *const[]){"adapter.r=3", "activation_checkpoint.mode=full", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros_are_no_work_of_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
