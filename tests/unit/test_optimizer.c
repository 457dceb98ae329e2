/* SGD's update against torch.optim.SGD's definition, written down here once more, in fp64 and with
 * 16-bit weights; clipping included. */
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
#include "model/model.h"
#include "pass/pass.h"

enum { STEPS = 4 };

static const char model[] = "[model]\n"
                            "family = \"mlp\"\n"
                            "num_classes = 3\n"
                            "image_size = 4\n"
                            "image_channels = 1\n"
                            "hidden_size = 6\n"
                            "num_hidden_layers = 1\n"
                            "[training]\n"
                            "task = \"classify\"\n"
                            "per_device_train_batch_size = 2\n"
                            "steps = 4\n"
                            "max_grad_norm = 2.0\n"
                            "[optimizer]\n"
                            "name = \"sgd\"\n"
                            "[data]\n"
                            "format = \"synthetic\"\n"
                            "decode = \"host\"\n";

static char spec_path[] = "/tmp/test_optimizer_XXXXXX";

static int write_spec(void **state) {
    (void)state;
    int file = mkstemp(spec_path);
    bool written = file >= 0 && write(file, model, sizeof model - 1) == (ssize_t)sizeof model - 1;
    return written && close(file) == 0 ? 0 : -1;
}

static int remove_spec(void **state) {
    (void)state;
    return unlink(spec_path);
}

typedef struct {
    const Spec *spec;
    Program *program;
    const Plan *plan;
    Memory memory;
    double *p, *buffer; /* the definition's */
    int64_t count;
} Run;

static double rate(int step) { return 0.1 / (1 + step); }
static double gradient(int step, int64_t i) { return sin(1.7 * (double)i + step); }

static Run run_new(Arena *arena, const char *const *sets, int nsets) {
    Run r = {.spec = spec_read(arena, spec_path, sets, nsets)};
    r.program = model_build(arena, r.spec);
    passes_run(r.program, r.spec, NULL, NULL);
    Plan *plan = plan_new(r.program, r.spec, NULL);
    plan_launches(plan);
    r.plan = plan;
    r.memory = memory_new(r.program);
    interpret_fill(&r.memory, r.program, 0.3, 5);
    const TrainState *s = &r.program->train;
    r.count = value_elements(s->master);
    r.p = arena_array(arena, (size_t)r.count, sizeof *r.p);
    r.buffer = arena_array(arena, (size_t)r.count, sizeof *r.buffer);
    for (int64_t i = 0; i < r.count; i++) {
        memory_set(&r.memory, s->master, i, r.p[i] = cos((double)i));
        if (s->exp_avg)
            memory_set(&r.memory, s->exp_avg, i, 0);
    }
    memory_set(&r.memory, r.program->counters.bad_step, 0, -1);
    for (int step = 0; step < STEPS; step++)
        memory_set(&r.memory, r.program->counters.lr, step, rate(step));
    return r;
}

/* torch.nn.utils.clip_grad_norm_ */
static double clip(const Run *r, int step) {
    double square = 0;
    for (int64_t i = 0; i < r->count; i++)
        square += gradient(step, i) * gradient(step, i);
    return fmin(1, r->spec->training.max_grad_norm / (sqrt(square) + 1e-6));
}

/* torch.optim.SGD */
static void define_step(Run *r, int step) {
    double factor = clip(r, step), momentum = r->spec->optimizer.momentum;
    for (int64_t i = 0; i < r->count; i++) {
        double g = gradient(step, i) * factor + r->spec->optimizer.weight_decay * r->p[i];
        if (momentum > 0) {
            r->buffer[i] = step == 0 ? g : momentum * r->buffer[i] + g;
            g = r->spec->optimizer.nesterov ? g + momentum * r->buffer[i] : r->buffer[i];
        }
        r->p[i] -= rate(step) * g;
    }
}

static void compare(const Run *r, const Value *v, const double *wanted, double tolerance) {
    for (int64_t i = 0; i < r->count; i++)
        if (!(fabs(memory_get(&r->memory, v, i) - wanted[i]) <= tolerance * (1 + fabs(wanted[i]))))
            fail_msg("%s[%lld] is %.17g, not %.17g", v->name, (long long)i,
                     memory_get(&r->memory, v, i), wanted[i]);
}

static void check_sgd(const char *const *sets, int nsets, double exact, double narrow) {
    Arena arena = {0};
    Run r = run_new(&arena, sets, nsets);
    const TrainState *s = &r.program->train;
    assert_null(s->exp_avg_sq);
    assert_true((s->exp_avg != NULL) == (r.spec->optimizer.momentum > 0));
    for (int step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < r.count; i++)
            memory_set(&r.memory, s->gradient, i, gradient(step, i));
        eval_entry(&r.memory, r.plan, ENTRY_UPDATE);
        define_step(&r, step);
        compare(&r, s->master, r.p, exact);
        compare(&r, s->weight, r.p, narrow);
        if (s->exp_avg)
            compare(&r, s->exp_avg, r.buffer, exact);
    }
    memory_free(&r.memory);
    arena_free(&arena);
}

#define CHECK(exact, narrow, ...)                 \
    check_sgd((const char *const[]){__VA_ARGS__}, \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), exact, narrow)

static void test_sgd(void **state) {
    (void)state;
    CHECK(1e-13, 1e-13, "precision.dtype=fp64");
    CHECK(1e-13, 1e-13, "precision.dtype=fp64", "optimizer.weight_decay=0.1");
    CHECK(1e-13, 1e-13, "precision.dtype=fp64", "optimizer.momentum=0.9");
    CHECK(1e-13, 1e-13, "precision.dtype=fp64", "optimizer.momentum=0.9", "optimizer.nesterov=true",
          "optimizer.weight_decay=0.1");
    CHECK(1e-5, 1e-5, "precision.dtype=fp32", "optimizer.momentum=0.5");
}

static void test_masters(void **state) {
    (void)state;
    CHECK(1e-5, 5e-3, "precision.dtype=bf16", "optimizer.weight_decay=0.1");
    CHECK(1e-5, 5e-3, "precision.dtype=bf16", "optimizer.momentum=0.9", "optimizer.nesterov=true");
}

/* A gradient that is not finite changes nothing but the counters. */
static void test_not_finite(void **state) {
    (void)state;
    static const char *const sets[] = {"precision.dtype=fp64", "optimizer.momentum=0.9"};
    Arena arena = {0};
    Run r = run_new(&arena, sets, 2);
    for (int64_t i = 0; i < r.count; i++)
        memory_set(&r.memory, r.program->train.gradient, i, i == 3 ? INFINITY : 1);
    eval_entry(&r.memory, r.plan, ENTRY_UPDATE);
    compare(&r, r.program->train.master, r.p, 0);
    compare(&r, r.program->train.exp_avg, r.buffer, 0);
    assert_true(memory_get(&r.memory, r.program->counters.bad_step, 0) == 0);
    memory_free(&r.memory);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sgd),
        cmocka_unit_test(test_masters),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, write_spec, remove_spec);
}
