/* The addresses of buffers in emitted functions are those of the plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/emit_entry.h"
#include "tests/unit/spec_plan.h"

#include <string.h>

static Arena arena;

static Plan *plan_of(const char *layers) {
    Spec *spec = spec_read(&arena, "specs/base_tiny.toml", &layers, 1);
    return plan_of_spec(&arena, spec, NULL);
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

/* The series gives, for each number of a counted pointer, the place of that value in the plan. */
static void expect_series(const Places *places, const Pointers *p, const Pointer *pointer) {
    const char *text = pointer_text(&arena, places, p, pointer);
    size_t name = strcspn(text, "(");
    const Series *found = NULL;
    for (int i = 0; i < places->series_count; i++)
        if (strlen(places->series[i].name) == name && !strncmp(text, places->series[i].name, name))
            found = &places->series[i];
    assert_non_null(found);
    assert_non_null(found->members);
    for (int t = pointer_begin(pointer); t <= pointer_last(pointer, p->run.times); t++) {
        int at = number_at(pointer->count, t) - found->number;
        assert_in_range(at, 0, found->count - 1);
        assert_int_equal(plan_place(places->plan, found->members[at]).offset, start_of(places->plan, pointer, t));
        if (found->within >= 0)
            assert_int_equal(found->members[at]->offset, found->members[0]->offset);
    }
}

/* Numbers of pointers whose first or last time differs, and of listed ones. */
typedef struct {
    int first, last, listed;
} Kinds;

static Kinds expect_places(const char *layers) {
    Places places = places_of(&arena, plan_of(layers));
    Kinds kinds = {0};
    for (int e = 0; e < ENTRY_COUNT; e++) {
        const Blocks *blocks = &places.blocks[e];
        for (int b = 0; b < blocks->count; b++) {
            const Pointers *p = &blocks->blocks[b].pointers;
            for (int i = 0; i < p->count; i++) {
                const Pointer *pointer = &p->pointers[i];
                if (pointer->listed || pointer->step)
                    expect_series(&places, p, pointer);
                if (!pointer->listed && pointer->column < 0)
                    expect_straight(places.plan, pointer, p->run.times);
                kinds.first += pointer->odd == 0;
                kinds.last += pointer->odd > 0;
                kinds.listed += pointer->listed;
            }
        }
    }
    return kinds;
}

static void places_are_the_plans(void **state) {
    (void)state;
    expect_places("model.num_hidden_layers=3");
    Kinds many = expect_places("model.num_hidden_layers=8");
    assert_true(many.first > 0 && many.last > 0 && many.listed > 0);
}

/* The first layer reads the embedding, the others the layer before; the model's norm follows the
 * last one's sum. Backward counts down. */
static void loops_count_layers(void **state) {
    (void)state;
    Places places = places_of(&arena, plan_of("model.num_hidden_layers=8"));
    StrBuf out = {0};
    const Strides strides = strides_of(&arena, places.plan);
    emit_entry(&places, &strides, ENTRY_MICRO_STEP, &out);
    assert_non_null(strstr(out.text, "layer == 0 ? MODEL_EMBED_TOKENS : MODEL_LAYERS_MLP_RESIDUAL(layer - 1)"));
    assert_non_null(strstr(out.text, "layer == 7 ? MODEL_NORM_WEIGHT"));
    assert_non_null(strstr(out.text, "for (int layer = 0; layer < 8; layer++)"));
    assert_non_null(strstr(out.text, "for (int layer = 7; layer >= 0; layer--)"));
    assert_non_null(strstr(out.text, "MODEL_LAYERS_SELF_ATTN_GRAD_K(layer)"));
    sb_free(&out);
}

/* Backward counts blocks down; the first one adds up its shortcut's gradient in the place where the
 * others have that of their norm. Both a block and the one before are members of one series. */
static void loops_tell_kinds_apart(void **state) {
    (void)state;
    const char *const sets[] = {"compile.gram_batch_norm=false"};
    Spec *spec = spec_read(&arena, "specs/h100/resnet50_224.toml", sets, 1);
    Places places = places_of(&arena, plan_of_spec(&arena, spec, NULL));
    StrBuf out = {0};
    const Strides strides = strides_of(&arena, places.plan);
    emit_entry(&places, &strides, ENTRY_MICRO_STEP, &out);
    assert_non_null(strstr(out.text, "i == 1 ? LAYER3_0_DOWNSAMPLE_1_WEIGHT_GRAD_PARTIAL"));
    assert_non_null(strstr(out.text, "i == 1 ? LAYER4_0_DOWNSAMPLE_1_WEIGHT_GRAD_PARTIAL"));
    assert_non_null(strstr(out.text, "/* layer3.{i-1}.relu.grad: "));
    assert_non_null(strstr(out.text, "LAYER1_RELU(i - 1)"));
    assert_non_null(strstr(out.text, "LAYER1_RELU(i)"));
    sb_free(&out);
}

static bool has_section(const char *path, const char *name) {
    Plan *plan = plan_of_spec(&arena, spec_read(&arena, path, NULL, 0), NULL);
    for (int i = 0; i < plan->program->train.section_count; i++)
        if (!strcmp(plan->program->train.sections[i].name, name))
            return true;
    return false;
}

/* A section is named after what its modules have in common if no other has more of that; else after
 * the module that has most of it, or after the first. */
static void sections_have_names_of_modules(void **state) {
    (void)state;
    static const char resnet[] = "specs/h100/resnet50_224.toml", mobilenet[] = "specs/h100/mobilenet_v2_224.toml";
    assert_true(has_section(resnet, "layer2"));
    assert_true(has_section(resnet, "vectors"));
    assert_true(has_section(resnet, "layer1.2"));
    assert_true(has_section(mobilenet, "features.18"));
    assert_true(has_section(mobilenet, "vectors"));
    assert_false(has_section(mobilenet, "features"));
}

/* One kernel for the losses of several chunks would keep all their logits at once. */
static void a_loss_is_of_one_chunk(void **state) {
    (void)state;
    const PlanEntry *entry = &plan_of("compile.head_chunk_tokens=256")->entry[ENTRY_EVALUATE];
    int losses = 0;
    for (int i = 0; i < entry->launch_count; i++) {
        int here = 0;
        for (int k = 0; k < entry->launches[i].op_count; k++)
            here += entry->launches[i].ops[k]->kind == OP_cross_entropy;
        assert_true(here <= 1);
        losses += here;
    }
    assert_true(losses > 1);
}

static int free_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_the_plans),
        cmocka_unit_test(loops_count_layers),
        cmocka_unit_test(loops_tell_kinds_apart),
        cmocka_unit_test(sections_have_names_of_modules),
        cmocka_unit_test(a_loss_is_of_one_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
