/* Pipelines: the order of a stage's actions, and how a model is cut into stages. That stages train
 * like one card is tested by running programs (tests/dist/pipeline_cases.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "pass/pass.h"
#include "tests/unit/text_spec.h"
#include "pass/train_state.h"
#include "plan/schedule.h"
#include <string.h>

enum { MOST_STAGES = 8, MOST_MICRO_BATCHES = 16 };

static Arena arena; /* of one test, or of one experiment in it */

static int teardown(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* Calls `check` with all stages' schedules of many pipelines. */
static void for_pipelines(void check(PipelineSchedule kind, const StageSchedule *stages, int count,
                                     int micro_batches)) {
    const PipelineSchedule kinds[] = {PIPELINE_1F1B, PIPELINE_GPIPE};
    for (int k = 0; k < 2; k++)
        for (int count = 2; count <= MOST_STAGES; count++)
            for (int m = 1; m <= MOST_MICRO_BATCHES; m++) {
                StageSchedule stages[MOST_STAGES];
                for (int s = 0; s < count; s++)
                    stages[s] = schedule_of(&arena, kinds[k], s, count, m);
                check(kinds[k], stages, count, m);
                arena_free(&arena);
            }
}

/* Returns the place of an action in a stage's schedule, or -1. */
static int place_of(const StageSchedule *s, ActionKind kind, int micro_batch) {
    int found = -1;
    for (int i = 0; i < s->count; i++)
        if (s->actions[i].kind == kind && s->actions[i].micro_batch == micro_batch) {
            assert_int_equal(found, -1);
            found = i;
        }
    return found;
}

static void check_order(PipelineSchedule kind, const StageSchedule *stages, int count,
                        int micro_batches) {
    (void)kind;
    for (int s = 0; s < count; s++)
        for (int m = 0; m < micro_batches; m++) {
            const StageSchedule *of = &stages[s];
            int forward = place_of(of, ACTION_FORWARD, m), back = place_of(of, ACTION_BACKWARD, m);
            int received = place_of(of, ACTION_RECEIVE_ACTIVATION, m);
            int sent = place_of(of, ACTION_SEND_ACTIVATION, m);
            int gradient = place_of(of, ACTION_RECEIVE_GRADIENT, m);
            int sent_back = place_of(of, ACTION_SEND_GRADIENT, m);
            assert_true(forward >= 0 && back > forward);
            assert_true(s == 0 ? received < 0 : received >= 0 && received < forward);
            assert_true(s == count - 1 ? sent < 0 : sent > forward && sent < back);
            assert_true(s == count - 1 ? gradient < 0 : gradient > sent && gradient < back);
            assert_true(s == 0 ? sent_back < 0 : sent_back > back);
            assert_true(m == 0 || back > place_of(of, ACTION_BACKWARD, m - 1));
        }
}

static void test_order(void **state) {
    (void)state;
    for_pipelines(check_order);
}

/* A slot belongs to one micro-batch from the arrival of its first byte until its gradient has been
 * sent. */
static void check_slots(PipelineSchedule kind, const StageSchedule *stages, int count,
                        int micro_batches) {
    for (int s = 0; s < count; s++) {
        int owner[MOST_MICRO_BATCHES];
        int most = kind == PIPELINE_GPIPE ? micro_batches : count - s;
        assert_int_equal(stages[s].slots, most < micro_batches ? most : micro_batches);
        memset(owner, -1, sizeof owner);
        for (int i = 0; i < stages[s].count; i++) {
            Action action = stages[s].actions[i];
            int *slot = &owner[action.micro_batch % stages[s].slots];
            if (action.kind == (s == 0 ? ACTION_FORWARD : ACTION_RECEIVE_ACTIVATION)) {
                assert_int_equal(*slot, -1);
                *slot = action.micro_batch;
            }
            assert_true(action.kind == ACTION_SEND_GRADIENT || *slot == action.micro_batch);
            if (action.kind == ACTION_BACKWARD)
                *slot = -1;
        }
    }
}

static void test_slots(void **state) {
    (void)state;
    for_pipelines(check_slots);
}

/* If all stages take the same time, the last one ends after M + P - 1 of them, as in both papers;
 * and there is no deadlock. */
static void check_time(PipelineSchedule kind, const StageSchedule *stages, int count,
                       int micro_batches) {
    StageTime times[MOST_STAGES];
    (void)kind;
    for (int s = 0; s < count; s++)
        times[s] = (StageTime){.forward_ms = 1, .backward_ms = 2};
    double ms = schedule_ms(stages, times, count), wait = 3 * (count - 1);
    assert_true(ms == 3 * micro_batches + wait);
    for (int s = 0; s < count; s++) {
        assert_true(times[s].busy_ms == 3 * micro_batches);
        assert_true(times[s].wait_ms == wait);
    }
}

static void test_time(void **state) {
    (void)state;
    for_pipelines(check_time);
}

/* A schedule with very many micro-batches. */
static void test_long_schedule(void **state) {
    (void)state;
    enum { MICRO_BATCHES = 1 << 19 };
    StageSchedule stages[2];
    for (int s = 0; s < 2; s++)
        stages[s] = schedule_of(&arena, PIPELINE_1F1B, s, 2, MICRO_BATCHES);
    check_time(PIPELINE_1F1B, stages, 2, MICRO_BATCHES);
    assert_int_equal(schedule_exchanges(&stages[0]), MICRO_BATCHES + 1);
}

/* Stages that exchange in different orders deadlock, and this is detected. */
static void test_deadlock(void **state) {
    (void)state;
    StageTime times[2] = {{.forward_ms = 1, .backward_ms = 2}, {.forward_ms = 1, .backward_ms = 2}};
    StageSchedule stages[2];
    for (int s = 0; s < 2; s++)
        stages[s] = schedule_of(&arena, PIPELINE_1F1B, s, 2, 4);
    Action *last = &stages[1].actions[0];
    assert_int_equal(last->kind, ACTION_RECEIVE_ACTIVATION);
    last->micro_batch = 1;
    assert_true(schedule_ms(stages, times, 2) < 0);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static const char *const base = "[model]\nvocab_size = 64\nhidden_size = 32\n"
                                "intermediate_size = 88\nnum_hidden_layers = 6\n"
                                "num_attention_heads = 2\nnum_key_value_heads = 1\n"
                                "max_position_embeddings = 32\ntie_word_embeddings = false\n"
                                "[training]\nseq_len = 32\nper_device_train_batch_size = 64\n"
                                "steps = 2\n[data]\nformat = \"synthetic\"\n"
                                "[job]\nname = \"pipeline\"\n";

static Program *stage_of_spec(Spec *spec, int index, int count) {
    Program *p = model_build(&arena, spec);
    p->stage.index = index;
    p->stage.count = count;
    passes_run(p, spec, NULL, NULL);
    return p;
}

static Program *stage_of(int index, int count, const char *const *sets, int set_count) {
    return stage_of_spec(spec_of_text(&arena, base, sets, set_count), index, count);
}

/* Each parameter is in one stage, and each stage receives what the previous one sends. */
static void test_stages(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.pipeline_parallel_degree=4"};
    const Value *sent = NULL;
    int params = 0;
    Program *whole = stage_of(0, 1, NULL, 0);
    for (int s = 0; s < 4; s++) {
        Program *p = stage_of(s, 4, sets, 1);
        const PipelineStage *stage = &p->stage;
        params += p->param_count;
        assert_true(!stage->received == (s == 0) && !stage->sent == (s == 3));
        assert_true(!stage->sent_gradient == (s == 0) && !stage->received_gradient == (s == 3));
        if (s > 0) {
            assert_string_equal(stage->received->name, sent->name);
            assert_int_equal(value_bytes(stage->received), value_bytes(sent));
        }
        sent = stage->sent;
        assert_true(p->entry[ENTRY_MICRO_STEP].op_count > 0);
        assert_true(p->entry[ENTRY_BACKWARD].op_count > 0);
        for (int i = 0; i < p->param_count; i++)
            assert_non_null(program_weight(whole, p->params[i].file_name));
    }
    assert_int_equal(params, whole->param_count);
}

/* Six layers in three stages: two each, if nothing else takes time. */
static void test_balance(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.pipeline_parallel_degree=3"};
    int most = 0, least = 1 << 30;
    for (int s = 0; s < 3; s++) {
        int ops = stage_of(s, 3, sets, 1)->entry[ENTRY_MICRO_STEP].op_count;
        most = ops > most ? ops : most;
        least = ops < least ? ops : least;
    }
    assert_true(most <= 2 * least);
}

static void test_named(void **state) {
    (void)state;
    const char *const sets[] = {
        "parallelism.pipeline_parallel_degree=3",
        "parallelism.pipeline_split_points=[\"model.layers.1\", \"model.layers.4.post_attention_layernorm\"]"};
    const char *const begins[] = {"model.embed_tokens", "model.layers.1.input_layernorm",
                                  "model.layers.4.post_attention_layernorm"};
    for (int s = 0; s < 3; s++)
        assert_string_equal(stage_of(s, 3, sets, 2)->stage.begins, begins[s]);
}

/* Backward keeps what ReLU made of a received value, which no op of backward reads. */
static void test_received(void **state) {
    (void)state;
    const char *const sets[] = {"parallelism.pipeline_parallel_degree=2", "training.gradient_accumulation_steps=4",
                                "parallelism.pipeline_split_points=[\"features.4.conv.0.2\"]"};
    Program *p = stage_of_spec(spec_read(&arena, "specs/mobilenet_v2_tiny.toml", sets, 3), 1, 2);
    assert_string_equal(p->stage.begins, "features.4.conv.0.2");
    for (int e = 0; e < ENTRY_COUNT; e++)
        for (int i = 0; i < p->entry[e].op_count; i++)
            assert_int_not_equal(p->entry[e].ops[i]->phase, PHASE_RECOMPUTE);
}

/* A model and its reference: both are in the stage that has their weights (the head's are the
 * embedding's, which two stages have), in their original order, and one of the two activations that
 * cross has a gradient. */
static void test_two_forwards(void **state) {
    (void)state;
    const char *const sets[] = {"training.task=\"dpo\"", "adapter.type=\"lora\"",
                                "model.tie_word_embeddings=true",
                                "parallelism.pipeline_parallel_degree=3"};
    const Value *sent = NULL;
    int params = 0;
    Program *whole = stage_of(0, 1, sets, 3);
    for (int s = 0; s < 3; s++) {
        Program *p = stage_of(s, 3, sets, 4);
        const Graph *forward = &p->entry[ENTRY_MICRO_STEP];
        bool reference = false;
        params += p->param_count;
        for (int i = 0; i < forward->op_count; i++) {
            bool layer = strstr(forward->ops[i]->name, "model.layers.") != NULL;
            bool now = strncmp(forward->ops[i]->name, "reference.", 10) == 0;
            assert_false(layer && reference && !now);
            reference |= now;
        }
        assert_true(reference);
        if (s > 0) {
            assert_string_equal(p->stage.received->name, sent->name);
            assert_int_equal(value_bytes(p->stage.received), value_bytes(sent));
            assert_int_equal(value_bytes(sent), 2 * value_bytes(p->stage.sent_gradient));
        }
        sent = p->stage.sent;
    }
    assert_int_equal(params, whole->param_count + 1);
}

static const Op *sum_of_ends(const Program *p) {
    const Op *found = NULL;
    for (int i = 0; i < p->entry[ENTRY_UPDATE].op_count; i++) {
        const Op *op = p->entry[ENTRY_UPDATE].ops[i];
        if (op->kind != OP_all_reduce || op->attr.group != GROUP_ENDS)
            continue;
        assert_null(found);
        found = op;
    }
    return found;
}

/* Embedding and head are one trained weight: only the first and the last stage sum its gradient,
 * and each counts half of its square; all stages know their group. */
static void test_shared_ends(void **state) {
    (void)state;
    const char *const sets[] = {"model.tie_word_embeddings=true",
                                "parallelism.pipeline_parallel_degree=3"};
    for (int s = 0; s < 3; s++) {
        Program *p = stage_of(s, 3, sets, 2);
        const Op *sum = sum_of_ends(p), *half = graph_find(&p->entry[ENTRY_UPDATE], OP_scale);
        const Value *weight = program_weight(p, "model.embed_tokens.weight");
        const Param *tied = weight ? program_param(p, weight) : NULL;
        assert_true(p->stage.shares_ends);
        assert_true(!tied == (s == 1) && !sum == (s == 1) && !half == (s == 1));
        if (!sum)
            continue;
        assert_true(sum->in[0]->storage == tied->gradient->storage);
        assert_int_equal(sum->in[0]->offset, tied->gradient->offset);
        assert_true(value_elements(sum->in[0]) >= value_elements(tied->weight) &&
                    value_elements(sum->in[0]) < value_elements(tied->weight) + TRAIN_COLS);
        assert_true(half->attr.alpha == 0.5);
    }
    assert_false(stage_of(0, 3, (const char *const[]){sets[1]}, 1)->stage.shares_ends);
}

/* With two stages the ends are all stages; otherwise they are as far apart as their numbers. */
static void test_ends(void **state) {
    (void)state;
    Mesh mesh = {.size = {4, 3, 1, 2, 1}};
    assert_int_equal(mesh_ranks(&mesh, GROUP_ENDS), 2);
    assert_int_equal(mesh_ranks(&mesh, GROUP_ENDS | GROUP_TENSOR), 4);
    assert_int_equal(mesh_stride(&mesh, GROUP_ENDS), 18);
    assert_int_equal(mesh_group(&mesh, GROUP_ENDS), GROUP_ENDS);
    assert_int_equal(mesh_written(&mesh, GROUP_TENSOR), 1 << AXIS_TENSOR);
    mesh.size[AXIS_PIPELINE] = 2;
    assert_int_equal(mesh_group(&mesh, GROUP_ENDS), GROUP_PIPELINE);
    assert_int_equal(mesh_stride(&mesh, GROUP_ENDS), 6);
    mesh.size[AXIS_PIPELINE] = 1;
    assert_int_equal(mesh_group(&mesh, GROUP_ENDS), 0);
    assert_int_equal(mesh_ranks(&mesh, GROUP_ENDS), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_order, teardown),
        cmocka_unit_test_teardown(test_slots, teardown),
        cmocka_unit_test_teardown(test_time, teardown),
        cmocka_unit_test_teardown(test_long_schedule, teardown),
        cmocka_unit_test_teardown(test_deadlock, teardown),
        cmocka_unit_test_teardown(test_stages, teardown),
        cmocka_unit_test_teardown(test_balance, teardown),
        cmocka_unit_test_teardown(test_named, teardown),
        cmocka_unit_test_teardown(test_received, teardown),
        cmocka_unit_test_teardown(test_two_forwards, teardown),
        cmocka_unit_test_teardown(test_shared_ends, teardown),
        cmocka_unit_test_teardown(test_ends, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
