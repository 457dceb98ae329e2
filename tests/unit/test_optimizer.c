/* Compares SGD's update with torch.optim.SGD's definition, repeated here, in fp64 and with 16-bit
 * weights, including clipping; and AdamW with 8-bit moments with bitsandbytes' definition, repeated
 * here because its kernel runs only on GPUs. */
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
#include "pass/quantize_maps.h"
#include "tests/unit/spec_plan.h"

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
    r.plan = launches_of_spec(arena, r.spec, NULL);
    r.program = r.plan->program;
    r.memory = memory_new(r.program);
    interpret_fill(&r.memory, r.program, 0.3, 5);
    const TrainState *s = &r.program->train;
    r.count = value_elements(s->master);
    r.p = arena_array(arena, (size_t)r.count, sizeof *r.p);
    r.buffer = arena_array(arena, (size_t)r.count, sizeof *r.buffer);
    for (int64_t i = 0; i < r.count; i++) {
        memory_set(&r.memory, s->master, i, r.p[i] = cos((double)i));
        if (s->exp_avg && !s->coded.rows)
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
    if (r->spec->training.max_grad_norm == 0)
        return 1;
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

/* A gradient that is not finite changes only the counters. */
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

/* ---- updates in backward --------------------------------------------------------------------- */

/* Without waiting for the norm, a gradient that is not finite counts as 0, and the norm is told. */
static void test_bad_gradient_in_backward(void **state) {
    (void)state;
    static const Spec blank;
    Arena arena = {0};
    Program *p = program_new(&arena);
    p->real = p->activation = DT_F64;
    static const char *const names[] = {"p", "g", "m", "v", "factor", "lr", "bias1", "bias2"};
    static const Attr attr = {.beta1 = 0.5, .beta2 = 0.5, .eps = 1e-30, .in_backward = true};
    Value *in[8], *out[4];
    for (int i = 0; i < 8; i++)
        in[i] = i < 4 ? value_2d(p, names[i], ROLE_OPTIMIZER, DT_F64, 2, 4, (Pos){0})
                      : value_1d(p, names[i], ROLE_COUNTER, DT_F64, 1, (Pos){0});
    for (int i = 0; i < 3; i++)
        out[i] = value_alias(p, in[i ? i + 1 : 0], "new");
    out[3] = value_2d(p, "squares", ROLE_COUNTER, DT_F64, 2, 1, (Pos){0});
    op_add_into(p, &p->entry[ENTRY_MICRO_STEP], OP_adamw, "adamw", in, 8, out, 4, attr, (Pos){0});
    Memory memory = memory_new(p);
    for (int k = 0; k < 8; k++)
        for (int64_t i = 0; i < value_elements(in[k]); i++)
            memory_set(&memory, in[k], i, k == 1 ? (i == 5 ? INFINITY : 2) : k >= 4);
    eval_entry(&memory, interpret_plan(p, &blank), ENTRY_MICRO_STEP);
    for (int i = 0; i < 8; i++) /* m = 1, v = 2 */
        assert_true(fabs(memory_get(&memory, in[0], i) - (i == 5 ? 0 : -1 / sqrt(2))) < 1e-12);
    assert_true(memory_get(&memory, out[3], 0) == 16);
    assert_true(isinf(memory_get(&memory, out[3], 1)));
    memory_free(&memory);
    arena_free(&arena);
}

static double gate_of(double loss, int bad_step) {
    static const Spec blank;
    Arena arena = {0};
    Program *p = program_new(&arena);
    p->real = p->activation = DT_F64;
    Value *in[] = {value_1d(p, "loss", ROLE_COUNTER, DT_F64, 1, (Pos){0}),
                   value_1d(p, "bad_step", ROLE_COUNTER, DT_I32, 1, (Pos){0})};
    Value *gate = value_1d(p, "gate", ROLE_COUNTER, DT_F64, 1, (Pos){0});
    op_add_into(p, &p->entry[ENTRY_MICRO_STEP], OP_update_gate, "gate", in, 2, &gate, 1, (Attr){0}, (Pos){0});
    Memory memory = memory_new(p);
    memory_set(&memory, in[0], 0, loss);
    memory_set(&memory, in[1], 0, bad_step);
    eval_entry(&memory, interpret_plan(p, &blank), ENTRY_MICRO_STEP);
    double open = memory_get(&memory, gate, 0);
    memory_free(&memory);
    arena_free(&arena);
    return open;
}

/* Updates run only while every loss, this one included, was finite. */
static void test_gate_of_updates_in_backward(void **state) {
    (void)state;
    assert_true(gate_of(0.5, -1) == 1);
    assert_true(gate_of(NAN, -1) == 0);
    assert_true(gate_of(INFINITY, -1) == 0);
    assert_true(gate_of(0.5, 0) == 0);
}

/* ---- AdamW with moments in 8 bits ------------------------------------------------------------ */

enum { BLOCK = 256, LEAST = 4096 };

/* A moment in its stored form, for all tensors one after the other. */
typedef struct {
    const double *map;
    double *value; /* decoded from the codes */
    int *code;
    float *absmax; /* by block of a tensor, at its first element */
} Moment;

static Moment moment_new(Arena *arena, bool is_signed, int64_t count) {
    return (Moment){dynamic_map(arena, is_signed),
                    arena_array(arena, (size_t)count, sizeof(double)),
                    arena_array(arena, (size_t)count, sizeof(int)),
                    arena_array(arena, (size_t)count, sizeof(float))};
}

/* quantize_2D in csrc/kernels.cu of bitsandbytes (0.45 to 0.50),
 * kOptimizerStatic8bit2StateBlockwise: the nearest number of the map; a negative number gets a
 * negative one. */
static int code_of(const double *map, float x) {
    int code = 0;
    while (code < 255 && x > ((float)map[code] + (float)map[code + 1]) / 2)
        code++;
    return map[code] == 0 && x < 0 ? code - 1 : code;
}

static void keep(Moment *m, int64_t first, int64_t count, const double *x, bool large) {
    for (int64_t b = first; b < first + count; b += BLOCK) {
        int64_t end = b + BLOCK < first + count ? b + BLOCK : first + count;
        float most = 0;
        for (int64_t i = b; i < end; i++)
            most = fmaxf(most, fabsf((float)x[i - first]));
        m->absmax[b] = most;
        for (int64_t i = b; i < end; i++) {
            m->code[i] = code_of(m->map, most > 0 ? (float)x[i - first] / most : 0);
            m->value[i] = large ? (double)((float)m->map[m->code[i]] * most) : x[i - first];
        }
    }
}

typedef struct {
    Run *r;
    Moment m, v;
    double *p;
    int64_t coded; /* number of coded tensors */
} Adam;

/* A step for a tensor whose elements begin at `first`: bitsandbytes' Adam with AdamW's decay, as in
 * its Triton kernel, _optimizer_update_2state_8bit_blockwise_triton_kernel. */
static void define_adamw(Adam *a, const Param *param, int64_t first, int step) {
    int64_t count = value_elements(param->weight);
    double *m = calloc((size_t)count, sizeof *m), *v = calloc((size_t)count, sizeof *v);
    double factor = clip(a->r, step), lr = rate(step), decay = a->r->spec->optimizer.weight_decay;
    for (int64_t i = 0; i < count; i++) {
        double g = gradient(step, first + i) * factor;
        m[i] = a->m.value[first + i] * 0.9 + 0.1 * g;
        v[i] = a->v.value[first + i] * 0.999 + 0.001 * g * g;
        double root = sqrt(v[i]) / sqrt(1 - pow(0.999, step + 1)) + 1e-8;
        a->p[first + i] *= 1 - lr * decay;
        a->p[first + i] -= lr / (1 - pow(0.9, step + 1)) * m[i] / root;
    }
    keep(&a->m, first, count, m, count >= LEAST);
    keep(&a->v, first, count, v, count >= LEAST);
    free(m);
    free(v);
}

static double got(const Adam *a, const Value *v, int64_t i) {
    return memory_get(&a->r->memory, v, i);
}

/* Numbers at the edge between two codes may get either one, depending on rounding. */
static void check_moment(Adam *a, const Value *codes, const Value *absmax, Moment *m, int64_t first,
                         int64_t *edges) {
    for (int64_t i = 0; i < value_elements(codes); i++) {
        double wanted = absmax ? m->code[first + i] : m->value[first + i];
        if (absmax && got(a, codes, i) != wanted && fabs(got(a, codes, i) - wanted) <= 1) {
            m->code[first + i] = (int)got(a, codes, i);
            float block = m->absmax[first + i / BLOCK * BLOCK];
            m->value[first + i] = (double)((float)m->map[m->code[first + i]] * block);
            ++*edges;
        } else if (!(fabs(got(a, codes, i) - wanted) <= 1e-12 * (1 + fabs(wanted)))) {
            fail_msg("%s[%lld] is %.9g, not %.9g", codes->name, (long long)i, got(a, codes, i),
                     wanted);
        }
    }
    for (int64_t b = 0; absmax && b < value_elements(absmax); b++)
        assert_true(fabs(got(a, absmax, b) / (double)m->absmax[first + b * BLOCK] - 1) <= 1.2e-7);
}

static void check_param(Adam *a, const Param *param, int64_t first, int step) {
    int64_t edges = 0, count = value_elements(param->weight);
    bool large = count >= LEAST;
    define_adamw(a, param, first, step);
    assert_true((param->exp_avg_absmax != NULL) == large);
    assert_true((param->exp_avg->dtype == DT_U8) == large);
    for (int64_t i = 0; i < count; i++)
        assert_true(fabs(got(a, param->master, i) - a->p[first + i]) <= 1e-9);
    check_moment(a, param->exp_avg, param->exp_avg_absmax, &a->m, first, &edges);
    check_moment(a, param->exp_avg_sq, param->exp_avg_sq_absmax, &a->v, first, &edges);
    assert_true(edges <= count / 1000);
    a->coded += large;
}

static void set_step(Adam *a, int step) {
    const Program *p = a->r->program;
    int64_t first = 0;
    for (int i = 0; i < p->param_count; first += value_elements(p->params[i].weight), i++)
        for (int64_t k = 0; k < value_elements(p->params[i].weight); k++)
            memory_set(&a->r->memory, p->params[i].gradient, k, gradient(step, first + k));
    memory_set(&a->r->memory, p->counters.bias_correction1, step, 1 - pow(0.9, step + 1));
    memory_set(&a->r->memory, p->counters.bias_correction2_sqrt, step,
               sqrt(1 - pow(0.999, step + 1)));
}

static void zero_value(Run *r, const Value *v) {
    for (int64_t i = 0; v && i < value_elements(v); i++)
        memory_set(&r->memory, v, i, 0);
}

static void zero_moments(Run *r) {
    const TrainState *s = &r->program->train;
    const Value *all[] = {s->exp_avg,          s->exp_avg_sq,           s->coded.exp_avg,
                          s->coded.exp_avg_sq, s->coded.exp_avg_absmax, s->coded.exp_avg_sq_absmax,
                          s->gradient};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        zero_value(r, all[i]);
    for (int i = 0; i < r->program->value_count; i++) {
        const Value *v = r->program->values[i];
        for (int64_t k = 0; v->role == ROLE_CONSTANT && v->data && k < value_elements(v); k++)
            memory_set(&r->memory, v, k, v->data[k]);
    }
}

static void check_adamw_int8(const char *weight_decay) {
    const char *const sets[] = {"precision.dtype=fp64",
                                "optimizer.name=adamw",
                                "optimizer.state=int8",
                                weight_decay,
                                "model.hidden_size=302",
                                "training.max_grad_norm=0.0",
                                "compile.optimizer_in_backward=false"};
    Arena arena = {0};
    Run r = run_new(&arena, sets, 7);
    const Program *p = r.program;
    int64_t count = 0, first = 0;
    for (int i = 0; i < p->param_count; i++)
        count += value_elements(p->params[i].weight);
    Adam a = {&r, moment_new(&arena, true, count), moment_new(&arena, false, count),
              arena_array(&arena, (size_t)count, sizeof(double)), 0};
    zero_moments(&r);
    for (int i = 0; i < p->param_count; first += value_elements(p->params[i].weight), i++)
        for (int64_t k = 0; k < value_elements(p->params[i].weight); k++)
            a.p[first + k] = memory_get(&r.memory, p->params[i].master, k);
    for (int step = 0; step < STEPS; step++) {
        set_step(&a, step);
        eval_entry(&r.memory, r.plan, ENTRY_UPDATE);
        first = 0;
        for (int i = 0; i < p->param_count; first += value_elements(p->params[i].weight), i++)
            check_param(&a, &p->params[i], first, step);
    }
    assert_true(a.coded > 0 && a.coded < STEPS * p->param_count);
    memory_free(&r.memory);
    arena_free(&arena);
}

static void test_adamw_int8(void **state) {
    (void)state;
    check_adamw_int8("optimizer.weight_decay=0.1");
    check_adamw_int8("optimizer.weight_decay=0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adamw_int8), cmocka_unit_test(test_bad_gradient_in_backward),
        cmocka_unit_test(test_sgd),        cmocka_unit_test(test_masters),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_gate_of_updates_in_backward),
    };
    return cmocka_run_group_tests(tests, write_spec, remove_spec);
}
