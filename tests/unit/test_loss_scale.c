/* Compares the dynamic loss scale with torch.amp.GradScaler, step by step, as recorded in
 * tests/oracle/grad_scaler.csv by make_grad_scaler.py. The whole update runs, including AdamW. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "pass/pass.h"
#include "plan/plan_steps.h"

enum { ROWS = 2, COLS = 1024, MOST_STEPS = 64 };

typedef struct {
    Arena arena;
    Program *program;
    Plan *plan;
    Memory memory;
    int steps, applied; /* so far */
} Run;

static Value *counter(Program *p, const char *name, DType dtype, int64_t rows) {
    return value_2d(p, name, ROLE_COUNTER, dtype, rows, 1, (Pos){0});
}

static Value *state(Program *p, const char *name, Role role) {
    return value_2d(p, name, role, DT_F32, ROWS, COLS, (Pos){0});
}

static void make_values(Program *p) {
    Counters *c = &p->counters;
    c->step = value_1d(p, "step", ROLE_COUNTER, DT_I32, 1, (Pos){0});
    c->applied = value_1d(p, "applied", ROLE_COUNTER, DT_I32, 1, (Pos){0});
    c->bad_step = value_1d(p, "bad_step", ROLE_COUNTER, DT_I32, 1, (Pos){0});
    c->step_loss = value_1d(p, "step_loss", ROLE_COUNTER, DT_F32, 1, (Pos){0});
    c->lr = counter(p, "lr", DT_F32, MOST_STEPS);
    c->bias_correction1 = counter(p, "bias_correction1", DT_F32, MOST_STEPS);
    c->bias_correction2_sqrt = counter(p, "bias_correction2_sqrt", DT_F32, MOST_STEPS);
    c->loss = counter(p, "loss", DT_F32, MOST_STEPS);
    c->grad_norm = counter(p, "grad_norm", DT_F32, MOST_STEPS);
    TrainState *s = &p->train;
    s->weight = s->master = state(p, "trained", ROLE_WEIGHT);
    s->gradient = state(p, "gradient", ROLE_GRADIENT);
    s->exp_avg = state(p, "exp_avg", ROLE_OPTIMIZER);
    s->exp_avg_sq = state(p, "exp_avg_sq", ROLE_OPTIMIZER);
    s->kinds[s->kind_count++] = (TrainKind){.rows = ROWS};
}

static void fill(Run *r, const Value *v, double number) {
    for (int64_t i = 0; i < value_elements(v); i++) memory_set(&r->memory, v, i, number);
}

static void fill_all(Run *r, double first_scale) {
    const Counters *c = &r->program->counters;
    const TrainState *s = &r->program->train;
    const Value *const zeros[] = {c->step, c->applied, c->growth_tracker, c->skipped_steps, c->step_loss,
                                  s->master, s->exp_avg, s->exp_avg_sq};
    const Value *const ones[] = {c->lr, c->bias_correction1, c->bias_correction2_sqrt};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) fill(r, zeros[i], 0);
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) fill(r, ones[i], 1);
    fill(r, c->bad_step, -1);
    fill(r, c->loss_scale, first_scale);
}

static void start(Run *r, double first_scale, int64_t interval) {
    static Spec spec; /* a plan keeps its spec */
    spec.name = "test";
    spec.compile.fusion = true;
    spec.precision.dtype = PRECISION_FP16;
    spec.precision.growth_factor = 2;
    spec.precision.backoff_factor = 0.5;
    spec.precision.growth_interval = interval;
    spec.training.max_grad_norm = 10;
    spec.optimizer.beta1 = 0.9;
    spec.optimizer.beta2 = 0.99;
    spec.optimizer.eps = 1e-8;
    *r = (Run){0};
    Program *p = r->program = program_new(&r->arena);
    p->real = p->activation = DT_F32;
    p->micro_steps = 1;
    make_values(p);
    pass_optimizer(p, &spec);
    pass_loss_scale(p, &spec);
    program_verify(p, STAGE_SEMANTIC, "loss_scale");
    r->plan = plan_new(p, &spec, NULL);
    plan_launches(r->plan);
    r->memory = memory_new(p);
    fill_all(r, first_scale);
}

static void finish(Run *r) {
    memory_free(&r->memory);
    arena_free(&r->arena);
}

static double get(const Run *r, const Value *v, int64_t i) { return memory_get(&r->memory, v, i); }

/* Runs an update with gradients of 1, scaled as by backward; if not `finite`, one is bad. */
static void run_step(Run *r, bool finite) {
    const Counters *c = &r->program->counters;
    const TrainState *s = &r->program->train;
    double scale = get(r, c->loss_scale, 0), before = get(r, s->master, 5);
    double norm = sqrt(ROWS * COLS);
    fill(r, s->gradient, scale);
    if (!finite) memory_set(&r->memory, s->gradient, 1500, r->steps % 2 ? NAN : INFINITY);
    eval_entry(&r->memory, r->plan, ENTRY_UPDATE);
    double now = get(r, s->master, 5);
    r->steps++;
    r->applied += finite;
    assert_true(get(r, c->step, 0) == r->steps && get(r, c->applied, 0) == r->applied);
    assert_true(get(r, c->bad_step, 0) == -1); /* does not stop a run */
    if (!finite) {
        assert_true(now == before && !isfinite(get(r, c->grad_norm, r->steps - 1)));
        return;
    }
    assert_true(now < before);
    assert_true(fabs(get(r, c->grad_norm, r->steps - 1) - norm) < 1e-4 * norm);
    double moment = get(r, s->exp_avg, 5) / (1 - pow(0.9, r->applied));
    assert_true(fabs(moment - 10 / norm) < 1e-4); /* of the clipped gradient, without the scale */
}

static void test_as_torch(void **state_) {
    (void)state_;
    FILE *file = fopen("tests/oracle/grad_scaler.csv", "r");
    assert_non_null(file);
    char line[256], name[64], last[64] = "";
    Run r = {0};
    int rows = 0, interval, finite, tracker, skipped;
    double first_scale, scale;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63[^,],%d,%lf,%d,%lf,%d,%d", name, &interval, &first_scale, &finite, &scale, &tracker,
                   &skipped) != 7)
            continue;
        if (first_scale > 0x1p60) continue; /* where the squares overflow: the next test */
        if (strcmp(name, last)) {
            if (last[0]) finish(&r);
            start(&r, first_scale, interval);
            memcpy(last, name, sizeof last);
        }
        run_step(&r, finite);
        const Counters *c = &r.program->counters;
        if (get(&r, c->loss_scale, 0) != scale || get(&r, c->growth_tracker, 0) != tracker ||
            get(&r, c->skipped_steps, 0) != skipped)
            fail_msg("%s, step %d: scale %g, tracker %g, skipped %g; torch has %g, %d, %d", name, r.steps,
                     get(&r, c->loss_scale, 0), get(&r, c->growth_tracker, 0), get(&r, c->skipped_steps, 0), scale,
                     tracker, skipped);
        rows++;
    }
    finish(&r);
    fclose(file);
    assert_true(rows >= 100);
}

/* A scale that would become infinite is kept, and its tracker restarts, as in torch. */
static void test_largest_scale(void **state_) {
    (void)state_;
    Run r;
    start(&r, 0x1p127, 1);
    const Counters *c = &r.program->counters;
    fill(&r, r.program->train.gradient, 0);
    eval_entry(&r.memory, r.plan, ENTRY_UPDATE);
    assert_true(get(&r, c->loss_scale, 0) == 0x1p127 && get(&r, c->growth_tracker, 0) == 0);
    assert_true(get(&r, c->skipped_steps, 0) == 0);
    finish(&r);
}

/* Other precisions have no loss scale: their first bad step is named and stops the run. */
static void test_only_fp16(void **state_) {
    (void)state_;
    Arena arena = {0};
    Spec spec = {.precision.dtype = PRECISION_BF16};
    Program *p = program_new(&arena);
    p->real = p->activation = DT_F32;
    p->micro_steps = 1;
    make_values(p);
    pass_optimizer(p, &spec);
    int ops = p->entry[ENTRY_UPDATE].op_count;
    pass_loss_scale(p, &spec);
    assert_int_equal(p->entry[ENTRY_UPDATE].op_count, ops);
    assert_null(p->counters.loss_scale);
    assert_int_equal(graph_find(&p->entry[ENTRY_UPDATE], OP_advance_step)->in_count, 6);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_torch),
        cmocka_unit_test(test_largest_scale),
        cmocka_unit_test(test_only_fp16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
