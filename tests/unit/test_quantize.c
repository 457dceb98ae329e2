/* Quantised weights: compares what load keeps and what products read with the definition, repeated
 * here: the nearest number of a map, relative to the block's largest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "pass/quantize_maps.h"
#include "plan/figures.h"
#include "plan/plan_steps.h"
#include "tests/unit/spec_plan.h"

enum { ABSMAX_BLOCK = 256 };

typedef struct {
    Arena arena;
    Program *program;
    Plan *plan;
    Memory memory;
    const double *map; /* of codes */
} Made;

static void make(Made *m, const char *const *sets, int count) {
    *m = (Made){0};
    Spec *spec = spec_read(&m->arena, "tests/golden/qlora.toml", sets, count);
    m->map = spec->quantization.quant_type == QUANT_FP4 ? fp4_map(&m->arena) : nf4_map();
    m->plan = launches_of_spec(&m->arena, spec, NULL);
    m->program = m->plan->program;
    m->memory = memory_new(m->program);
}

static void made_free(Made *m) {
    memory_free(&m->memory);
    arena_free(&m->arena);
}

static Value *find(const Program *p, const char *name, const char *ending) {
    for (int i = 0; i < p->value_count; i++) {
        size_t length = strlen(name);
        if (!strncmp(p->values[i]->name, name, length) && !strcmp(p->values[i]->name + length, ending))
            return p->values[i];
    }
    return NULL;
}

/* Weights of every size, with a block of zeros and ties. */
static double weight(int64_t i) {
    static const double scale[] = {1, 0.01, 3, 1e-5};
    if (i / 64 == 2) return 0;
    return (float)(scale[i / 640 % 4] * sin((double)(i * i % 1009)));
}

static void fill_constants(Made *m) {
    for (int i = 0; i < m->program->value_count; i++) {
        const Value *v = m->program->values[i];
        for (int64_t k = 0; v->role == ROLE_CONSTANT && v->data && k < value_elements(v); k++)
            memory_set(&m->memory, v, k, v->data[k]);
    }
}

static void load(Made *m) {
    const PlanEntry *entry = &m->plan->entry[ENTRY_LOAD];
    fill_constants(m);
    for (int i = 0; i < entry->launch_count; i++) {
        const Launch *launch = &entry->launches[i];
        const Value *to = launch->arg[0];
        for (int64_t k = 0; launch->kind == LAUNCH_FETCH && k < value_elements(to); k++)
            memory_set(&m->memory, to, k, weight(k));
        if (launch->kind != LAUNCH_FETCH) eval_launch(&m->memory, m->plan, launch);
    }
}

static double at(const Made *m, const Value *v, int64_t i) { return memory_get(&m->memory, v, i); }

static int code_of(const Made *m, const Value *codes, int64_t i) {
    int byte = (int)at(m, codes, i / 2);
    return i % 2 ? byte & 15 : byte >> 4;
}

/* Checks that no other number of the map is nearer. */
static void assert_nearest(const double *map, int count, int code, double x) {
    double distance = fabs(x - map[code]);
    for (int i = 0; i < count; i++)
        assert_true(distance <= fabs(x - map[i]) + 1e-6);
}

static double largest(const Made *m, const Value *v, int64_t first, int64_t end, double less) {
    double most = 0;
    for (int64_t i = first; i < end; i++)
        most = fmax(most, fabs((double)(float)(at(m, v, i) - less)));
    return most;
}

/* Returns each block's absmax as used in decoding; the caller frees it. */
static double *check_absmax(const Made *m, const Param *param, int64_t size) {
    const Program *p = m->program;
    const char *name = param->weight->name;
    int64_t blocks = value_elements(param->weight) / size;
    const Value *absmax = find(p, name, ".absmax"), *offset = find(p, name, ".absmax_offset");
    const Value *absmax2 = find(p, name, ".absmax2");
    double *decoded = calloc((size_t)blocks, sizeof *decoded), mean = 0, *whole = calloc((size_t)blocks, sizeof *whole);
    Arena arena = {0};
    const double *map = dynamic_map(&arena, true);
    for (int64_t b = 0; b < blocks; b++)
        mean += whole[b] = largest(m, param->weight, b * size, (b + 1) * size, 0);
    for (int64_t b = 0; b < blocks; b++) {
        if (!offset) {
            assert_true(at(m, absmax, b) == whole[b]);
            decoded[b] = whole[b];
            continue;
        }
        double off = at(m, offset, 0), scale = at(m, absmax2, b / ABSMAX_BLOCK), most = 0;
        assert_true(fabs(off - mean / (double)blocks) <= 1e-6 * off);
        int64_t first = b / ABSMAX_BLOCK * ABSMAX_BLOCK;
        for (int64_t i = first; i < blocks && i < first + ABSMAX_BLOCK; i++)
            most = fmax(most, fabs((double)((float)whole[i] - (float)off)));
        assert_true(scale == most);
        int code = (int)at(m, absmax, b);
        assert_nearest(map, DYNAMIC_CODES, code, ((float)whole[b] - (float)off) / scale);
        decoded[b] = (float)map[code] * (float)scale + (float)off;
    }
    free(whole);
    arena_free(&arena);
    return decoded;
}

static void check_codes(const Made *m, const Param *param, int64_t size) {
    for (int64_t i = 0; i < value_elements(param->weight); i++) {
        int64_t block = i / size;
        double absmax = largest(m, param->weight, block * size, (block + 1) * size, 0);
        int code = code_of(m, param->stored, i);
        assert_nearest(m->map, CODES_4BIT, code, absmax ? at(m, param->weight, i) / absmax : 0);
    }
}

static const Param *param_of(const Program *p, const Value *codes) {
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].stored && p->params[i].stored->storage == codes->storage)
            return &p->params[i];
    fail_msg("%s is no parameter's", codes->name);
    return NULL;
}

static double rounded(Made *m, const Value *like, double x) {
    memory_set(&m->memory, like, 0, x);
    return at(m, like, 0);
}

static void check_decoded(Made *m, const Op *op, int64_t size) {
    const Value *out = op->out[0];
    const Param *param = param_of(m->program, op->in[0]);
    double *absmax = check_absmax(m, param, size);
    for (int64_t row = 0; row < value_rows(out); row++)
        for (int64_t col = 0; col < value_cols(out); col++) {
            int64_t i = row * value_cols(out) + col;
            float w = (float)m->map[code_of(m, param->stored, i)] * (float)absmax[i / size];
            double found = at(m, out, value_index(out, row, col));
            double before = at(m, out, 0);
            assert_true(found == rounded(m, out, w));
            memory_set(&m->memory, out, 0, before);
        }
    free(absmax);
}

static void check(const char *const *sets, int count, int64_t size) {
    Made m;
    int kept = 0, decodes = 0;
    make(&m, sets, count);
    load(&m);
    for (int i = 0; i < m.program->param_count; i++) {
        const Param *param = &m.program->params[i];
        if (!param->stored) continue;
        check_codes(&m, param, size);
        free(check_absmax(&m, param, size));
        kept++;
    }
    assert_int_equal(kept, 3 * 7);
    const PlanEntry *step = &m.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < step->launch_count; i++)
        if (step->launches[i].ops[0]->kind == OP_decode_4bit) {
            eval_launch(&m.memory, m.plan, &step->launches[i]);
            for (int k = 0; k < step->launches[i].op_count; k++, decodes++)
                if (step->launches[i].ops[k]->kind == OP_decode_4bit)
                    check_decoded(&m, step->launches[i].ops[k], size);
        }
    /* Once for forward, and once for backward unless nothing before it trains. */
    assert_true(decodes > kept && decodes <= 2 * kept);
    made_free(&m);
}

static void test_double_quant(void **state) {
    (void)state;
    check((const char *const[]){"precision.dtype=\"bf16\""}, 1, 64);
    check((const char *const[]){"precision.dtype=\"fp64\""}, 1, 64);
}

static void test_fp4(void **state) {
    (void)state;
    check((const char *const[]){"quantization.quant_type=\"fp4\""}, 1, 64);
}

/* The magnitudes above which the next 4-bit float is used, and the signs of the two zeros. */
static void test_fp4_bounds(void **state) {
    (void)state;
    Arena arena = {0};
    const double *bounds = fp4_bounds(&arena), *order = fp4_order(), *map = fp4_map(&arena);
    static const struct {
        float x;
        int code;
    } some[] = {{0, 0}, {-0.0f, 0}, {1e-45f, 0}, {-1e-45f, 8}, {0.00260417f, 0}, {-0.00260417f, 8},
                {0.0859375f, 1}, {-0.0859375f, 9}, {0.0859376f, 6}, {-0.0859376f, 14},
                {7 / 24.0f, 7}, {-7 / 24.0f, 15}, {0.2916667f, 4}, {-0.2916667f, 12}, {5 / 6.0f, 2}, {-5 / 6.0f, 10}, {1, 3}, {-1, 11}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        int below = 0;
        for (int k = 0; k < CODES_4BIT - 1; k++)
            below += (float)bounds[k] < some[i].x;
        assert_int_equal((int)order[below], some[i].code);
    }
    for (int i = 1; i < CODES_4BIT; i++) {
        assert_true(map[(int)order[i - 1]] <= map[(int)order[i]]);
        assert_true(i == 1 || bounds[i - 2] < bounds[i - 1]);
    }
    arena_free(&arena);
}

/* Rows of integers: each is within half a step of its weight and decoded with its row's scale. */
static void check_row(Made *m, const Param *param, int64_t row) {
    const Value *w = param->weight, *half = find(m->program, w->name, ".half");
    const Value *absmax = find(m->program, w->name, ".absmax");
    int64_t cols = value_cols(w);
    double most = 0;
    for (int64_t i = row * cols; i < (row + 1) * cols; i++)
        most = fmax(most, fabs(rounded(m, half, at(m, w, i))));
    assert_true(at(m, absmax, row) == most);
    for (int64_t i = row * cols; i < (row + 1) * cols; i++) {
        double x = rounded(m, half, at(m, w, i)), code = at(m, param->stored, i);
        float scale = most ? 127 * (1 / (float)most) : 0;
        assert_true(code == rint((float)(x * (double)scale)));
    }
}

static void check_decoded_rows(Made *m, const Op *op) {
    const Value *out = op->out[0], *codes = op->in[0], *absmax = op->in[1];
    for (int64_t row = 0; row < value_rows(out); row++)
        for (int64_t col = 0; col < value_cols(out); col++) {
            float w = (float)at(m, codes, value_index(codes, row, col)) * (float)at(m, absmax, row);
            double found = at(m, out, value_index(out, row, col)), before = at(m, out, 0);
            assert_true(found == rounded(m, out, w * (1 / 127.0f)));
            memory_set(&m->memory, out, 0, before);
        }
}

static void test_int8(void **state) {
    (void)state;
    Made m;
    int kept = 0, decodes = 0;
    make(&m, (const char *const[]){"quantization.quant_type=\"int8\""}, 1);
    load(&m);
    for (int i = 0; i < m.program->param_count; i++) {
        const Param *param = &m.program->params[i];
        if (!param->stored) continue;
        for (int64_t row = 0; row < value_rows(param->weight); row++)
            check_row(&m, param, row);
        kept++;
    }
    assert_int_equal(kept, 3 * 7);
    const PlanEntry *step = &m.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < step->launch_count; i++)
        for (int k = 0; k < step->launches[i].op_count; k++)
            if (step->launches[i].ops[k]->kind == OP_decode_rows) {
                eval_launch(&m.memory, m.plan, &step->launches[i]);
                check_decoded_rows(&m, step->launches[i].ops[k]);
                decodes++;
            }
    assert_true(decodes > kept && decodes <= 2 * kept);
    made_free(&m);
}

/* Backward reads the weights that forward decoded, adapted or not, and nothing else is decoded. */
static void test_kept_for_backward(void **state) {
    (void)state;
    for (int bordered = 0; bordered < 2; bordered++) {
        Made m;
        int decodes = 0;
        const char *const sets[] = {"quantization.keep_decoded=true",
                                    bordered ? "compile.bordered=true" : "compile.bordered=false"};
        make(&m, sets, 2);
        const Graph *step = &m.program->entry[ENTRY_MICRO_STEP];
        for (int i = 0; i < step->op_count; i++)
            decodes += step->ops[i]->kind == OP_decode_4bit;
        assert_int_equal(decodes, 3 * 7);
        plan_memory(m.plan);
        plan_check(m.plan);
        assert_int_equal(plan_decoded(m.plan).again, 0);
        assert_true(plan_decoded(m.plan).kept > 2 * 7);
        made_free(&m);
    }
}

/* 300 blocks, so the last second-level block has 44 of them. */
static void test_last_block_is_shorter(void **state) {
    (void)state;
    check((const char *const[]){"precision.dtype=\"fp32\"", "quantization.block_size=32",
                                "model.hidden_size=64", "model.intermediate_size=150"},
          4, 32);
}

static void test_single_quant(void **state) {
    (void)state;
    check((const char *const[]){"quantization.double_quant=false"}, 1, 64);
    check((const char *const[]){"quantization.double_quant=false", "compile.bordered=false"}, 2, 64);
}

/* Of a quantised weight, STATE contains only codes and scales. */
static void test_frozen_bytes(void **state) {
    (void)state;
    Made m;
    make(&m, NULL, 0);
    int64_t linears = 0, kept = 0;
    for (int i = 0; i < m.program->param_count; i++) {
        const Param *param = &m.program->params[i];
        if (!param->stored) continue;
        int64_t n = value_elements(param->weight), blocks = n / 64;
        linears += n;
        kept += n / 2 + blocks + 4 + (blocks + ABSMAX_BLOCK - 1) / ABSMAX_BLOCK * 4;
        assert_int_equal(param->weight->storage->role, ROLE_ACTIVATION);
    }
    plan_memory(m.plan);
    plan_check(m.plan);
    int64_t others = 2 * (64 * 32 * 2 + 7 * 32);        /* embedding, head, norms */
    int64_t borders = 2 * 3 * (32 * 8 + 8 * 32 + 32 * 8 + 8 * 48); /* of q_proj and down_proj */
    assert_int_equal(m.plan->role_bytes[ROLE_FROZEN], kept + others + borders);
    assert_true(kept < linears * 2 / 3);
    made_free(&m);
}

/* Numbers from bitsandbytes.functional.create_dynamic_map(), at both ends and in the middle. */
static void test_dynamic_map(void **state) {
    (void)state;
    Arena arena = {0};
    const double *map = dynamic_map(&arena, true);
    assert_true((float)map[0] == -0.992968738079071f && map[255] == 1);
    assert_true(map[127] == 0 && (float)map[128] == 5.500000384017767e-07f);
    assert_true((float)map[18] == -0.7398437261581421f && (float)map[20] == -0.7117187976837158f);
    for (int i = 1; i < DYNAMIC_CODES; i++)
        assert_true(map[i - 1] < map[i]);
    const double *positive = dynamic_map(&arena, false);
    static const struct {
        int code;
        float number;
    } some[] = {{0, 0},          {1, 3.2500003e-07f}, {2, 7.7499999e-07f}, {3, 2.12499981e-06f},
                {100, 0.0627343804f}, {128, 0.110546872f}, {200, 0.616796851f},
                {254, 0.996484399f}, {255, 1}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_true((float)positive[some[i].code] == some[i].number);
    for (int i = 1; i < DYNAMIC_CODES; i++)
        assert_true(positive[i - 1] < positive[i]);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_quant),  cmocka_unit_test(test_last_block_is_shorter),
        cmocka_unit_test(test_single_quant),  cmocka_unit_test(test_frozen_bytes),
        cmocka_unit_test(test_fp4),           cmocka_unit_test(test_fp4_bounds),
        cmocka_unit_test(test_kept_for_backward),
        cmocka_unit_test(test_int8),          cmocka_unit_test(test_dynamic_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
