/* Batch norms behind 1x1 convolutions by products with what these read: which, and what backward keeps.
 * (test_image_models.c compares the numbers.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "pass/pass.h"
#include "tests/unit/text_spec.h"

static Arena arena;

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

enum { MOST_SETS = 5 };

static const char *const resnet = "[model]\nfamily = \"resnet\"\ndepth = 50\nnum_classes = 5\nimage_size = 33\n"
                                  "[training]\ntask = \"classify\"\nper_device_train_batch_size = 4\nsteps = 2\n"
                                  "[data]\nformat = \"synthetic\"\n[job]\nname = \"gram\"\n";
static const char *const mobilenet = "[model]\nfamily = \"mobilenet_v2\"\nnum_classes = 5\nimage_size = 33\n"
                                     "[training]\ntask = \"classify\"\nper_device_train_batch_size = 4\nsteps = 2\n"
                                     "[data]\nformat = \"synthetic\"\n[job]\nname = \"gram\"\n";

/* The program as the passes leave it. */
static Program *program_of(const char *text, const char *const sets[MOST_SETS]) {
    Spec *spec = spec_of_sets(&arena, text, sets, MOST_SETS);
    Program *p = model_build(&arena, spec);
    passes_run(p, spec, NULL, NULL);
    return p;
}

static int count(const Program *p, OpKind kind) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    int found = 0;
    for (int i = 0; i < graph->op_count; i++)
        found += graph->ops[i]->kind == kind;
    return found;
}

/* Of all batch norms of the model, `by_products` are rewritten, forward and backward alike. */
static void expect(const char *text, int by_products, int all, const char *const sets[MOST_SETS]) {
    const Program *p = program_of(text, sets);
    assert_int_equal(count(p, OP_linear_norm_stats), by_products);
    assert_int_equal(count(p, OP_linear_norm_grads), by_products);
    assert_int_equal(count(p, OP_batch_norm_sums), all - by_products);
    assert_int_equal(count(p, OP_batch_norm), all);
    assert_int_equal(p->naming != NULL, by_products > 0);
}

#define EXPECT(text, by_products, all, ...) \
    expect(text, by_products, all, (const char *const[MOST_SETS]){__VA_ARGS__})

static const char large[] = "training.per_device_train_batch_size=256", size[] = "model.image_size=224";

/* By the plan: wide results over many pixels. ResNet's 16 blocks widen their channels, and so does the
 * shortcut of the first; the last three have few pixels. Of MobileNet v2's 17 blocks all but the first
 * do; the last three, and the convolution before the pool, have few pixels. */
static void wide_results(void **state) {
    (void)state;
    EXPECT(resnet, 14, 53, large, size, "precision.dtype=bf16");
    EXPECT(mobilenet, 13, 52, large, size, "precision.dtype=bf16");
    EXPECT(resnet, 0, 53, NULL);
    EXPECT(mobilenet, 0, 52, large, size, "precision.dtype=fp32");
    EXPECT(resnet, 0, 53, large, size, "compile.gram_batch_norm=false");
    EXPECT(resnet, 0, 53, large, size, "parallelism.data_parallel_replicate_degree=2",
           "parallelism.sync_batch_norm=true", "precision.dtype=bf16");
}

/* Everywhere: behind all convolutions of a kernel and a stride of 1 that no other one shares x with: in
 * the first blocks of ResNet's layers the shortcut also reads it. In the very first both are such, and
 * one of them has x beside ones. */
static void everywhere(void **state) {
    (void)state;
    static const char all[] = "compile.gram_batch_norm=true";
    EXPECT(resnet, 29, 53, all);
    EXPECT(resnet, 29, 53, all, "training.gradient_accumulation_steps=2");
    EXPECT(mobilenet, 34, 52, all);
    EXPECT(mobilenet, 34, 52, all, "precision.dtype=fp64");
}

/* What the 29 norms normalise, forward reads once and backward never. */
static void backward_does_not_read_y(void **state) {
    (void)state;
    Program *p = program_of(resnet, (const char *const[MOST_SETS]){"compile.gram_batch_norm=true"});
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    GraphUses uses = uses_find(&arena, p, graph);
    int once = 0;
    for (int i = 0; i < graph->op_count; i++) {
        int readers;
        if (graph->ops[i]->kind != OP_batch_norm)
            continue;
        use_readers(&uses, graph->ops[i]->in[0], &readers);
        once += readers == 1;
    }
    assert_int_equal(once, 29);
    assert_int_equal(count(p, OP_ones_columns), 29);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(wide_results, free_arena),
        cmocka_unit_test_teardown(everywhere, free_arena),
        cmocka_unit_test_teardown(backward_does_not_read_y, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
