/* Fake quantisation: compares the results of its ops with torchao's definition, repeated here, and
 * tests which linears a spec's [qat] applies it to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "graph/op_table.h"
#include "tests/unit/spec_plan.h"

typedef struct {
    Arena arena;
    Program *program;
    Plan *plan;
    Memory memory;
} Made;

static void make(Made *m, const char *spec_file, const char *const *sets, int count) {
    *m = (Made){0};
    Spec *spec = spec_read(&m->arena, spec_file, sets, count);
    m->plan = launches_of_spec(&m->arena, spec, NULL);
    m->program = m->plan->program;
    m->memory = memory_new(m->program);
}

static void made_free(Made *m) {
    memory_free(&m->memory);
    arena_free(&m->arena);
}

/* ---- the definition -------------------------------------------------------------------------- */

typedef struct {
    DType dtype;
    float least, most;
    float scale, zero_point;
} Codes;

static float narrowed(DType dtype, float x) {
    uint32_t bits;
    if (dtype != DT_BF16)
        return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float clamped(const Codes *c, float code) { return fminf(fmaxf(code, c->least), c->most); }

static Codes codes_of_token(DType dtype, const float *x, int64_t n) {
    Codes c = {.dtype = dtype, .least = -128, .most = 127};
    float low = 0, high = 0;
    for (int64_t i = 0; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
    }
    c.scale = narrowed(dtype, narrowed(dtype, high - low) / 255);
    c.scale = fmaxf(c.scale, 0x1p-23f);
    c.zero_point = clamped(&c, -128 - nearbyintf(narrowed(dtype, low / c.scale)));
    return c;
}

static Codes codes_of_group(DType dtype, int64_t bits, const float *x, int64_t n) {
    Codes c = {.dtype = dtype, .least = bits == 4 ? -8 : -128, .most = bits == 4 ? 7 : 127};
    float most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(x[i]));
    c.scale = fmaxf(narrowed(dtype, most / (bits == 4 ? 7.5f : 127.5f)), 0x1p-126f);
    return c;
}

static float code(const Codes *c, float x) { return nearbyintf(x * (1 / c->scale)) + c->zero_point; }

static float value(const Codes *c, float x) {
    return narrowed(c->dtype, (clamped(c, code(c, x)) - c->zero_point) * c->scale);
}

static bool passes(const Codes *c, float x) { return code(c, x) >= c->least && code(c, x) <= c->most; }

/* ---- ops compared with it -------------------------------------------------------------------- */

/* Runs of every size, of zeros, of one sign, and one with numbers in the middle between codes. */
static double number(int64_t run, int64_t i) {
    double x = sin((double)(i * i % 1009 + 31 * run));
    switch (run % 7) {
    case 0: return x;
    case 1: return 0;
    case 2: return 1e-5 * fabs(x);
    case 3: return -1e3 * fabs(x);
    case 4: return (double)(i % 256) - 127.5;
    case 5: return 1e-9 * x;
    default: return i == 3 ? 50 : 0.1 * x;
    }
}

static void fill(Made *m, const Value *v, int64_t run_length, bool gradient) {
    for (int64_t i = 0; i < value_elements(v); i++)
        memory_set(&m->memory, v, value_index(v, i / value_cols(v), i % value_cols(v)),
                   gradient ? (double)(i % 13) + 1 : number(i / run_length, i % run_length));
}

static double at(const Made *m, const Value *v, int64_t i) {
    return memory_get(&m->memory, v, value_index(v, i / value_cols(v), i % value_cols(v)));
}

typedef struct {
    int tokens, tokens_grad, weights, weights_grad, stopped;
} Seen;

static bool is_of_tokens(const Op *op) {
    return op->kind == OP_fake_quant_tokens || op->kind == OP_fake_quant_tokens_grad;
}

static bool is_gradient(const Op *op) {
    return op->kind == OP_fake_quant_tokens_grad || op->kind == OP_fake_quant_weights_grad;
}

static void check_run(Made *m, const Op *op, const float *x, int64_t first, int64_t n, Seen *seen) {
    DType dtype = op->in[0]->dtype;
    Codes c = is_of_tokens(op) ? codes_of_token(dtype, x, n)
                               : codes_of_group(dtype, op->attr.bits, x, n);
    for (int64_t i = 0; i < n; i++) {
        double found = at(m, op->out[0], first + i);
        if (!is_gradient(op)) {
            assert_true(found == (double)value(&c, x[i]));
            continue;
        }
        double dy = at(m, op->in[op->in_count - 1], first + i);
        assert_true(found == (passes(&c, x[i]) ? dy : 0));
        seen->stopped += !passes(&c, x[i]);
    }
}

static void check_launch(Made *m, const Launch *launch, Seen *seen) {
    const Op *op = launch->ops[0];
    const Value *v = op->in[0];
    int64_t n = is_of_tokens(op) ? value_cols(v) : op->attr.rows;
    float *x = arena_array(&m->arena, (size_t)value_elements(v), sizeof *x);
    if (is_of_tokens(op))
        fill(m, v, n, false);
    if (is_gradient(op))
        fill(m, op->in[op->in_count - 1], n, true);
    for (int64_t i = 0; i < value_elements(v); i++)
        x[i] = (float)at(m, v, i);
    eval_launch(&m->memory, m->plan, launch);
    for (int64_t first = 0; first < value_elements(v); first += n)
        check_run(m, op, x + first, first, n, seen);
}

/* Checks all fake quantisation in an entry, and the ops that prepare it. */
static Seen check_entry(Made *m, Entry entry) {
    Seen seen = {0};
    const PlanEntry *e = &m->plan->entry[entry];
    for (int i = 0; i < e->launch_count; i++) {
        const Launch *launch = &e->launches[i];
        OpKind kind = launch->op_count ? launch->ops[0]->kind : OP_COUNT;
        seen.tokens += kind == OP_fake_quant_tokens;
        seen.tokens_grad += kind == OP_fake_quant_tokens_grad;
        seen.weights += kind == OP_fake_quant_weights;
        seen.weights_grad += kind == OP_fake_quant_weights_grad;
        if (kind == OP_fake_quant_tokens || kind == OP_fake_quant_tokens_grad ||
            kind == OP_fake_quant_weights || kind == OP_fake_quant_weights_grad)
            check_launch(m, launch, &seen);
        else if (kind == OP_block_absmax || (entry == ENTRY_LOAD && kind == OP_cast))
            eval_launch(&m->memory, m->plan, launch);
    }
    return seen;
}

static void fill_weights(Made *m, int64_t run_length) {
    for (int i = 0; i < m->program->param_count; i++)
        fill(m, m->program->params[i].weight, run_length, false);
}

/* Two layers of seven linears; q, k and v have the same input, and so do gate and up. */
static void check_full(const char *dtype, const char *weights, int64_t size) {
    Made m;
    char group[40];
    snprintf(group, sizeof group, "qat.group_size=%d", (int)size);
    const char *const sets[] = {dtype, weights, group, "qat.activation_dtype=\"int8\"",
                                "compile.fusion=false"};
    make(&m, "tests/golden/pretrain.toml", sets, 5);
    fill_weights(&m, size ? size : 32);
    Seen seen = check_entry(&m, ENTRY_MICRO_STEP);
    assert_int_equal(seen.tokens, 2 * 2 * 4); /* each again for backward */
    assert_int_equal(seen.weights, 2 * 2 * 7);
    assert_int_equal(seen.tokens_grad, 2 * 4);
    assert_int_equal(seen.weights_grad, 2 * 7);
    assert_true(seen.stopped > 0);
    seen = check_entry(&m, ENTRY_EVALUATE);
    assert_int_equal(seen.tokens, 2 * 4);
    assert_int_equal(seen.weights, 2 * 7);
    made_free(&m);
}

static void test_full(void **state) {
    (void)state;
    check_full("precision.dtype=\"fp32\"", "qat.weight_dtype=\"int4\"", 16);
    check_full("precision.dtype=\"bf16\"", "qat.weight_dtype=\"int4\"", 8);
    check_full("precision.dtype=\"fp64\"", "qat.weight_dtype=\"int8\"", 0);
}

static const Op *op_named(const Graph *graph, const char *name) {
    for (int i = 0; i < graph->op_count; i++)
        if (!strcmp(graph->ops[i]->name, name))
            return graph->ops[i];
    fail_msg("no %s in %s", name, graph->name);
    return NULL;
}

/* The base is rounded once, in its border; the adapter reads the unrounded input. */
static void test_adapter(void **state) {
    (void)state;
    Made m;
    const char *const sets[] = {"qat.weight_dtype=\"int4\"", "qat.group_size=16",
                                "qat.activation_dtype=\"int8\"", "compile.fusion=false",
                                "compile.bordered=true"};
    make(&m, "tests/golden/lora.toml", sets, 5);
    fill_weights(&m, 16);
    Seen seen = check_entry(&m, ENTRY_LOAD);
    assert_int_equal(seen.weights, 3 * 7);
    seen = check_entry(&m, ENTRY_MICRO_STEP);
    assert_int_equal(seen.tokens, 3 * 4);
    assert_int_equal(seen.weights, 0);
    const Graph *graph = &m.program->entry[ENTRY_MICRO_STEP];
    const char *layer = "model.layers.1.self_attn.q_proj";
    const Op *down = op_named(graph, arena_printf(&m.arena, "%s.u", layer));
    const Op *product = op_named(graph, arena_printf(&m.arena, "%s.y", layer));
    const Op *rounding = op_named(graph, "model.layers.1.input_layernorm.fake_quant");
    assert_true(down->in[0] == rounding->in[0]);
    assert_true(value_overlaps(product->in[0], rounding->out[0]));
    /* What backward needs for the adapter does not keep the rounded value. */
    assert_true(down->out[0]->storage != product->in[0]->storage);
    assert_int_not_equal(op_named(graph, "lm_head")->in[1]->role, ROLE_ACTIVATION);
    made_free(&m);
}

/* ---- conversion to few bits ------------------------------------------------------------------ */

/* Checks codes and scales from a launch of quantize_groups, and their decoding by decode_groups. */
static void check_converted(Made *m, const Launch *quantize, const Launch *decode) {
    const Op *op = quantize->ops[0];
    int64_t n = value_cols(op->in[0]), groups = value_rows(op->in[0]);
    const Value *w = decode->ops[0]->out[0];
    assert_int_equal(op->out[0]->dtype, DT_I8);
    assert_true(decode->ops[0]->in[0] == op->out[0] && decode->ops[0]->in[1] == op->out[1]);
    fill(m, op->in[0], n, false);
    float *x = arena_array(&m->arena, (size_t)(n * groups), sizeof *x);
    for (int64_t i = 0; i < n * groups; i++)
        x[i] = (float)at(m, op->in[0], i);
    eval_launch(&m->memory, m->plan, quantize);
    eval_launch(&m->memory, m->plan, decode);
    for (int64_t g = 0; g < groups; g++) {
        Codes c = codes_of_group(op->in[0]->dtype, op->attr.bits, x + g * n, n);
        assert_true(at(m, op->out[1], g) == (double)c.scale);
        for (int64_t i = g * n; i < (g + 1) * n; i++) {
            assert_true(at(m, op->out[0], i) == (double)clamped(&c, code(&c, x[i])));
            assert_true(at(m, w, i) == (double)value(&c, x[i]));
        }
    }
}

static void check_export(const char *spec, const char *dtype, const char *bits, int linears) {
    Made m;
    char weights[40], export[40];
    snprintf(weights, sizeof weights, "qat.weight_dtype=\"%s\"", bits);
    snprintf(export, sizeof export, "qat.export=\"%s\"", bits);
    const char *const sets[] = {dtype, weights, export, "qat.group_size=16",
                                "qat.activation_dtype=\"int8\"", "compile.fusion=false"};
    make(&m, spec, sets, 6);
    const PlanEntry *e = &m.plan->entry[ENTRY_CONVERT];
    int converted = 0, exported[PART_COUNT] = {0};
    for (int i = 0; i < e->launch_count; i++) {
        const Launch *launch = &e->launches[i];
        if (launch->kind == LAUNCH_EXPORT)
            exported[launch->index]++;
        if (launch->ops[0]->kind != OP_quantize_groups)
            continue;
        const Launch *decode = launch + 1;
        while (decode->ops[0]->kind != OP_decode_groups)
            decode++;
        check_converted(&m, launch, decode);
        converted++;
    }
    assert_int_equal(converted, linears);
    for (int i = 0; i < PART_COUNT; i++)
        assert_int_equal(exported[i], linears);
    Seen rounded = check_entry(&m, ENTRY_EVALUATE), after = check_entry(&m, ENTRY_EVALUATE_CONVERTED);
    assert_int_equal(after.weights, 0);
    assert_int_equal(after.tokens, rounded.tokens);
    assert_true(after.tokens > 0);
    made_free(&m);
}

static void test_export(void **state) {
    (void)state;
    check_export("tests/golden/pretrain.toml", "precision.dtype=\"fp32\"", "int4", 2 * 7);
    check_export("tests/golden/pretrain.toml", "precision.dtype=\"bf16\"", "int8", 2 * 7);
    check_export("tests/golden/lora.toml", "precision.dtype=\"fp64\"", "int4", 3 * 7);
}

/* ---- floats of eight bits -------------------------------------------------------------------- */

/* torchao's definition, whose autograd also passes through the scale. */
typedef struct {
    float absmax, scale;
    double of_scale; /* the part of the scale's gradient that each largest element gets */
} Row;

static float nearest_float8(float x) {
    float size = fminf(fabsf(x), 448), step = ldexpf(1, (int)fmaxf(floorf(log2f(size)), -6) - 3);
    return copysignf(size > 0 ? nearbyintf(size / step) * step : 0, x);
}

static bool is_inside(const Row *r, float x) { return fabsf(x / r->scale) <= 448; }

static Row row_of(const Made *m, const Op *op, const float *x, int64_t first, int64_t n) {
    Row r = {0};
    int count = 0;
    for (int64_t i = 0; i < n; i++)
        r.absmax = fmaxf(r.absmax, fabsf(x[i]));
    r.scale = fmaxf(narrowed(op->in[0]->dtype, r.absmax / 448), 0x1p-126f);
    for (int64_t i = 0; op->in_count == 2 && i < n; i++) {
        float scaled = x[i] / r.scale;
        double error = nearest_float8(scaled) - (is_inside(&r, x[i]) ? scaled : 0);
        r.of_scale += at(m, op->in[1], first + i) * error;
        count += fabsf(x[i]) == r.absmax;
    }
    r.of_scale /= 448.0 * (count ? count : 1);
    return r;
}

static void check_float8_row(Made *m, const Op *op, const float *x, int64_t first, int64_t n) {
    DType dtype = op->in[0]->dtype;
    Row r = row_of(m, op, x, first, n);
    for (int64_t i = 0; i < n; i++) {
        double found = at(m, op->out[0], first + i);
        if (op->in_count == 1) {
            assert_true(found == (double)narrowed(dtype, nearest_float8(x[i] / r.scale) * r.scale));
            continue;
        }
        double dx = is_inside(&r, x[i]) ? at(m, op->in[1], first + i) : 0;
        dx += fabsf(x[i]) == r.absmax ? copysign(1, x[i]) * r.of_scale : 0;
        assert_true(fabs(found - dx) <= (op->out[0]->dtype == DT_BF16 ? 1e-2 : 1e-5) * (1 + fabs(dx)));
    }
}

static void check_float8(const char *dtype) {
    Made m;
    const char *const sets[] = {dtype, "qat.activation_dtype=\"float8_e4m3fn\"",
                                "qat.weight_dtype=\"float8_e4m3fn\"", "compile.fusion=false"};
    make(&m, "tests/golden/pretrain.toml", sets, 4);
    const PlanEntry *e = &m.plan->entry[ENTRY_MICRO_STEP];
    int seen = 0;
    for (int l = 0; l < e->launch_count; l++) {
        const Op *op = e->launches[l].op_count ? e->launches[l].ops[0] : NULL;
        if (!op || (op->kind != OP_fake_quant_float8 && op->kind != OP_fake_quant_float8_grad))
            continue;
        int64_t n = value_cols(op->in[0]), elements = value_elements(op->in[0]);
        float *x = arena_array(&m.arena, (size_t)elements, sizeof *x);
        fill(&m, op->in[0], n, false);
        if (op->in_count == 2)
            fill(&m, op->in[1], n, true);
        for (int64_t i = 0; i < elements; i++)
            x[i] = (float)at(&m, op->in[0], i);
        eval_launch(&m.memory, m.plan, &e->launches[l]);
        for (int64_t first = 0; first < elements; first += n)
            check_float8_row(&m, op, x + first, first, n);
        seen++;
    }
    assert_int_equal(seen, 3 * 2 * (4 + 7)); /* forward, again for backward, and backward */
    made_free(&m);
}

static void test_float8(void **state) {
    (void)state;
    check_float8("precision.dtype=\"fp32\"");
    check_float8("precision.dtype=\"bf16\"");
    check_float8("precision.dtype=\"fp64\"");
}

/* Rounding a norm's result costs no launch. */
static void test_fused(void **state) {
    (void)state;
    Made m;
    int alone = 0;
    const char *const sets[] = {"qat.activation_dtype=\"int8\""};
    make(&m, "tests/golden/pretrain.toml", sets, 1);
    const PlanEntry *e = &m.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < e->launch_count; i++)
        alone += e->launches[i].op_count == 1 && e->launches[i].ops[0]->phase != PHASE_RECOMPUTE &&
                 e->launches[i].ops[0]->kind == OP_fake_quant_tokens;
    assert_int_equal(alone, 2); /* after attention, a template */
    made_free(&m);
}

static bool has(const Launch *launch, OpKind kind) {
    for (int i = 0; i < launch->op_count; i++)
        if (launch->ops[i]->kind == kind)
            return true;
    return false;
}

/* Kernels that undo SwiGLU or a norm make its result again and do not read it; attention's is read. */
static void test_sources(void **state) {
    (void)state;
    Made m;
    int made = 0, read = 0;
    const char *const sets[] = {"qat.activation_dtype=\"int8\""};
    make(&m, "tests/golden/pretrain.toml", sets, 1);
    const PlanEntry *e = &m.plan->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < e->launch_count; i++) {
        const Launch *launch = &e->launches[i];
        bool again = (has(launch, OP_swiglu) && has(launch, OP_swiglu_grad)) ||
                     (has(launch, OP_rms_norm_apply) && has(launch, OP_rms_norm_grad));
        made += has(launch, OP_fake_quant_tokens_grad) && again;
        read += has(launch, OP_fake_quant_tokens_grad) && !again;
    }
    assert_int_equal(made, 2 * 3);
    assert_int_equal(read, 2);
    made_free(&m);
}

/* Returns how many values an entry's backward makes again for rounding, and nothing else. */
static int made_again(Entry entry, const char *set) {
    Made m;
    int again = 0;
    const char *const sets[] = {"qat.activation_dtype=\"int8\"", "activation_checkpoint.mode=\"none\"", set};
    make(&m, "tests/golden/pretrain.toml", sets, 3);
    const Graph *graph = &m.program->entry[entry];
    for (int i = 0; i < graph->op_count; i++)
        again += graph->ops[i]->phase == PHASE_RECOMPUTE;
    made_free(&m);
    return again;
}

/* Not in steps without rounding, nor where ranks add up their gradients before those of a norm. */
static void test_sources_not_needed(void **state) {
    (void)state;
    const char *later = "qat.fake_quant_after_n_steps=2";
    assert_int_equal(made_again(ENTRY_MICRO_STEP, later), 2 * 3);
    assert_int_equal(made_again(ENTRY_EARLY_MICRO_STEP, later), 0);
    assert_int_equal(made_again(ENTRY_MICRO_STEP, "parallelism.tensor_parallel_degree=2"), 2 * 1);
}

/* Returns the number of readers, after the loss, of values that were rounded before it. */
static int kept_rounded(const Program *p) {
    const Graph *graph = &p->entry[ENTRY_MICRO_STEP];
    const Op *loss = graph_producer(graph, p->loss_of_micro_step);
    int kept = 0;
    for (int i = 0; i < loss->id; i++) {
        bool rounds = op_is(graph->ops[i], TRAIT_AGAIN);
        for (int k = loss->id; rounds && k < graph->op_count; k++)
            kept += op_reads(graph->ops[k], graph->ops[i]->out[0]);
    }
    return kept;
}

/* Rounded values are not kept for backward, unless recomputation is off. */
static void test_kept(void **state) {
    (void)state;
    for (int none = 0; none < 2; none++) {
        Made m;
        const char *const sets[] = {"qat.activation_dtype=\"int8\"", "qat.weight_dtype=\"int8\"",
                                    "activation_checkpoint.mode=\"none\""};
        make(&m, "tests/golden/pretrain.toml", sets, 2 + none);
        assert_int_equal(kept_rounded(m.program), none ? 2 * (7 + 7) : 0);
        made_free(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_adapter),
        cmocka_unit_test(test_export),
        cmocka_unit_test(test_float8),
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_sources_not_needed),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
