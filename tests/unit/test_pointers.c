/* Where emitted functions say that buffers lie is where the plan has put them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/emit_entry.h"
#include "model/model.h"
#include "pass/pass.h"

#include <string.h>

static Arena arena;

static Plan *plan_of(const char *layers) {
    Spec *spec = spec_read(&arena, "specs/base_tiny.toml", &layers, 1);
    Program *program = model_build(&arena, spec);
    passes_run(program, spec, NULL, NULL);
    Plan *plan = plan_new(program, spec, NULL);
    plan_launches(plan);
    plan_lasting(plan);
    plan_join_launches(plan);
    plan_streams(plan);
    plan_memory(plan);
    return plan;
}

static int64_t start_of(const Plan *plan, const Pointer *pointer, int time) {
    return plan_place(plan, pointer->values[time]).offset;
}

static void expect_straight(const Plan *plan, const Pointer *pointer, int times) {
    int begin = pointer_begin(pointer);
    for (int t = begin; t < times; t++)
        if (t != pointer->odd)
            assert_int_equal(start_of(plan, pointer, t), start_of(plan, pointer, begin) + (t - begin) * pointer->step);
}

/* The pointers whose first time, or last, is the odd one. */
typedef struct {
    int first, last;
} Odd;

static Odd expect_places(const char *layers) {
    const Plan *plan = plan_of(layers);
    Odd odd = {0};
    for (int e = 0; e < ENTRY_COUNT; e++) {
        Blocks blocks = blocks_of(&arena, plan, &plan->entry[e]);
        for (int b = 0; b < blocks.count; b++) {
            const Pointers *p = &blocks.blocks[b].pointers;
            for (int i = 0; i < p->count; i++)
                if (p->pointers[i].column < 0) {
                    expect_straight(plan, &p->pointers[i], p->run.times);
                    odd.first += p->pointers[i].odd == 0;
                    odd.last += p->pointers[i].odd > 0;
                }
        }
    }
    return odd;
}

static void places_are_the_plans(void **state) {
    (void)state;
    Odd few = expect_places("model.num_hidden_layers=3"), many = expect_places("model.num_hidden_layers=8");
    assert_int_equal(few.first + few.last, 0);
    assert_true(many.first > 0 && many.last > 0);
}

/* What the first layer reads is the embedding, and what the others read the layer before; behind the last
 * one's sum stands the model's norm. */
static void the_odd_one_is_told(void **state) {
    (void)state;
    Places places = places_of(&arena, plan_of("model.num_hidden_layers=8"));
    StrBuf out = {0};
    emit_entry(&places, ENTRY_MICRO_STEP, &out);
    assert_non_null(strstr(out.text, "(rt, i ? MODEL_LAYERS_MLP_RESIDUAL(i - 1) : MODEL_EMBED_TOKENS);"));
    assert_non_null(strstr(out.text, "(rt, i < 7 ? MODEL_LAYERS_INPUT_LAYERNORM_WEIGHT(i + 1) : MODEL_NORM_WEIGHT);"));
    assert_non_null(strstr(out.text, "(rt, i < 7 ? MODEL_LAYERS_SELF_ATTN_GRAD_K(7 - i)\n"
                                     "                             : MODEL_LAYERS_0_SELF_ATTN_GRAD_K);"));
    sb_free(&out);
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_the_plans),
        cmocka_unit_test(the_odd_one_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
