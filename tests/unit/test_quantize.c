/* Weights of few bits: what load keeps of them and what products read, against the definition said once
 * more - the nearest number of a map, relative to the block's largest. */
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
#include "model/model.h"
#include "pass/pass.h"
#include "pass/quantize_maps.h"

enum { ABSMAX_BLOCK = 256 };

typedef struct {
    Arena arena;
    Program *program;
    Plan *plan;
    Memory memory;
} Made;

static void make(Made *m, const char *const *sets, int count) {
    *m = (Made){0};
    Spec *spec = spec_read(&m->arena, "tests/golden/qlora.toml", sets, count);
    m->program = model_build(&m->arena, spec);
    passes_run(m->program, spec, NULL, NULL);
    m->plan = plan_new(m->program, spec, NULL);
    plan_launches(m->plan);
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

/* Of every size, with a block of zeros and ties. */
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

/* No other number of the map is nearer. */
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

/* absmax of each block as decoding has it; the caller frees it. */
static double *check_absmax(const Made *m, const Param *param, int64_t size) {
    const Program *p = m->program;
    const char *name = param->weight->name;
    int64_t blocks = value_elements(param->weight) / size;
    const Value *absmax = find(p, name, ".absmax"), *offset = find(p, name, ".absmax_offset");
    const Value *absmax2 = find(p, name, ".absmax2");
    double *decoded = calloc((size_t)blocks, sizeof *decoded), mean = 0, *whole = calloc((size_t)blocks, sizeof *whole);
    Arena arena = {0};
    const double *map = dynamic_map(&arena);
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
        int code = code_of(m, param->kept, i);
        assert_nearest(nf4_map(), NF4_CODES, code, absmax ? at(m, param->weight, i) / absmax : 0);
    }
}

static const Param *param_of(const Program *p, const Value *codes) {
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].kept && p->params[i].kept->storage == codes->storage)
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
            float w = (float)nf4_map()[code_of(m, param->kept, i)] * (float)absmax[i / size];
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
        if (!param->kept) continue;
        check_codes(&m, param, size);
        free(check_absmax(&m, param, size));
        kept++;
    }
    assert_int_equal(kept, 3 * 7);
    const PlanEntry *step = &m.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < step->launch_count; i++)
        if (step->launches[i].ops[0]->kind == OP_decode_nf4) {
            eval_launch(&m.memory, m.plan, &step->launches[i]);
            for (int k = 0; k < step->launches[i].op_count; k++, decodes++)
                if (step->launches[i].ops[k]->kind == OP_decode_nf4)
                    check_decoded(&m, step->launches[i].ops[k], size);
        }
    /* Once for forward, and for backward but where nothing before it trains. */
    assert_true(decodes > kept && decodes <= 2 * kept);
    made_free(&m);
}

static void test_double_quant(void **state) {
    (void)state;
    check((const char *const[]){"precision.dtype=\"bf16\""}, 1, 64);
    check((const char *const[]){"precision.dtype=\"fp64\""}, 1, 64);
}

/* 300 blocks, and so a last block of 44 of them. */
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

/* Nothing else of a quantised weight stays in STATE. */
static void test_frozen_bytes(void **state) {
    (void)state;
    Made m;
    make(&m, NULL, 0);
    int64_t linears = 0, kept = 0;
    for (int i = 0; i < m.program->param_count; i++) {
        const Param *param = &m.program->params[i];
        if (!param->kept) continue;
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

/* The numbers of bitsandbytes.functional.create_dynamic_map() at both ends and in the middle. */
static void test_dynamic_map(void **state) {
    (void)state;
    Arena arena = {0};
    const double *map = dynamic_map(&arena);
    assert_true((float)map[0] == -0.992968738079071f && map[255] == 1);
    assert_true(map[127] == 0 && (float)map[128] == 5.500000384017767e-07f);
    assert_true((float)map[18] == -0.7398437261581421f && (float)map[20] == -0.7117187976837158f);
    for (int i = 1; i < DYNAMIC_CODES; i++)
        assert_true(map[i - 1] < map[i]);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_quant),  cmocka_unit_test(test_last_block_is_shorter),
        cmocka_unit_test(test_single_quant),  cmocka_unit_test(test_frozen_bytes),
        cmocka_unit_test(test_dynamic_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
