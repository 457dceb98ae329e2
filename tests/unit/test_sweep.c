/* Sweeps: points, their names, keys that vary together, and a study's variants. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spec/sweep.h"
#include "tests/unit/spec_files.h"

static Sweep *read_sweep(const char *path) { return sweep_read(&arena, path, NULL, 0); }

static void test_no_sweep(void **state) {
    (void)state;
    write_spec("plain.toml", "", "", "");
    const Sweep *sweep = read_sweep("plain.toml");
    assert_false(sweep->swept);
    assert_int_equal(sweep->count, 1);
    assert_string_equal(sweep->points[0].name, "");
    assert_int_equal(sweep->points[0].nsets, 0);
}

static void test_sweep_product(void **state) {
    (void)state;
    write_spec("study.toml", "", "",
               "[sweep]\n\"compile.fusion\" = [true, false]\n"
               "\"model.num_hidden_layers, training.seq_len\" = [[4, 8], [8, 16], [9, 24]]\n");
    const char *sets[] = {"training.steps=7"};
    const Sweep *sweep = sweep_read(&arena, "study.toml", sets, 1);
    assert_true(sweep->swept);
    assert_int_equal(sweep->count, 6);
    assert_string_equal(sweep->points[0].name, "fusion-true_num_hidden_layers4_seq_len8");
    assert_string_equal(sweep->points[4].name, "fusion-false_num_hidden_layers8_seq_len16");
    const SweepPoint *point = &sweep->points[5];
    assert_int_equal(point->nsets, 3);
    assert_string_equal(point->sets[0], "compile.fusion=false");
    assert_string_equal(point->sets[2], "training.seq_len=24");
    assert_int_equal(point->spec->model.num_hidden_layers, 9);
    assert_int_equal(point->spec->training.steps, 7);
    assert_int_equal(point->spec->nsets, 4);
    assert_true(FAILS(read_plain("study.toml")));
}

/* Words that distinguish keys, if their full names would be too long for a folder. */
static void test_sweep_brief_names(void **state) {
    (void)state;
    write_spec("study.toml", "", "",
               "[sweep]\n\"data.num_workers\" = [1]\n\"data.pin_memory\" = [true, false]\n"
               "\"parallelism.data_parallel_replicate_degree\" = [1, 2]\n"
               "\"parallelism.tensor_parallel_degree\" = [1]\n");
    const Sweep *sweep = read_sweep("study.toml");
    assert_string_equal(sweep->points[0].name, "workers1_memory-true_replicate1_tensor1");
    assert_string_equal(sweep->points[3].name, "workers1_memory-false_replicate2_tensor1");
}

static void test_sweep_gives_required_key(void **state) {
    (void)state;
    write_text("study.toml", arena_printf(&arena,
                                          "%s[training]\nseq_len = 8\n"
                                          "[data]\nformat = \"synthetic\"\n"
                                          "[sweep]\n\"training.steps\" = [1, 2]\n",
                                          MODEL));
    assert_int_equal(read_sweep("study.toml")->points[1].spec->training.steps, 2);
}

static void test_sweep_in_vain_somewhere(void **state) {
    (void)state;
    write_spec("study.toml", "", "",
               "[adapter]\nr = 4\n[sweep]\n\"adapter.type,training.task\" = "
               "[[\"none\", \"sft\"], [\"lora\", \"sft\"]]\n");
    const Sweep *sweep = read_sweep("study.toml");
    assert_true(sweep->points[0].spec->in_vain[KEY_adapter_r]);
    assert_int_equal(sweep->points[1].spec->adapter.type, ADAPTER_LORA);
}

static void test_sweep_in_vain_everywhere(void **state) {
    (void)state;
    write_spec("study.toml", "", "", "[sweep]\n\"adapter.r\" = [4, 8]\n");
    assert_true(FAILS(read_sweep("study.toml")));
    assert_says("study.toml:13:16: error: adapter.r has no effect");
}

static void test_sweep_names_differ(void **state) {
    (void)state;
    write_spec("study.toml", "", "", "[sweep]\n\"training.steps\" = [1, 1]\n");
    const Sweep *sweep = read_sweep("study.toml");
    assert_string_equal(sweep->points[0].name, "steps1");
    assert_string_equal(sweep->points[1].name, "steps1_2");
}

/* At degree 1 nothing can be split by rows. */
static void test_sweep_same_points(void **state) {
    (void)state;
    write_spec("study.toml", "", "",
               "[sweep]\n\"parallelism.tensor_parallel_degree\" = [1, 2]\n"
               "\"parallelism.sequence_parallel\" = [true, false]\n");
    assert_false(FAILS(read_sweep("study.toml")));
    assert_says("warning: 1 of 4 points repeats an earlier one, as the keys that differ have no "
                "effect: tensor_parallel_degree1_sequence_parallel-false equals "
                "tensor_parallel_degree1_sequence_parallel-true");
}

static void test_sweep_same_values(void **state) {
    (void)state;
    write_spec("study.toml", "", "", "[sweep]\n\"optimizer.lr\" = [1e-3, 0.001]\n");
    assert_false(FAILS(read_sweep("study.toml")));
    assert_says("warning: 1 of 2 points repeats an earlier one, as a value is given twice: "
                "lr0.001_2 equals lr0.001");
}

static Sweep *read_with(const char *path, const char *set) {
    return sweep_read(&arena, path, &set, 1);
}

/* Counts of steps that training, which takes 10, does not reach. */
#define LATE_SCHEDULE "[lr_scheduler]\ntype = \"step\"\nwarmup_steps = 11\nstep_size = 12\n"
#define LATE_SAVES "[checkpoint]\ninterval = 20\n"

static void test_counts_above_the_steps_are_told(void **state) {
    (void)state;
    write_spec("late.toml", "", "", LATE_SCHEDULE LATE_SAVES);
    assert_false(FAILS(read_sweep("late.toml")));
    assert_says(
        "late.toml:14:16: warning: lr_scheduler.warmup_steps = 11, but training ends after 10 "
        "steps: the learning rate does not reach optimizer.lr\n");
    assert_says("  hint: set it to at most 10, or raise training.steps\n");
    assert_says("step_size = 12, but training ends after 10 steps: the learning rate is not "
                "multiplied by gamma\n");
    assert_says("interval = 20, but training ends after 10 steps: no checkpoint is written during "
                "training\n");
    assert_false(FAILS(read_with("late.toml", "training.steps=24")));
    assert_says_nothing();
    write_spec("reached.toml", "", "",
               "[lr_scheduler]\nwarmup_steps = 10\n[checkpoint]\ninterval = 10\n");
    assert_false(FAILS(read_sweep("reached.toml")));
    assert_says_nothing();
    assert_false(FAILS(read_with("reached.toml", "training.eval_every=11")));
    assert_says("--set:1:21: warning: training.eval_every = 11, but training ends after 10 steps: "
                "nothing is evaluated during training\n");
}

/* The learning rate is multiplied in the step after step_size others, which come after warmup. */
static void test_a_decay_that_never_comes_is_told(void **state) {
    (void)state;
    write_spec("decay.toml", "", "", "[lr_scheduler]\ntype = \"step\"\nstep_size = 11\n");
    assert_false(FAILS(read_sweep("decay.toml")));
    assert_says("step_size = 11, but training ends after 10 steps: the learning rate is not");
    assert_says("  hint: set it to at most 9, or raise training.steps\n");
    write_spec("warm.toml", "", "",
               "[lr_scheduler]\ntype = \"step\"\nwarmup_steps = 5\nstep_size = 8\n");
    assert_false(FAILS(read_sweep("warm.toml")));
    assert_says("  hint: set it to at most 4, or raise training.steps\n");
    assert_false(FAILS(read_with("warm.toml", "lr_scheduler.step_size=4")));
    assert_says_nothing();
    write_spec("slow.toml", "", "",
               "[lr_scheduler]\ntype = \"step\"\nwarmup_steps = 10\nstep_size = 1\n");
    assert_false(FAILS(read_sweep("slow.toml")));
    assert_says(
        "multiplied by gamma\nstep_size = 1\n            ^\n  hint: raise training.steps\n");
}

/* A variant is shortened without a word, as is a study some of whose points reach the step. */
static void test_counts_above_the_steps_of_a_variant(void **state) {
    (void)state;
    write_spec("whole.toml", "", "", "[checkpoint]\ninterval = 8\n");
    write_text("short.toml", "extends = \"whole.toml\"\n[training]\nsteps = 4\n");
    write_spec("study.toml", "", "",
               "[checkpoint]\ninterval = 8\n[sweep]\n\"training.steps\" = [4, 8]\n");
    write_spec("never.toml", "", "",
               "[checkpoint]\ninterval = 8\n[sweep]\n\"training.steps\" = [4, 5]\n");
    assert_false(FAILS(read_sweep("short.toml")));
    assert_says_nothing();
    assert_false(FAILS(read_with("whole.toml", "training.steps=4")));
    assert_says_nothing();
    assert_false(FAILS(read_with("whole.toml", "training.steps=0")));
    assert_says_nothing();
    assert_false(FAILS(read_sweep("study.toml")));
    assert_says_nothing();
    assert_false(FAILS(read_sweep("never.toml")));
    assert_says("warning: checkpoint.interval = 8, but training ends after 5 steps: ");
}

/* A variant of a study is a study; its own [sweep] replaces the inherited one. */
static void test_sweep_is_inherited(void **state) {
    (void)state;
    write_spec("study.toml", "", "", "[sweep]\n\"model.num_hidden_layers\" = [4, 8]\n");
    write_text("middle.toml", "extends = \"study.toml\"\n[training]\nsteps = 3\n");
    write_text("variant.toml", "extends = \"middle.toml\"\n[model]\nhead_dim = 24\n");
    const Sweep *sweep = read_sweep("variant.toml");
    assert_true(sweep->swept);
    assert_int_equal(sweep->count, 2);
    assert_int_equal(sweep->points[1].spec->training.steps, 3);
    assert_int_equal(sweep->points[1].spec->model.num_hidden_layers, 8);
    assert_true(FAILS(read_plain("variant.toml")));
    assert_says("study.toml:12:1: error: variant.toml is a study of several experiments");
    write_text("own.toml", "extends = \"study.toml\"\n[sweep]\n\"training.seq_len\" = [8]\n");
    assert_int_equal(read_sweep("own.toml")->count, 1);
    write_text("none.toml", "extends = \"study.toml\"\n[model]\nnum_hidden_layers = 6\n[sweep]\n");
    assert_false(read_sweep("none.toml")->swept);
    assert_int_equal(read_plain("none.toml")->model.num_hidden_layers, 6);
    write_text("empty.toml", "extends = \"none.toml\"\n[sweep]\n");
    assert_true(FAILS(read_sweep("empty.toml")));
    assert_says("empty.toml:2:1: error: [sweep] is empty");
}

static void test_sweep_inherited_over_a_value(void **state) {
    (void)state;
    write_spec("study.toml", "", "", "[sweep]\n\"model.num_hidden_layers\" = [4, 8]\n");
    write_text("fixed.toml", "extends = \"study.toml\"\n[model]\nnum_hidden_layers = 6\n");
    assert_true(FAILS(read_sweep("fixed.toml")));
    assert_says("fixed.toml:3:21: error: model.num_hidden_layers is varied by the [sweep] of "
                "study.toml, which this file extends");
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, clean)
    static const struct CMUnitTest tests[] = {
        TEST(test_no_sweep),
        TEST(test_sweep_product),
        TEST(test_sweep_brief_names),
        TEST(test_sweep_gives_required_key),
        TEST(test_sweep_in_vain_somewhere),
        TEST(test_sweep_in_vain_everywhere),
        TEST(test_sweep_names_differ),
        TEST(test_sweep_same_points),
        TEST(test_sweep_same_values),
        TEST(test_counts_above_the_steps_are_told),
        TEST(test_a_decay_that_never_comes_is_told),
        TEST(test_counts_above_the_steps_of_a_variant),
        TEST(test_sweep_is_inherited),
        TEST(test_sweep_inherited_over_a_value),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
