/* Whole image models in fp64: gradients match finite differences, and parameters have the names,
 * shapes and number of torch's models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpret.h"
#include "model/image.h"
#include "tests/unit/spec_plan.h"

/* Of a difference and a gradient, as a share of the tensor's largest element; and as such, for the
 * shifts that the next batch norm takes off again. */
static const double DIFFERENCE = 1e-5;

static const char common[] = "[training]\n"
                             "task = \"classify\"\n"
                             "per_device_train_batch_size = 3\n"
                             "steps = 4\n"
                             "label_smoothing = 0.1\n"
                             "[precision]\n"
                             "dtype = \"fp64\"\n"
                             "[data]\n"
                             "format = \"synthetic\"\n";

static const char mlp[] = "[model]\nfamily = \"mlp\"\nnum_classes = 7\nimage_size = 4\n"
                          "image_channels = 3\nhidden_size = 66\nnum_hidden_layers = 2\n";
static const char cnn[] = "[model]\nfamily = \"cnn\"\nnum_classes = 5\nimage_size = 11\n"
                          "image_channels = 1\nlayers = [\"conv 3 3 2 1\", \"relu\", "
                          "\"conv 4 3\", \"relu\", \"conv 5 1\", \"max_pool 2 1\", "
                          "\"dropout 0.25\", \"flatten\", \"linear 6\", \"relu\", "
                          "\"dropout 0.5\"]\n";
static const char mobilenet_v2[] = "[model]\nfamily = \"mobilenet_v2\"\nnum_classes = 5\n"
                                   "image_size = 33\nwidth_mult = 0.1\n";
static const char resnet18[] = "[model]\nfamily = \"resnet\"\ndepth = 18\nnum_classes = 5\n"
                               "image_size = 33\nbase_width = 2\n";
static const char resnet50[] = "[model]\nfamily = \"resnet\"\ndepth = 50\nnum_classes = 5\n"
                               "image_size = 33\nbase_width = 2\n";

/* ---- one model ------------------------------------------------------------------------------- */

typedef struct {
    Arena arena;
    Program *program;
    const Plan *plan;
    Memory memory;
} Run;

static const Spec *read_spec(Arena *arena, const char *model, const char *const *sets, int nsets) {
    char path[] = "/tmp/test_image_models_XXXXXX";
    const char *text = arena_printf(arena, "%s%s", model, common);
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(close(file), 0);
    const Spec *spec = spec_read(arena, arena_strdup(arena, path), sets, nsets);
    unlink(path);
    return spec;
}

static double input(const char *name, int64_t i, int64_t count) {
    if (!strcmp(name, "pixels"))
        return (double)((i * i * 31 + 97 * i + 13) % 256);
    if (!strcmp(name, "indices"))
        return (double)((i + 2) % 3);
    if (!strcmp(name, "labels"))
        return (double)((3 * i + 1) % 5);
    if (!strcmp(name, "loss_weight"))
        return 1.0 / 3;
    assert_string_equal(name, "first_row");
    assert_int_equal(count, 1);
    return 0;
}

/* Fills the device's data set: the batch's images at the places of its indices. */
static void fill_dataset(Run *r) {
    const Value *dataset = r->program->dataset;
    int64_t bytes = value_cols(dataset);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t k = 0; k < bytes; k++)
            memory_set(&r->memory, dataset, (int64_t)input("indices", i, 3) * bytes + k,
                       input("pixels", i * bytes + k, 3 * bytes));
}

static Run *run_new(const char *model, const char *const *sets, int nsets) {
    Run *r = calloc(1, sizeof *r);
    const Spec *spec = read_spec(&r->arena, model, sets, nsets);
    r->program = program_of_spec(&r->arena, spec);
    r->plan = interpret_plan(r->program, spec);
    r->memory = memory_new(r->program);
    interpret_fill(&r->memory, r->program, 0.4, 3);
    for (int i = 0; i < r->program->value_count; i++) {
        const Value *v = r->program->values[i];
        if (v->role == ROLE_INPUT && value_fills(v))
            for (int64_t k = 0; k < value_elements(v); k++)
                memory_set(&r->memory, v, k, input(v->storage->name, k, value_elements(v)));
    }
    memory_set(&r->memory, r->program->counters.seed, 0, 7);
    if (r->program->dataset)
        fill_dataset(r);
    return r;
}

static void run_free(Run *r) {
    memory_free(&r->memory);
    arena_free(&r->arena);
    free(r);
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* Uses steps so small that few ReLUs switch between them. */
static double difference(Run *r, const Value *weight, int64_t element) {
    const double h = 1e-7;
    double at = memory_get(&r->memory, weight, element);
    memory_set(&r->memory, weight, element, at + h);
    double above = interpret_step(&r->memory, r->plan);
    memory_set(&r->memory, weight, element, at - h);
    double below = interpret_step(&r->memory, r->plan);
    memory_set(&r->memory, weight, element, at);
    return (above - below) / (2 * h);
}

static void check_gradient(Run *r, const Param *p, int64_t tries) {
    int64_t count = value_elements(p->weight);
    double *gradient = malloc((size_t)count * sizeof *gradient), largest = 0;
    for (int64_t i = 0; i < count; i++) {
        gradient[i] = memory_get(&r->memory, p->gradient, i);
        largest = fmax(largest, fabs(gradient[i]));
    }
    for (int64_t i = 0; i < tries && i < count; i++) {
        int64_t at = i * 7919 % count;
        double measured = difference(r, p->weight, at);
        if (!(fabs(measured - gradient[at]) <= DIFFERENCE * (largest + 1)))
            fail_msg("gradient of %s[%lld] is %.10g, differences say %.10g", p->file_name,
                     (long long)at, gradient[at], measured);
    }
    free(gradient);
    interpret_step(&r->memory, r->plan);
}

/* Gradients are computed in place, without copies. */
static void check_no_copies(const Run *r) {
    const Graph *graph = &r->program->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < graph->op_count; i++)
        assert_false(graph->ops[i]->kind == OP_scale && graph->ops[i]->attr.alpha == 1);
}

/* Checks `tries` elements of every `every`-th parameter. */
static void check_layout(const char *model, const char *layout, int every, int64_t tries) {
    Run *r = run_new(model, &layout, 1);
    check_no_copies(r);
    interpret_step(&r->memory, r->plan);
    for (int i = 0; i < r->program->param_count; i += every)
        if (value_trains(r->program->params[i].weight))
            check_gradient(r, &r->program->params[i], tries);
    run_free(r);
}

static void check_model(const char *model, int every, int64_t tries) {
    check_layout(model, "compile.layout=nhwc", every, tries);
}

static void test_mlp(void **state) {
    (void)state;
    check_model(mlp, 1, 8);
    check_layout(mlp, "compile.layout=nchw", 1, 4);
}

static void test_cnn(void **state) {
    (void)state;
    check_model(cnn, 1, 8);
    check_layout(cnn, "compile.layout=nchw", 1, 4);
}

static double largest_gradient(const Run *r, const Param *p) {
    double largest = 0;
    for (int64_t i = 0; i < value_elements(p->weight); i++)
        largest = fmax(largest, fabs(memory_get(&r->memory, p->gradient, i)));
    return largest;
}

static void compare_gradients(const Run *a, const Run *b, const Param *of_a, const Param *of_b) {
    double bound = 1e-9 * (1 + largest_gradient(a, of_a));
    for (int64_t i = 0; i < value_elements(of_a->weight); i++)
        assert_true(fabs(memory_get(&a->memory, of_a->gradient, i) -
                         memory_get(&b->memory, of_b->gradient, i)) <= bound);
}

/* What micro_step leaves in a parameter that nothing trains: running statistics. */
static void compare_buffer(const Run *a, const Run *b, const Value *of_a, const Value *of_b) {
    for (int64_t i = 0; i < value_elements(of_a); i++) {
        double x = memory_get(&a->memory, of_a, i), y = memory_get(&b->memory, of_b, i);
        assert_true(fabs(x - y) <= 1e-11 * (1 + fabs(x)));
    }
}

/* Loss, gradients and running statistics are the same, up to the order of sums, with these settings as
 * without them. Parameters have the same order in both layouts if no linear reads flattened images. */
static void compare_sets(const char *model, const char *const *with, const char *const *without, int count) {
    Run *r[] = {run_new(model, without, count), run_new(model, with, count)};
    double loss[2];
    for (int i = 0; i < 2; i++)
        loss[i] = interpret_step(&r[i]->memory, r[i]->plan);
    assert_true(loss[0] > 0 && fabs(loss[0] - loss[1]) <= 1e-11 * loss[0]);
    for (int i = 0; i < r[0]->program->param_count; i++) {
        const Param *of[] = {&r[0]->program->params[i], &r[1]->program->params[i]};
        if (value_trains(of[0]->weight))
            compare_gradients(r[0], r[1], of[0], of[1]);
        else
            compare_buffer(r[0], r[1], of[0]->weight, of[1]->weight);
    }
    run_free(r[0]);
    run_free(r[1]);
}

static void compare_layouts(const char *model) {
    compare_sets(model, (const char *const[]){"compile.layout=nchw"},
                 (const char *const[]){"compile.layout=nhwc"}, 1);
}

static void test_layouts(void **state) {
    (void)state;
    compare_layouts(mobilenet_v2);
    compare_layouts(resnet18);
    compare_layouts(resnet50);
}

static bool computes_from_products(const char *model, const char *setting) {
    Run *r = run_new(model, &setting, 1);
    bool found = graph_find(&r->program->entry[ENTRY_MICRO_STEP], OP_linear_norm_grads) != NULL;
    run_free(r);
    return found;
}

static void compare_gram(const char *model, const char *more) {
    compare_sets(model, (const char *const[]){"compile.gram_batch_norm=true", more},
                 (const char *const[]){"compile.gram_batch_norm=false", more}, 2);
}

/* Batch norms behind 1x1 convolutions, by products with what these read. */
static void test_gram_batch_norm(void **state) {
    (void)state;
    static const char *const more[] = {"compile.fusion=true", "compile.fusion=false",
                                       "training.gradient_accumulation_steps=2",
                                       "activation_checkpoint.mode=full"};
    assert_true(computes_from_products(resnet50, "compile.gram_batch_norm=true"));
    assert_false(computes_from_products(resnet50, "compile.gram_batch_norm=false"));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        compare_gram(mobilenet_v2, more[i]);
        compare_gram(resnet50, more[i]);
    }
}

static void test_mobilenet_v2(void **state) {
    (void)state;
    check_model(mobilenet_v2, 27, 1);
}

static void test_resnet(void **state) {
    (void)state;
    check_model(resnet18, 7, 1);
    check_model(resnet50, 31, 1);
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Images that the device keeps are those that would have been sent. */
static void test_resident(void **state) {
    (void)state;
    static const unsigned char header[] = {0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 3};
    char path[] = "/tmp/image_models_XXXXXX", train[64];
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, header, sizeof header) == sizeof header);
    assert_int_equal(close(file), 0);
    snprintf(train, sizeof train, "data.train=%s", path);
    const char *const sets[] = {"data.image_height=5", "data.image_width=3", "data.format=idx",
                                train, "data.device_resident=false"};
    double loss[2];
    for (int resident = 0; resident < 2; resident++) {
        Run *r = run_new(mlp, sets, 5 - resident);
        assert_true((r->program->dataset != NULL) == resident);
        loss[resident] = interpret_step(&r->memory, r->plan);
        run_free(r);
    }
    unlink(path);
    assert_true(loss[0] == loss[1] && loss[0] > 0);
}

static void check_slot(const char *const *sets, int count, int64_t bytes, int64_t rows) {
    Arena arena = {0};
    const char *all[8] = {"data.format=image_folder", "data.train=[\"/none\"]",
                          "data.image_height=5", "data.image_width=30"};
    for (int i = 0; i < count; i++)
        all[4 + i] = sets[i];
    const Spec *spec = read_spec(&arena, mlp, all, 4 + count);
    const Program *p = model_build(&arena, spec);
    assert_int_equal(image_slot_bytes(spec), bytes);
    const Graph *step = &p->entry[ENTRY_MICRO_STEP];
    const Op *planes = step->ops[0], *fit = step->ops[1];
    assert_int_equal(planes->kind == OP_picture_planes, bytes > 0);
    if (bytes > 0) {
        assert_int_equal(fit->kind, OP_picture_fit);
        assert_int_equal(value_cols(planes->in[0]), bytes);
        assert_int_equal(value_rows(fit->out[0]), rows * p->tokens);
    }
    arena_free(&arena);
}

/* A slot has room for coefficients, for raw images and for crops of them. */
static void test_slots(void **state) {
    (void)state;
    enum { STORED = 5 * 30, CROPPED = 4 * 4 };
    const char *const none[] = {"data.jpeg_pixels=0"}, *const host[] = {"data.decode=host"},
                      *const few[] = {"data.jpeg_pixels=1"}, *const kept[] = {"data.jpeg_pixels=100"},
                      *const scaled[] = {"data.decode_scaled=true"},
                      *const crops[] = {"data.random_resized_crop=true", "data.crop_from=picture"},
                      *const large[] = {"data.random_resized_crop=true", "data.crop_from=picture",
                                        "data.jpeg_pixels=1", "model.image_size=20"};
    check_slot(NULL, 0, 512 + 15 * 128, STORED); /* 3 * 4 * 150 bytes, rounded up */
    check_slot(kept, 1, 512 + 4 * 128, STORED);
    check_slot(few, 1, 512 + 4 * 128, STORED); /* a raw image of 450 bytes */
    check_slot(crops, 2, 512 + 15 * 128, CROPPED);
    check_slot(large, 4, 512 + 10 * 128, 20 * 20); /* a crop of 1200 bytes */
    check_slot(none, 1, 0, 0);
    check_slot(host, 1, 0, 0);
    check_slot(scaled, 1, 0, 0);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void check_counts(const char *model, int64_t trained, int params) {
    Arena arena = {0};
    const Program *p = model_build(&arena, read_spec(&arena, model, NULL, 0));
    int64_t elements = 0;
    for (int i = 0; i < p->param_count; i++)
        if (value_trains(p->params[i].weight))
            elements += value_elements(p->params[i].weight);
    assert_int_equal(elements, trained);
    assert_int_equal(p->param_count, params);
    arena_free(&arena);
}

/* torchvision's numbers of parameters and of tensors (state_dict() without num_batches_tracked). */
static void test_counts(void **state) {
    (void)state;
    check_counts("[model]\nfamily = \"mobilenet_v2\"\nnum_classes = 1000\nimage_size = 224\n",
                 3504872, 314 - 52);
    check_counts("[model]\nfamily = \"resnet\"\ndepth = 18\nnum_classes = 1000\nimage_size = 224\n",
                 11689512, 122 - 20);
    check_counts("[model]\nfamily = \"resnet\"\ndepth = 34\nnum_classes = 1000\nimage_size = 224\n",
                 21797672, 218 - 36);
    check_counts("[model]\nfamily = \"resnet\"\ndepth = 50\nnum_classes = 1000\nimage_size = 224\n",
                 25557032, 320 - 53);
}

static void check_names(const char *model, const char *const *names, int count) {
    Arena arena = {0};
    const Program *p = model_build(&arena, read_spec(&arena, model, NULL, 0));
    for (int i = 0; i < count; i++)
        if (!program_weight(p, names[i]))
            fail_msg("no parameter %s", names[i]);
    arena_free(&arena);
}

static void test_names(void **state) {
    (void)state;
    static const char *const mobilenet_names[] = {
        "features.0.0.weight",        "features.1.conv.0.0.weight", "features.1.conv.2.running_var",
        "features.2.conv.1.0.weight", "features.17.conv.3.bias",    "features.18.1.running_mean",
        "classifier.1.weight"};
    static const char *const resnet_names[] = {
        "conv1.weight",      "bn1.running_mean",      "layer1.0.downsample.0.weight",
        "layer2.3.bn3.bias", "layer4.2.conv3.weight", "fc.bias"};
    static const char *const cnn_names[] = {"conv1.weight", "conv2.bias", "fc1.weight", "fc2.bias"};
    check_names(mobilenet_v2, mobilenet_names, 7);
    check_names(resnet50, resnet_names, 6);
    check_names(cnn, cnn_names, 4);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void check_metrics(const char *classes, int count) {
    Arena arena = {0};
    const Program *p = model_build(&arena, read_spec(&arena, mlp, &classes, 1));
    assert_int_equal(p->counters.metric_count, count);
    assert_string_equal(p->counters.metrics[0].name, "top1");
    arena_free(&arena);
}

/* The label is always among the five largest of five. */
static void test_metrics(void **state) {
    (void)state;
    check_metrics("model.num_classes=2", 1);
    check_metrics("model.num_classes=5", 1);
    check_metrics("model.num_classes=6", 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mlp),      cmocka_unit_test(test_cnn),
        cmocka_unit_test(test_layouts), cmocka_unit_test(test_gram_batch_norm),
        cmocka_unit_test(test_resnet),   cmocka_unit_test(test_mobilenet_v2),
        cmocka_unit_test(test_resident), cmocka_unit_test(test_slots),
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
