/* Recomputation: which values are dropped, the resulting graph, the memory saved, and that a budget
 * is kept or refused. That every choice trains to the same bits is tested by running programs
 * (tests/study/run.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fileio.h"
#include "model/model.h"
#include "pass/pass.h"
#include "pass/recompute.h"
#include "plan/fit.h"
#include "plan/plan_steps.h"
#include "tests/unit/spec_plan.h"
#include "tests/unit/text_spec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- programs ------------------------------------------------------------------------------- */

static const char *const base = "[model]\nvocab_size = 64\nhidden_size = 32\n"
                                "intermediate_size = 88\nnum_hidden_layers = 6\n"
                                "num_attention_heads = 2\nnum_key_value_heads = 1\n"
                                "max_position_embeddings = 32\n"
                                "[training]\nseq_len = 32\nper_device_train_batch_size = 64\n"
                                "steps = 2\n[data]\nformat = \"synthetic\"\n"
                                "[job]\nname = \"recompute\"\n";

static Arena arena; /* of one test, or of one experiment in it */

static int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

typedef struct {
    Spec *spec;
    const Device *device;
    Program *program;
} Made;

static Made make(const char *const *sets, int count) {
    char path[] = "/tmp/test_recompute_XXXXXX";
    Made m = {0};
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_null(file_write(path, base, strlen(base)));
    m.spec = spec_read(&arena, path, sets, count);
    unlink(path);
    m.device = device_read(&arena, "h100-sxm", (Pos){0});
    m.program = program_of_spec(&arena, m.spec);
    return m;
}

static Plan *plan_of(const Made *m) {
    Plan *plan = plan_new(m->program, m->spec, m->device);
    plan_launches(plan);
    plan_memory(plan);
    plan_check(plan); /* a fault would end the test */
    plan_predict(plan);
    return plan;
}

#define AUTO "activation_checkpoint.mode=auto"
#define NONE "activation_checkpoint.mode=none"
#define FULL "activation_checkpoint.mode=full"
#define LORA "training.task=sft", "adapter.type=lora", "adapter.r=4", "adapter.lora_dropout=0.1"
#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static char *text_of(const Program *p) {
    StrBuf text = {0};
    program_print(p, &text);
    return text.text;
}

/* ---- full ----------------------------------------------------------------------------------- */

static int64_t scratch_of(const char *const *sets, int count, const char *mode) {
    const char *all[16] = {mode};
    memcpy(all + 1, sets, (size_t)count * sizeof *sets);
    Made m = make(all, count + 1);
    int64_t bytes = plan_of(&m)->arena_bytes[ARENA_SCRATCH];
    arena_free(&arena);
    return bytes;
}

static void saves(const char *const *sets, int count) {
    int64_t none = scratch_of(sets, count, NONE), full = scratch_of(sets, count, FULL);
    int64_t workspace = 4 * 1048576; /* of matrix products, in either */
    if (full - workspace > (none - workspace) * 6 / 10)
        fail_msg("%s: %lld bytes without, %lld with recomputation", count ? sets[0] : "plain",
                 (long long)none, (long long)full);
}

static void test_full_saves_memory(void **state) {
    (void)state;
    const char *const lora[] = {LORA}, *const bf16[] = {LORA, "precision.dtype=bf16"};
    const char *const plain[] = {LORA, "compile.bordered=false", "compile.fusion=false"};
    const char *const chunks[] = {"compile.head_chunk_tokens=48"};
    const char *const whole[] = {"compile.chunked_head=false"};
    saves(NULL, 0);
    saves(lora, COUNT(lora));
    saves(bf16, COUNT(bf16));
    saves(plain, COUNT(plain));
    saves(chunks, COUNT(chunks));
    saves(whole, COUNT(whole));
}

/* ---- clones --------------------------------------------------------------------------------- */

static int place_of_loss(const Program *p) {
    return graph_producer(&p->entry[ENTRY_MICRO_STEP], p->loss_of_micro_step)->id;
}

static void test_clones_wait_for_backward(void **state) {
    (void)state;
    const char *const sets[] = {LORA, FULL};
    Made m = make(sets, COUNT(sets));
    const Graph *g = &m.program->entry[ENTRY_MICRO_STEP];
    int clones = 0, loss = place_of_loss(m.program);
    for (int i = 0; i < g->op_count; i++) {
        if (g->ops[i]->phase != PHASE_RECOMPUTE)
            continue;
        clones++;
        assert_true(i > loss);
        assert_non_null(g->ops[i]->after);
        assert_true(g->ops[i]->after->phase != PHASE_RECOMPUTE);
        assert_null(g->ops[i]->observe);
    }
    assert_true(clones > 0);
}

/* Each op is repeated at most once. */
static void test_no_clone_of_a_clone(void **state) {
    (void)state;
    const char *const sets[] = {LORA, FULL};
    Made m = make(sets, COUNT(sets));
    const Graph *g = &m.program->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < g->op_count; i++)
        for (int k = 0; g->ops[i]->phase == PHASE_RECOMPUTE && k < i; k++)
            assert_string_not_equal(g->ops[i]->name, g->ops[k]->name);
}

/* The last layer's values are read right after forward, so keeping them costs no memory. */
static void test_the_end_of_forward_stays(void **state) {
    (void)state;
    const char *const sets[] = {FULL};
    Made m = make(sets, COUNT(sets));
    const Graph *g = &m.program->entry[ENTRY_MICRO_STEP];
    for (int i = 0; i < g->op_count; i++) {
        assert_string_not_equal(g->ops[i]->name, "lm_head.recomputed");
        assert_string_not_equal(g->ops[i]->name, "model.norm.recomputed");
        assert_string_not_equal(g->ops[i]->name, "model.layers.5.mlp.act.recomputed");
    }
}

static int clones_of(const Program *p, const char *name) {
    const Graph *g = &p->entry[ENTRY_MICRO_STEP];
    int clones = 0;
    for (int i = 0; i < g->op_count; i++)
        clones += g->ops[i]->phase == PHASE_RECOMPUTE && !strcmp(g->ops[i]->name, name);
    return clones;
}

/* In the first layer, where only up_proj has an adapter, gate_proj needs no gradient, and that of
 * up_proj's output does not depend on the output. */
static void test_what_backward_does_not_read_stays_dropped(void **state) {
    (void)state;
    const char *const sets[] = {LORA, FULL, "adapter.target_modules=up_proj"};
    Made m = make(sets, COUNT(sets));
    assert_int_equal(clones_of(m.program, "model.layers.0.mlp.gate_proj.recomputed"), 1);
    assert_int_equal(clones_of(m.program, "model.layers.0.mlp.up_proj.y.recomputed"), 0);
    assert_int_equal(clones_of(m.program, "model.layers.1.mlp.up_proj.y.recomputed"), 1);
    /* Trained magnitudes read y, but the scaled y stays dropped. */
    const char *const dora[] = {LORA, FULL, "adapter.target_modules=up_proj", "adapter.use_dora=true"};
    m = make(dora, COUNT(dora));
    assert_int_equal(clones_of(m.program, "model.layers.0.mlp.up_proj.y.recomputed"), 1);
    assert_int_equal(clones_of(m.program, "model.layers.0.mlp.up_proj.scaled.recomputed"), 0);
    assert_int_equal(clones_of(m.program, "model.layers.1.mlp.up_proj.scaled.recomputed"), 1);
    plan_of(&m);
}

/* ---- choices -------------------------------------------------------------------------------- */

static void test_every_choice_is_sound(void **state) {
    (void)state;
    const char *const sets[] = {LORA, AUTO, "compile.head_chunk_tokens=48"};
    Made m = make(sets, COUNT(sets));
    char *before = text_of(m.program);
    Recomputation *r = recompute_new(m.program, m.spec);
    recompute_rank(r, m.device);
    assert_true(recompute_choices(r) > 20);
    int64_t none = 0, least = INT64_MAX;
    for (int n = recompute_choices(r); n >= 0; n--) {
        recompute_drop(r, n);
        int64_t bytes = plan_of(&m)->arena_bytes[ARENA_SCRATCH];
        least = bytes < least ? bytes : least;
        none = bytes; /* at the end, the bytes for n = 0 */
    }
    assert_true(least < none);
    char *after = text_of(m.program);
    assert_string_equal(before, after); /* nothing dropped: the graph is unchanged */
    free(before);
    free(after);
}

static int64_t scratch_without(const Made *m, Recomputation *r, int dropped) {
    recompute_drop(r, dropped);
    return plan_of(m)->arena_bytes[ARENA_SCRATCH];
}

/* The estimate from the graph is within 5 % of the plan. */
static void test_guess_is_near(void **state) {
    (void)state;
    const char *const sets[] = {LORA, AUTO};
    Made m = make(sets, COUNT(sets));
    Recomputation *r = recompute_new(m.program, m.spec);
    recompute_rank(r, m.device);
    int all = recompute_choices(r);
    int64_t none = scratch_without(&m, r, 0), most = none - scratch_without(&m, r, all);
    for (int quarter = 1; quarter < 4; quarter++) {
        int64_t bytes = most * quarter / 4;
        int guess = recompute_guess(r, bytes);
        assert_in_range(guess, 2, all - 1);
        assert_true(none - scratch_without(&m, r, guess) >= bytes - most / 20);
        assert_true(none - scratch_without(&m, r, guess - 1) <= bytes + most / 20);
    }
    assert_int_equal(recompute_guess(r, 2 * most), all);
}

static void test_cheapest_first(void **state) {
    (void)state;
    const char *const sets[] = {LORA, AUTO};
    Made m = make(sets, COUNT(sets));
    Recomputation *r = recompute_new(m.program, m.spec);
    recompute_rank(r, m.device);
    for (int i = 0; i < r->candidate_count; i++)
        r->keep[r->candidates[i]] = true;
    double before = 0;
    for (int i = 0; i < r->candidate_count; i++) {
        int id = r->candidates[i];
        r->keep[id] = false;
        double worth = (double)m.program->storages[id]->bytes / recompute_ms(r, m.device, id);
        r->keep[id] = true;
        assert_true(i == 0 || worth <= before);
        before = worth;
    }
}

/* b = silu(a), then a is overwritten: b cannot be recomputed; c = scale(b) can. */
static void test_overwritten_operands_are_respected(void **state) {
    (void)state;
    Program *p = program_new(&arena);
    p->real = p->activation = DT_F32;
    Graph *g = &p->entry[ENTRY_MICRO_STEP];
    Value *w = value_2d(p, "w", ROLE_FROZEN, DT_F32, 8, 8, (Pos){0});
    Attr one = {.alpha = 1};
    Value *a = op_add(p, g, OP_scale, "a", &w, 1, one, (Pos){0})->out[0];
    Value *b = op_add(p, g, OP_silu, "b", &a, 1, (Attr){0}, (Pos){0})->out[0];
    Value *over = value_alias(p, a, "over");
    op_add_into(p, g, OP_add, "over", (Value *[]){a, b}, 2, &over, 1, (Attr){0}, (Pos){0});
    Value *c = op_add(p, g, OP_scale, "c", &b, 1, one, (Pos){0})->out[0];
    Value *d = op_add(p, g, OP_mul, "d", (Value *[]){over, c}, 2, (Attr){0}, (Pos){0})->out[0];
    Value *column = op_add(p, g, OP_sum_squares, "s", &d, 1, (Attr){0}, (Pos){0})->out[0];
    p->loss_of_micro_step = op_add(p, g, OP_sum, "loss", &column, 1, (Attr){0}, (Pos){0})->out[0];
    Recomputation *r = recompute_new(p, &(Spec){0});
    assert_true(r->repeatable[a->storage->id]);
    assert_false(r->repeatable[b->storage->id]);
    assert_true(r->repeatable[c->storage->id]);
}

/* ---- budgets -------------------------------------------------------------------------------- */

static jmp_buf back;
static void jump_back(int code) { longjmp(back, code); }

static void assert_refused(const Plan *plan, const char *key) {
    char *message = NULL;
    size_t size;
    diag_stream = open_memstream(&message, &size);
    diag_exit = jump_back;
    bool refused = setjmp(back) != 0;
    if (!refused)
        plan_say_unfit(plan, "", NULL, user_error);
    fclose(diag_stream);
    diag_stream = NULL;
    diag_exit = exit;
    assert_true(refused);
    if (!strstr(message, key))
        fail_msg("\"%s\" is not in: %s", key, message);
    free(message);
}

static void test_refusal_names_the_key(void **state) {
    (void)state;
    const char *const less[] = {NONE, "activation_checkpoint.memory_budget_gib=0.001",
                                "training.seq_len=16"};
    Made m = make(less, COUNT(less));
    const Plan *plan = plan_of(&m);
    assert_false(plan_fits(plan));
    assert_refused(plan, "largest parts are context and libraries");
    assert_refused(plan, "raise activation_checkpoint.memory_budget_gib");
    char budget[64]; /* one byte too small */
    snprintf(budget, sizeof budget, "activation_checkpoint.memory_budget_gib=%.15f",
             (double)(plan->process_bytes - 1) / 1073741824.0);
    const char *const close[] = {NONE, budget, "training.seq_len=16"};
    m = make(close, COUNT(close));
    assert_refused(plan_of(&m), "use a device with more memory (job.device)");
}

/* ---- planned again -------------------------------------------------------------------------- */

static void same_again(int stages, const char *const *sets, int count) {
    const Spec *spec = spec_of_text(&arena, base, sets, count);
    Program *p = model_build(&arena, spec);
    p->stage.count = stages;
    StrBuf before = {0};
    passes_run(p, spec, "recompute", &before);
    char *once = text_of(p);
    passes_undo_after_recompute(p);
    char *undone = text_of(p);
    passes_run_after_recompute(p, spec);
    char *again = text_of(p);
    assert_string_not_equal(once, undone);
    assert_string_equal(before.text, undone);
    assert_string_equal(once, again);
    sb_free(&before);
    free(once);
    free(undone);
    free(again);
}

static void test_undone_passes_run_again(void **state) {
    (void)state;
    const char *const shards[] = {"parallelism.data_parallel_shard_degree=2",
                                  "parallelism.shard_stage=3"};
    const char *const early[] = {"training.max_grad_norm=0", "compile.optimizer_in_backward=true"};
    const char *const stages[] = {"parallelism.pipeline_parallel_degree=2"};
    const char *const sharded_stages[] = {stages[0], shards[0], shards[1]};
    const char *const later[] = {"qat.weight_dtype=int4", "qat.group_size=8",
                                 "qat.fake_quant_after_n_steps=1"};
    same_again(1, shards, COUNT(shards));
    same_again(1, early, COUNT(early));
    same_again(2, stages, COUNT(stages));
    same_again(2, sharded_stages, COUNT(sharded_stages));
    same_again(1, later, COUNT(later));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_full_saves_memory, teardown),
        cmocka_unit_test_teardown(test_clones_wait_for_backward, teardown),
        cmocka_unit_test_teardown(test_no_clone_of_a_clone, teardown),
        cmocka_unit_test_teardown(test_the_end_of_forward_stays, teardown),
        cmocka_unit_test_teardown(test_what_backward_does_not_read_stays_dropped, teardown),
        cmocka_unit_test_teardown(test_every_choice_is_sound, teardown),
        cmocka_unit_test_teardown(test_guess_is_near, teardown),
        cmocka_unit_test_teardown(test_cheapest_first, teardown),
        cmocka_unit_test_teardown(test_overwritten_operands_are_respected, teardown),
        cmocka_unit_test_teardown(test_refusal_names_the_key, teardown),
        cmocka_unit_test_teardown(test_undone_passes_run_again, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
