/* Pairs of sequences: their layout in a batch, and every error message for bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runtime/data/data.h"
#include "temp_folder.h"

enum { PLACES = 16, SEQ_LEN = 4 };

static char message[1024];

typedef struct {
    int32_t ids[PLACES], labels[PLACES], positions[PLACES];
    double loss_weight;
    int32_t sequence[PLACES];
    double reference[PLACES / SEQ_LEN];
    int32_t sample_positions[PLACES], prefix[2 * PLACES];
    int64_t targets; /* what the loader says */
} Batch;

static RtInput inputs[] = {
    {"input_ids", RT_I32, PLACES, offsetof(Batch, ids)},
    {"labels", RT_I32, PLACES, offsetof(Batch, labels)},
    {"positions", RT_I32, PLACES, offsetof(Batch, positions)},
    {"loss_weight", RT_F64, 1, offsetof(Batch, loss_weight)},
    {"reference_nll", RT_F64, 0, offsetof(Batch, reference)},
    {"sequence", RT_I32, 0, offsetof(Batch, sequence)},
    {"sample_positions", RT_I32, 0, offsetof(Batch, sample_positions)},
    {"prefix", RT_I32, 0, offsetof(Batch, prefix)},
};

static const char *path;
static RtPairs pairs;
static int64_t packs; /* most pairs in two rows; 0: one */
static int64_t most_targets; /* of a batch; 0: any number */
static bool shares; /* one pair, or `packs` pairs, are one row of twice as many places */
static int64_t entry_places = 2 * SEQ_LEN;
static RtProgram program;

/* Returns NULL and a message if the pairs are refused. */
static Loader *open_pairs(const char *lines, int64_t batch, bool drop) {
    path = temp_file("pairs.jsonl", lines, strlen(lines));
    pairs = (RtPairs){.packed = packs, .shared = shares, .drop_overlong = drop};
    program = (RtProgram){.inputs = inputs, .input_count = shares ? 8 : packs ? 6 : 5};
    program.data = (RtData){.format = RT_DATA_JSONL,
                            .train = &path,
                            .train_count = 1,
                            .eval_batches = 8,
                            .eval_fraction = 0.4,
                            .vocab_size = 256,
                            .packing = packs > 0,
                            .max_target_tokens = most_targets,
                            .pairs = &pairs};
    program.training = (RtTraining){.batch = batch, .seq_len = entry_places, .micro_steps = 1};
    for (int i = 0; i < 3; i++)
        inputs[i].count = batch * entry_places;
    inputs[4].count = batch * 2;
    for (int i = 5; i < 8; i++)
        inputs[i].count = batch * entry_places * (i == 7 ? 2 : 1);
    return loader_open(&program, 0, message, sizeof message);
}

static void fill(const Loader *loader, LoaderSplit split, Batch *b) {
    assert_true(
        loader_fill(loader, (LoaderBatch){split, 0}, b, &b->targets, message, sizeof message));
}

#define ASSERT_INTS(got, ...) \
    assert_memory_equal(got, ((int32_t[]){__VA_ARGS__}), sizeof((int32_t[]){__VA_ARGS__}))

static const char pair_lines[] =
    "{\"prompt\":\"ab\",\"chosen\":\"c\",\"rejected\":\"de\"}\n"
    "{\"prompt_ids\":[1],\"chosen_ids\":[2,3,4,5],\"rejected_ids\":[6]}\n"
    "{\"prompt\":\"abcde\",\"chosen\":\"f\",\"rejected\":\"g\"}\n"   /* nothing left after the cut, */
    "{\"prompt\":\"ab\",\"chosen\":\"cdx\",\"rejected\":\"cdy\"}\n"; /* or all the same */

/* Chosen, then rejected; a pair is one target. */
static void a_pair_is_two_sequences(void **state) {
    (void)state;
    Loader *loader = open_pairs(pair_lines, 2, false);
    const LoaderFacts *facts = loader_facts(loader);
    assert_int_equal(facts->train_rows, 2);
    assert_int_equal(facts->train_samples, 2);
    assert_int_equal(facts->truncated, 1);
    assert_int_equal(facts->skipped, 2);
    Batch b;
    fill(loader, LOADER_TRAIN, &b);
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 0, 'a', 'b', 'd', 'e', 1, 2, 3, 4, 1, 6, 0, 0);
    ASSERT_INTS(b.labels, -100, 'c', -100, -100, -100, 'd', 'e', -100, 2, 3, 4, -100, 6, -100, -100,
                -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 0);
    assert_int_equal(b.targets, 2);
    assert_true(b.loss_weight == 1.0 / 2);
    loader_close(loader);
}

static void long_pairs_are_dropped_where_asked(void **state) {
    (void)state;
    Loader *loader = open_pairs(pair_lines, 1, true);
    assert_int_equal(loader_facts(loader)->train_rows, 1);
    assert_int_equal(loader_facts(loader)->truncated, 0);
    assert_int_equal(loader_facts(loader)->skipped, 3);
    loader_close(loader);
}

/* The last held-out batch has padding, which is not a pair. */
static void held_out_pairs_are_whole(void **state) {
    (void)state;
    Loader *loader = open_pairs("{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"c\"}\n"
                                "{\"prompt\":\"d\",\"chosen\":\"e\",\"rejected\":\"f\"}\n"
                                "{\"prompt\":\"g\",\"chosen\":\"h\",\"rejected\":\"i\"}\n",
                                2, false);
    assert_int_equal(loader_facts(loader)->train_rows, 2);
    assert_int_equal(loader_facts(loader)->eval_rows, 1);
    Batch b;
    fill(loader, LOADER_EVAL, &b);
    ASSERT_INTS(b.ids, 'g', 'h', 0, 0, 'g', 'i', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(b.targets, 1);
    loader_close(loader);
}

/* The first sequences are in one row, the second ones in the other, as long as both have room and
 * the limit allows. */
static void pairs_share_two_rows(void **state) {
    (void)state;
    static const char lines[] = "{\"prompt_ids\":[1],\"chosen_ids\":[2],\"rejected_ids\":[3]}\n"
                                "{\"prompt_ids\":[4],\"chosen_ids\":[5],\"rejected_ids\":[6]}\n"
                                "{\"prompt_ids\":[7],\"chosen_ids\":[8],\"rejected_ids\":[9,10]}\n"
                                "{\"prompt_ids\":[11],\"chosen_ids\":[12],\"rejected_ids\":[13]}\n"
                                "{\"prompt_ids\":[1],\"chosen_ids\":[1,2],\"rejected_ids\":[1]}\n"
                                "{\"prompt_ids\":[2],\"chosen_ids\":[2],\"rejected_ids\":[1]}\n"
                                "{\"prompt_ids\":[2],\"chosen_ids\":[2],\"rejected_ids\":[1]}\n";
    packs = 2;
    Loader *loader = open_pairs(lines, 2, false);
    packs = 0;
    assert_int_equal(loader_facts(loader)->train_rows, 4);
    assert_int_equal(loader_facts(loader)->train_samples, 5);
    Batch b;
    fill(loader, LOADER_TRAIN, &b);
    ASSERT_INTS(b.ids, 1, 2, 4, 5, 1, 3, 4, 6, 7, 8, 0, 0, 7, 9, 10, 0);
    ASSERT_INTS(b.labels, 2, -100, 5, -100, 3, -100, 6, -100, 8, -100, -100, -100, 9, 10, -100,
                -100);
    ASSERT_INTS(b.positions, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 2, 0);
    ASSERT_INTS(b.sequence, 0, 0, 2, 2, 1, 1, 3, 3, 4, 4, -1, -1, 5, 5, 5, -1);
    assert_int_equal(b.targets, 3);
    assert_true(b.loss_weight == 1.0 / 3);
    loader_close(loader);
}

static Loader *open_shared(const char *lines, int64_t batch, bool drop) {
    shares = true;
    Loader *loader = open_pairs(lines, batch, drop);
    shares = false;
    return loader;
}

/* The prompt is stored without its last token, which has two targets and begins each completion. */
static void a_shared_prompt_stands_once(void **state) {
    (void)state;
    Loader *loader =
        open_shared("{\"prompt_ids\":[1,2,3],\"chosen_ids\":[4,5],\"rejected_ids\":[4]}\n"
                    "{\"prompt_ids\":[],\"chosen_ids\":[6,7],\"rejected_ids\":[6,8,9]}\n",
                    2, false);
    const LoaderFacts *facts = loader_facts(loader);
    assert_int_equal(facts->train_rows, 2);
    assert_int_equal(facts->train_samples, 2);
    assert_int_equal(facts->truncated, 0);
    assert_true(facts->mean_tokens == 6 && facts->padding_share == 0.25);
    assert_true(facts->target_share == 6.0 / 16);
    Batch b;
    fill(loader, LOADER_TRAIN, &b);
    ASSERT_INTS(b.ids, 1, 2, 3, 4, 5, 3, 4, 0, 6, 7, 6, 8, 9, 0, 0, 0);
    ASSERT_INTS(b.labels, -100, -100, 4, 5, -100, 4, -100, -100, 7, -100, 8, 9, -100, -100, -100,
                -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 3, 4, 2, 3, 0, 0, 1, 0, 1, 2, 0, 0, 0);
    ASSERT_INTS(b.sample_positions, 0, 1, 0, 1, 2, 0, 1, 0, 0, 1, 0, 1, 2, 0, 0, 0);
    ASSERT_INTS(b.prefix, 0, 0, 0, 0, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0);
    ASSERT_INTS(b.sequence, 0, 0, 0, 0, 0, 1, 1, -1, 2, 2, 3, 3, 3, -1, -1, -1);
    assert_int_equal(b.targets, 2);
    loader_close(loader);
}

static const char prompted_lines[] =
    "{\"prompt_ids\":[1,2],\"chosen_ids\":[3],\"rejected_ids\":[4]}\n"
    "{\"prompt_ids\":[5,6],\"chosen_ids\":[7,8],\"rejected_ids\":[9]}\n"
    "{\"prompt_ids\":[1],\"chosen_ids\":[2],\"rejected_ids\":[3]}\n"
    "{\"prompt_ids\":[1],\"chosen_ids\":[2],\"rejected_ids\":[3]}\n"  /* held out, */
    "{\"prompt_ids\":[1],\"chosen_ids\":[2],\"rejected_ids\":[3]}\n"; /* too */

/* As many pairs as fit, each with its own prompt, which may be empty. */
static void pairs_share_a_row_with_their_prompts(void **state) {
    (void)state;
    entry_places = PLACES;
    packs = 3;
    Loader *loader = open_shared(prompted_lines, 1, false);
    const LoaderFacts *facts = loader_facts(loader);
    assert_int_equal(facts->train_rows, 1);
    assert_int_equal(facts->train_samples, 3);
    assert_true(facts->mean_tokens == 5 && facts->padding_share == 1.0 / 16);
    Batch b;
    fill(loader, LOADER_TRAIN, &b);
    ASSERT_INTS(b.ids, 1, 2, 3, 2, 4, 5, 6, 7, 8, 6, 9, 1, 2, 1, 3, 0);
    ASSERT_INTS(b.labels, -100, 3, -100, 4, -100, -100, 7, 8, -100, 9, -100, 2, -100, 3, -100,
                -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 1, 2, 0, 1, 2, 3, 1, 2, 0, 1, 0, 1, 0);
    ASSERT_INTS(b.sample_positions, 0, 0, 1, 0, 1, 0, 0, 1, 2, 0, 1, 0, 1, 0, 1, 0);
    ASSERT_INTS(b.prefix, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0);
    ASSERT_INTS(b.sequence, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, -1);
    assert_int_equal(b.targets, 3);
    loader_close(loader);
    packs = 2;
    loader = open_shared(prompted_lines, 1, false);
    assert_int_equal(loader_facts(loader)->train_rows, 2);
    assert_true(loader_fill_rows(loader, LOADER_TRAIN, 1, &b, message, sizeof message));
    ASSERT_INTS(b.sequence, 0, 0, 1, 1, -1, -1, -1);
    loader_close(loader);
    packs = 0;
    entry_places = 2 * SEQ_LEN;
}

static const char long_lines[] =
    "{\"prompt_ids\":[1,2,3],\"chosen_ids\":[4,5,6,7,8],\"rejected_ids\":[9]}\n"
    "{\"prompt_ids\":[1,2,3],\"chosen_ids\":[4,5,6,7,8],\"rejected_ids\":[9,8,7,6]}\n"
    "{\"prompt_ids\":[1,2,3,4,5,6],\"chosen_ids\":[7],\"rejected_ids\":[8]}\n" /* no room */
    "{\"prompt_ids\":[1],\"chosen_ids\":[2,3,4,5],\"rejected_ids\":[2,3,4,6]}\n"; /* the same */

/* The longer completion is cut first, then both, so that neither is lost for the other. */
static void what_is_too_long_for_one_row_is_cut(void **state) {
    (void)state;
    Loader *loader = open_shared(long_lines, 2, false);
    assert_int_equal(loader_facts(loader)->train_rows, 2);
    assert_int_equal(loader_facts(loader)->truncated, 2);
    assert_int_equal(loader_facts(loader)->skipped, 2);
    Batch b;
    fill(loader, LOADER_TRAIN, &b);
    ASSERT_INTS(b.ids, 1, 2, 3, 4, 5, 6, 3, 9, 1, 2, 3, 4, 5, 3, 9, 8);
    ASSERT_INTS(b.prefix, 0, 0, 0, 0, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 0, 0, 0, 0, 2, 0, 2, 0,
                2, 0, 2, 0, 2, 0, 2);
    ASSERT_INTS(b.labels, -100, -100, 4, 5, 6, -100, 9, -100, -100, -100, 4, 5, -100, 9, 8, -100);
    loader_close(loader);
    assert_null(open_shared(long_lines, 2, true));
    assert_non_null(strstr(message, "all of its 4 pairs"));
}

/* Padding is not a pair, and limits apply to the row. */
static void shared_rows_are_padded_and_limited(void **state) {
    (void)state;
    Loader *loader = open_shared("{\"prompt\":\"ab\",\"chosen\":\"c\",\"rejected\":\"d\"}\n"
                                 "{\"prompt\":\"ab\",\"chosen\":\"c\",\"rejected\":\"d\"}\n"
                                 "{\"prompt\":\"ab\",\"chosen\":\"c\",\"rejected\":\"d\"}\n",
                                 2, false);
    assert_int_equal(loader_facts(loader)->eval_rows, 1);
    Batch b;
    memset(&b, 7, sizeof b);
    fill(loader, LOADER_EVAL, &b);
    ASSERT_INTS(b.sequence, 0, 0, 0, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    ASSERT_INTS(b.prefix, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0);
    ASSERT_INTS(b.sample_positions, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(b.targets, 1);
    loader_close(loader);
    most_targets = 6;
    assert_null(open_shared("{\"prompt_ids\":[1],\"chosen_ids\":[2,3,4],\"rejected_ids\":[3]}\n",
                            2, false));
    most_targets = 0;
    assert_non_null(strstr(message, ":1: the pair has 4 target tokens"));
}

/* Values are in the order of the files, independent of the order of training, and stay with their
 * rows. */
static void attached_values_go_with_their_rows(void **state) {
    (void)state;
    Loader *loader = open_pairs("{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"c\"}\n"
                                "{\"prompt\":\"d\",\"chosen\":\"e\",\"rejected\":\"f\"}\n"
                                "{\"prompt\":\"g\",\"chosen\":\"h\",\"rejected\":\"i\"}\n",
                                2, false);
    double *values[LOADER_SPLITS];
    for (int split = 0; split < LOADER_SPLITS; split++) {
        values[split] = calloc(4, sizeof **values);
        for (int i = 0; i < 4; i++)
            values[split][i] = 10 * split + i + 1;
        loader_attach(loader, "reference_nll", (LoaderSplit)split, values[split]);
    }
    program.data.shuffle = true;
    Batch b;
    fill(loader, LOADER_TRAIN, &b);
    double first = b.ids[0] == 'a' ? 1 : 3;
    assert_true(b.reference[0] == first && b.reference[1] == first + 1);
    assert_true(b.reference[2] == 4 - first && b.reference[3] == 5 - first);
    fill(loader, LOADER_EVAL, &b);
    assert_true(b.reference[0] == 11 && b.reference[1] == 12);
    assert_true(b.reference[2] == 0 && b.reference[3] == 0);
    assert_int_equal(loader_rows(loader, LOADER_TRAIN), 2);
    assert_int_equal(loader_rows(loader, LOADER_EVAL), 1);
    assert_true(loader_fill_rows(loader, LOADER_TRAIN, 1, &b, message, sizeof message));
    ASSERT_INTS(b.ids, 'd', 'e', 0, 0, 'd', 'f', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    loader_close(loader);
}

static void bad_pairs_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *lines, *expected;
    } cases[] = {
        {"{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"c\"}\n{\"prompt\":\"a\",\"chosen\":"
         "\"b\"}",
         ":2: rejected is missing; a pair has prompt, chosen and rejected"},
        {"{\"text\":\"a\"}", ":1: prompt is missing"},
        {"{\"prompt_ids\":[1],\"chosen_ids\":[2]}", ":1: rejected_ids is missing"},
        {"{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":5}", ":1: rejected must be a string"},
        {"{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"b\"}",
         ":1: chosen and rejected are the same"},
        {"{\"prompt\":\"a\",\"chosen\":\"b\",\"rejected\":\"\"}",
         ":1: rejected has no token to predict"},
        {"{\"prompt_ids\":[1],\"chosen_ids\":[2],\"rejected_ids\":[256]}",
         "rejected_ids[0] is 256, outside the vocabulary"},
        {"{\"prompt\":\"abcd\",\"chosen\":\"e\",\"rejected\":\"f\"}",
         "all of its 1 pairs are too long for training.seq_len = 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(open_pairs(cases[i].lines, 2, false));
        if (!strstr(message, cases[i].expected))
            fail_msg("expected \"%s\" in \"%s\"", cases[i].expected, message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_two_sequences),
        cmocka_unit_test(long_pairs_are_dropped_where_asked),
        cmocka_unit_test(held_out_pairs_are_whole),
        cmocka_unit_test(pairs_share_two_rows),
        cmocka_unit_test(a_shared_prompt_stands_once),
        cmocka_unit_test(pairs_share_a_row_with_their_prompts),
        cmocka_unit_test(what_is_too_long_for_one_row_is_cut),
        cmocka_unit_test(shared_rows_are_padded_and_limited),
        cmocka_unit_test(attached_values_go_with_their_rows),
        cmocka_unit_test(bad_pairs_are_refused),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
