/* The loader: each format's rows, the conventions of a batch, determinism, and every error message
 * for bad data. The order of rows is in test_data_order.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/data/data_rows.h"
#include "temp_folder.h"

static char message[1024];

static const char *text_file(const char *name, const char *text) {
    return temp_file(name, text, strlen(text));
}

static RtData data_of(RtDataFormat format, const char *const *path) {
    return (RtData){
        .format = format, .train = path, .train_count = 1, .eval_batches = 8, .vocab_size = 256};
}

enum { MAX_PLACES = 64 };

/* A slot with all inputs of a language model. */
typedef struct {
    int32_t ids[MAX_PLACES], labels[MAX_PLACES], positions[MAX_PLACES];
    int32_t target_rows[MAX_PLACES], target_places[MAX_PLACES];
    double loss_weight;
    int32_t first_row;
    int64_t targets; /* what the loader says */
} Batch;

static RtInput inputs[] = {
    {"input_ids", RT_I32, MAX_PLACES, offsetof(Batch, ids)},
    {"labels", RT_I32, MAX_PLACES, offsetof(Batch, labels)},
    {"positions", RT_I32, MAX_PLACES, offsetof(Batch, positions)},
    {"target_rows", RT_I32, MAX_PLACES, offsetof(Batch, target_rows)},
    {"target_places", RT_I32, MAX_PLACES, offsetof(Batch, target_places)},
    {"loss_weight", RT_F64, 1, offsetof(Batch, loss_weight)},
    {"first_row", RT_I32, 1, offsetof(Batch, first_row)},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

/* Returns one of four programs in turn, whose loader must be closed before the fourth next call. */
static RtProgram *program_of(const RtData *data, int64_t batch, int64_t seq_len,
                             int64_t micro_steps) {
    static RtProgram programs[4];
    static int next;
    RtProgram *program = &programs[next++ % 4];
    *program = (RtProgram){.data = *data, .inputs = inputs, .input_count = INPUTS};
    program->training =
        (RtTraining){.batch = batch, .seq_len = seq_len, .micro_steps = micro_steps};
    for (int i = 0; i < 5; i++)
        inputs[i].count = batch * seq_len;
    return program;
}

static Loader *open_with(const RtData *data, int64_t batch, int64_t seq_len, int64_t micro_steps,
                         int64_t seed) {
    const RtProgram *program = program_of(data, batch, seq_len, micro_steps);
    Loader *loader = loader_open(program, seed, message, sizeof message);
    if (!loader)
        print_error("%s\n", message);
    assert_non_null(loader);
    return loader;
}

static void assert_refused(const RtData *data, int64_t seq_len, const char *expected) {
    message[0] = '\0';
    assert_null(loader_open(program_of(data, 2, seq_len, 1), 0, message, sizeof message));
    if (!strstr(message, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message);
}

static void fill(const Loader *loader, LoaderSplit split, int64_t index, Batch *b) {
    memset(b, 0x55, sizeof *b);
    assert_true(
        loader_fill(loader, (LoaderBatch){split, index}, b, &b->targets, message, sizeof message));
}

static void assert_ints(const int32_t *got, const int32_t *expected, size_t count) {
    assert_memory_equal(got, expected, count * sizeof *got);
}
#define ASSERT_INTS(got, ...) \
    assert_ints(got, (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* ---- text ------------------------------------------------------------------------------------ */

static void text_is_windows_of_bytes(void **state) {
    (void)state;
    const char *path = text_file("a.txt", "abcdefghij"); /* 10 bytes: two windows of 4+1 */
    RtData data = data_of(RT_DATA_TEXT, &path);
    Loader *loader = open_with(&data, 2, 4, 1, 0);
    assert_int_equal(loader_facts(loader)->train_rows, 2);
    assert_int_equal(loader_eval_batches(loader), 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    ASSERT_INTS(b.labels, 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
    ASSERT_INTS(b.positions, 0, 1, 2, 3, 0, 1, 2, 3);
    assert_int_equal(b.targets, 8);
    assert_true(b.loss_weight == 1.0 / 8);
    assert_int_equal(b.first_row, 0);
    loader_close(loader);
}

static void text_joins_files_in_sorted_order(void **state) {
    (void)state;
    text_file("many/b.txt", "BB");
    text_file("many/Z.txt", "z");
    text_file("many/.hidden", "hhhh");
    text_file("many/a.txt", "aa");
    const char *both[] = {temp_path("many"), temp_path("many/*.txt")}; /* "zaaBB" twice */
    RtData data = data_of(RT_DATA_TEXT, both);
    data.train_count = 2;
    Loader *loader = open_with(&data, 1, 9, 1, 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    ASSERT_INTS(b.ids, 'z', 'a', 'a', 'B', 'B', 'z', 'a', 'a', 'B');
    assert_int_equal(b.labels[8], 'B');
    loader_close(loader);
}

static void held_out_text_is_the_end(void **state) {
    (void)state;
    char text[100];
    for (int i = 0; i < 100; i++)
        text[i] = (char)i;
    const char *path = temp_file("numbers", text, sizeof text);
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.eval_fraction = 0.3;
    data.shuffle = true;
    Loader *loader = open_with(&data, 2, 4, 1, 7);
    assert_int_equal(loader_facts(loader)->train_rows, 17); /* (70 - 1) / 4 */
    assert_int_equal(loader_facts(loader)->eval_rows, 7);   /* (30 - 1) / 4 */
    assert_int_equal(loader_eval_batches(loader), 4);
    Batch b;
    for (int64_t i = 0; i < 40; i++) {
        fill(loader, LOADER_TRAIN, i, &b);
        for (int k = 0; k < 8; k++)
            assert_true(b.labels[k] == b.ids[k] + 1 && b.labels[k] < 70);
    }
    fill(loader, LOADER_EVAL, 0, &b);
    ASSERT_INTS(b.ids, 70, 71, 72, 73, 74, 75, 76, 77);
    assert_true(b.loss_weight == 1.0);
    fill(loader, LOADER_EVAL, 3, &b); /* row 6, then padding */
    ASSERT_INTS(b.ids, 94, 95, 96, 97, 0, 0, 0, 0);
    ASSERT_INTS(b.labels, 95, 96, 97, 98, -100, -100, -100, -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 3, 0, 0, 0, 0);
    assert_int_equal(b.targets, 4);
    loader_close(loader);
}

/* ---- JSON lines ------------------------------------------------------------------------------ */

static void a_sample_a_row(void **state) {
    (void)state;
    const char *path =
        text_file("s.jsonl", "\xEF\xBB\xBF{\"input_ids\":[5,6,7],\"labels\":[-100,-100,9]}\n"
                             "\n"
                             "{\"text\":\"xyzxyz\", \"id\":1}\r\n"
                             "{\"prompt\":\"ab\",\"completion\":\"c\\u0000\"}");
    RtData data = data_of(RT_DATA_JSONL, &path);
    Loader *loader = open_with(&data, 3, 4, 1, 0);
    assert_int_equal(loader_facts(loader)->train_samples, 3);
    assert_int_equal(loader_facts(loader)->truncated, 1);
    assert_true(loader_facts(loader)->mean_tokens == 11.0 / 3);
    assert_true(loader_facts(loader)->padding_share == 1 - 11.0 / 12);
    assert_true(loader_facts(loader)->target_share == 6.0 / 12);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    ASSERT_INTS(b.ids, 5, 6, 7, 0, 'x', 'y', 'z', 'x', 'a', 'b', 'c', 0);
    ASSERT_INTS(b.labels, -100, 9, -100, -100, 'y', 'z', 'x', -100, -100, 'c', 0, -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 0, 0, 1, 2, 3, 0, 1, 2, 3);
    assert_int_equal(b.targets, 1 + 3 + 2);
    assert_true(b.loss_weight == 1.0 / 6);
    loader_close(loader);
}

static void packing_starts_a_row_when_a_sample_does_not_fit(void **state) {
    (void)state;
    const char *path = text_file("p.jsonl", "{\"text\":\"ab\"}\n{\"text\":\"cde\"}\n"
                                            "{\"text\":\"fgh\"}\n{\"text\":\"i\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    data.packing = true;
    Loader *loader = open_with(&data, 2, 6, 1, 0);
    assert_int_equal(loader_facts(loader)->train_rows, 2);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 'd', 'e', 0, 'f', 'g', 'h', 'i', 0, 0);
    ASSERT_INTS(b.labels, 'b', -100, 'd', 'e', -100, -100, 'g', 'h', -100, -100, -100, -100);
    ASSERT_INTS(b.positions, 0, 1, 0, 1, 2, 0, 0, 1, 2, 0, 0, 0);
    assert_int_equal(b.targets, 5);
    loader_close(loader);
}

static void packing_keeps_the_target_limit(void **state) {
    (void)state;
    const char *path = text_file("p.jsonl", "{\"text\":\"abc\"}\n{\"text\":\"def\"}\n"
                                            "{\"prompt\":\"ghi\",\"completion\":\"j\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    data.packing = true;
    data.max_target_tokens = 6; /* three per row in a batch of two */
    Loader *loader = open_with(&data, 2, 20, 1, 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b); /* abc | def ghij */
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 0);
    ASSERT_INTS(b.ids + 20, 'd', 'e', 'f', 'g', 'h', 'i', 'j', 0);
    assert_int_equal(b.targets, 2 + 3);
    loader_close(loader);
    data.max_target_tokens = 2;
    assert_refused(&data, 20, "p.jsonl:1: the sample has 2 target tokens, but "
                              "data.max_target_tokens leaves 1 per row");
}

/* The loss of a step is divided by the targets of all its micro-steps. */
static void micro_steps_share_the_steps_targets(void **state) {
    (void)state;
    const char *path = text_file("m.jsonl", "{\"text\":\"abcd\"}\n{\"text\":\"e\"}\n"
                                            "{\"text\":\"fg\"}\n{\"text\":\"h\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    Loader *loader = open_with(&data, 1, 4, 3, 0);
    const int64_t targets[] = {3, 0, 1, 0, 3, 0};
    const double weights[] = {1.0 / 4, 1.0 / 4, 1.0 / 4, 1.0 / 3, 1.0 / 3, 1.0 / 3};
    for (int i = 0; i < 6; i++) {
        Batch b;
        fill(loader, LOADER_TRAIN, i, &b);
        assert_int_equal(b.targets, targets[i]);
        assert_true(b.loss_weight == weights[i]);
        assert_int_equal(b.first_row, i % 3 * 4);
    }
    loader_close(loader);
    assert_refused(&data, 1, "no sample has a target token"); /* each was cut to one token */
}

static void a_step_without_targets_weighs_nothing(void **state) {
    (void)state;
    const char *path = text_file("z.jsonl", "{\"text\":\"a\"}\n{\"text\":\"bc\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    Loader *loader = open_with(&data, 1, 4, 1, 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    assert_true(b.loss_weight == 0.0);
    assert_int_equal(b.targets, 0);
    loader_close(loader);
}

/* ---- several ranks --------------------------------------------------------------------------- */

/* Rank r's micro-step m equals number m * ranks + r of a single rank with all of the step's
 * micro-steps: rows, weight, places in the step, over several epochs. */
static void ranks_share_out_what_one_would_send(void **state) {
    (void)state;
    const char *path =
        text_file("r.jsonl", "{\"text\":\"abcd\"}\n{\"text\":\"e\"}\n"
                             "{\"text\":\"fg\"}\n{\"text\":\"hij\"}\n{\"text\":\"k\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    data.shuffle = true;
    enum { RANKS = 3, MICRO_STEPS = 2, EACH = 8 };
    Loader *one = open_with(&data, 1, 4, RANKS * MICRO_STEPS, 7);
    Loader *many = open_with(&data, 1, 4, MICRO_STEPS, 7);
    int64_t without_targets = 0;
    for (int i = 0; i < EACH; i++)
        for (int r = 0; r < RANKS; r++) {
            Batch of_one, of_rank;
            fill(one, LOADER_TRAIN, i * RANKS + r, &of_one);
            loader_shard(many, r, RANKS);
            fill(many, LOADER_TRAIN, i, &of_rank);
            assert_memory_equal(&of_one, &of_rank, sizeof of_one);
            assert_int_equal(of_rank.first_row, (i % MICRO_STEPS * RANKS + r) * 4);
            without_targets += of_rank.targets == 0;
        }
    assert_true(without_targets > 0 && without_targets < EACH * RANKS);
    loader_close(one);
    loader_close(many);
}

/* Each rank evaluates the same number of batches; together they contain every row once. */
static void ranks_share_out_what_is_held_out(void **state) {
    (void)state;
    const char *path = text_file("t.txt", "abcdefgh"), *other = text_file("v.txt", "0123456789");
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.validation = &other;
    data.validation_count = 1;
    enum { RANKS = 4 };
    const struct {
        int64_t eval_batches, used, each, targets; /* of four batches with one row of two tokens each */
    } cases[] = {{3, 3, 1, 6}, {8, 4, 1, 8}};
    for (int c = 0; c < 2; c++) {
        data.eval_batches = cases[c].eval_batches;
        Loader *loader = open_with(&data, 1, 2, 1, 0);
        int64_t targets = 0;
        for (int r = 0; r < RANKS; r++) {
            Batch b;
            loader_shard(loader, r, RANKS);
            assert_int_equal(loader_eval_batches(loader), cases[c].each);
            fill(loader, LOADER_EVAL, 0, &b);
            if (r < cases[c].used)
                ASSERT_INTS(b.ids, '0' + 2 * r, '1' + 2 * r);
            else
                ASSERT_INTS(b.labels, -100, -100);
            targets += b.targets;
        }
        assert_int_equal(targets, cases[c].targets);
        loader_close(loader);
    }
    Loader *loader = open_with(&data, 1, 2, 1, 0);
    loader_shard(loader, 0, 3);
    assert_int_equal(loader_eval_batches(loader), 2);
    loader_close(loader);
}

/* ---- token shards and random tokens ---------------------------------------------------------- */

static const char *shard(const char *name, int version, const int32_t *tokens, int count,
                         int claim) {
    uint8_t bytes[1024 + 4 * 64] = {0};
    const uint32_t header[3] = {20240520, (uint32_t)version, (uint32_t)claim};
    int width = version == 1 ? 2 : 4;
    memcpy(bytes, header, sizeof header);
    for (int i = 0; i < count; i++)
        memcpy(bytes + 1024 + i * width, &tokens[i], (size_t)width);
    return temp_file(name, bytes, 1024 + (size_t)(count * width));
}

static void shards_are_one_stream(void **state) {
    (void)state;
    const int32_t first[] = {1000, 1001, 1002}, second[] = {1003, 1004, 70000, 5};
    const char *paths[] = {shard("1.bin", 1, first, 3, 3), shard("2.bin", 1, NULL, 0, 0),
                           shard("3.bin", 2, second, 4, 4)};
    RtData data = data_of(RT_DATA_TOKENS, paths);
    data.train_count = 3;
    data.vocab_size = 70001;
    Loader *loader = open_with(&data, 1, 6, 1, 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    ASSERT_INTS(b.ids, 1000, 1001, 1002, 1003, 1004, 70000);
    ASSERT_INTS(b.labels, 1001, 1002, 1003, 1004, 70000, 5);
    loader_close(loader);
    data.vocab_size = 70000;
    assert_refused(&data, 6,
                   "3.bin: token 2 (byte 1032) is 70000, outside the vocabulary; "
                   "model.vocab_size is 70000");
}

static void random_tokens_follow_the_seed(void **state) {
    (void)state;
    RtData data = data_of(RT_DATA_SYNTHETIC, NULL);
    data.train_count = 0;
    data.vocab_size = 50;
    data.eval_batches = 2;
    Loader *one = open_with(&data, 2, 8, 1, 1), *two = open_with(&data, 2, 8, 1, 2);
    assert_int_equal(loader_eval_batches(one), 2);
    Batch a, b;
    fill(one, LOADER_TRAIN, 1000000, &a);
    fill(one, LOADER_TRAIN, 1000000, &b);
    assert_memory_equal(a.ids, b.ids, sizeof a.ids);
    fill(two, LOADER_TRAIN, 1000000, &b);
    assert_memory_not_equal(a.ids, b.ids, sizeof a.ids);
    fill(one, LOADER_EVAL, 0, &b);
    assert_memory_not_equal(a.ids, b.ids, sizeof a.ids);
    for (int i = 0; i < 16; i++)
        assert_true(a.ids[i] >= 0 && a.ids[i] < 50 && (i % 8 == 7 || a.labels[i] == a.ids[i + 1]));
    loader_close(one);
    loader_close(two);
}

/* ---- the ring -------------------------------------------------------------------------------- */

/* Batches from a ring equal those filled directly, in any order of requests, and do not change
 * while the next batch is taken. */
static void compare_with_ring(const RtData *data, const Loader *plain) {
    enum { RING = 16, BATCH = 4 };
    static Batch memory[RING];
    void *buffers[RING];
    Loader *loader = open_with(data, BATCH, 8, 2, 5);
    assert_true(loader_facts(plain)->fingerprint == loader_facts(loader)->fingerprint);
    assert_true(loader_ring_size(loader) <= RING);
    for (int i = 0; i < RING; i++)
        buffers[i] = &memory[i];
    memset(memory, 0x55, sizeof memory);
    loader_start(loader, buffers);
    const LoaderBatch order[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4},  {0, 90}, {0, 91},
                                 {0, 5}, {1, 0}, {1, 1}, {1, 2}, {0, 92}, {0, 93}, {0, 5},
                                 {0, 5}, {0, 7}, {0, 0}, {1, 2}, {1, 1},  {0, 1},  {0, 2}};
    Batch expected[2];
    const Batch *taken[2];
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        Batch *b = &expected[i % 2];
        int64_t targets;
        fill(plain, order[i].split, order[i].index, b);
        taken[i % 2] = loader_take(loader, order[i], &targets, message, sizeof message);
        assert_non_null(taken[i % 2]);
        assert_int_equal(targets, b->targets);
        for (size_t k = 0; k < 2 && k <= i; k++)
            assert_memory_equal(taken[k], &expected[k], offsetof(Batch, targets));
    }
    loader_close(loader);
}

static void a_ring_changes_nothing(void **state) {
    (void)state;
    char text[997];
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = (char)(i * 31);
    const char *path = temp_file("t.txt", text, sizeof text);
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.shuffle = true;
    data.eval_fraction = 0.1;
    Loader *plain = open_with(&data, 4, 8, 2, 5);
    for (data.num_workers = 0; data.num_workers <= 6; data.num_workers += 3)
        for (data.prefetch_batches = 1; data.prefetch_batches <= 9; data.prefetch_batches += 4)
            compare_with_ring(&data, plain);
    loader_close(plain);
}

/* The first batch is still being filled when another one is requested. */
static bool fill_slowly(const void *context, LoaderBatch which, int64_t part, int64_t parts,
                        void *slot, DataError *error) {
    (void)context, (void)parts, (void)error;
    if (which.index < 3)
        usleep(20000);
    ((int64_t *)slot)[part] = which.index;
    return true;
}

static void a_jump_drops_what_is_being_filled(void **state) {
    (void)state;
    enum { PARTS = 3 };
    int64_t memory[4][PARTS];
    void *buffers[] = {memory[0], memory[1], memory[2], memory[3]};
    RingJob job = {fill_slowly, NULL, PARTS, .ahead = 2, .in_use = 2, .workers = 3};
    assert_int_equal(ring_buffers(&job), 4);
    Ring *ring = ring_open(&job, buffers);
    for (int64_t i = 0; i < 12; i++) {
        int64_t index = i % 4 ? 50 + i : 0;
        const int64_t *batch = ring_take(ring, (LoaderBatch){LOADER_TRAIN, index}, NULL);
        for (int part = 0; part < PARTS; part++)
            assert_int_equal(batch[part], index);
    }
    ring_close(ring);
}

static bool fail_at_two(const void *context, LoaderBatch which, int64_t part, int64_t parts,
                        void *slot, DataError *error) {
    (void)context, (void)parts, (void)slot;
    return which.index != 2 || part == 0 || data_fail(error, "batch 2 is bad");
}

/* The error is reported when the batch is taken, not before, and does not affect other batches. */
static void a_bad_batch_fails_when_it_is_taken(void **state) {
    (void)state;
    for (int64_t workers = 0; workers <= 2; workers += 2) {
        char memory[4];
        void *buffers[] = {memory, memory + 1, memory + 2, memory + 3};
        RingJob job = {fail_at_two, NULL, 2, .ahead = workers, .in_use = 2, .workers = workers};
        Ring *ring = ring_open(&job, buffers);
        DataError error = {message, sizeof message};
        message[0] = '\0';
        assert_non_null(ring_take(ring, (LoaderBatch){LOADER_TRAIN, 0}, &error));
        assert_non_null(ring_take(ring, (LoaderBatch){LOADER_TRAIN, 1}, &error));
        assert_null(ring_take(ring, (LoaderBatch){LOADER_TRAIN, 2}, &error));
        assert_string_equal(message, "batch 2 is bad");
        assert_non_null(ring_take(ring, (LoaderBatch){LOADER_TRAIN, 3}, &error));
        ring_close(ring);
    }
}

static void targets_are_listed_and_found_again(void **state) {
    (void)state;
    const char *path = text_file("l.jsonl", "{\"input_ids\":[5,6,7],\"labels\":[-100,-100,9]}\n"
                                            "{\"text\":\"xyz\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    Loader *loader = open_with(&data, 2, 4, 1, 0);
    Batch b;
    fill(loader, LOADER_TRAIN, 0, &b);
    ASSERT_INTS(b.labels, -100, 9, -100, -100, 'y', 'z', -100, -100);
    ASSERT_INTS(b.target_rows, 1, 4, 5, -1, -1, -1, -1, -1);
    ASSERT_INTS(b.target_places, -1, 0, -1, -1, 1, 2, -1, -1);
    loader_close(loader);
}

static void the_fingerprint_tells_other_data(void **state) {
    (void)state;
    uint64_t prints[3];
    for (int i = 0; i < 3; i++) { /* i = 2: other held-out data */
        const char *path = text_file("f.txt", i == 2 ? "abcdefghi_" : i ? "ab_defghij" : "abcdefghij");
        RtData data = data_of(RT_DATA_TEXT, &path);
        data.eval_fraction = 0.5;
        Loader *loader = open_with(&data, 1, 4, 1, 0);
        prints[i] = loader_facts(loader)->fingerprint;
        loader_close(loader);
    }
    assert_true(prints[0] != prints[1] && prints[0] != prints[2]);
}

/* ---- bad data -------------------------------------------------------------------------------- */

static void bad_files_are_refused(void **state) {
    (void)state;
    const char *path = "/nonexistent/data.txt";
    RtData data = data_of(RT_DATA_TEXT, &path);
    assert_refused(&data, 4,
                   "/nonexistent/data.txt: no such file; data paths are relative to the working "
                   "directory, or to DIR with make -C build/NAME run FROM=DIR");
    path = "build/data/nonexistent.txt"; /* among the samples that make run makes */
    assert_refused(&data, 4, "no such file; make run in gpuopt-gen's folder makes the samples");
    path = text_file("empty", "");
    assert_refused(&data, 4, "empty: is empty");
    path = text_file("short", "abc");
    assert_refused(&data, 4,
                   "short: 3 tokens are for training, but one row of training.seq_len = 4 needs 5; "
                   "add text, or lower training.seq_len or data.eval_fraction");
    path = text_file("enough", "abcdef");
    data.vocab_size = 255;
    assert_refused(&data, 4, "text is read as bytes, which needs model.vocab_size = 256");
    data.vocab_size = 256;
    data.max_target_tokens = 7;
    assert_refused(&data, 4, "data.max_target_tokens = 7 leaves 3 target tokens");
}

/* To open a pipe would wait for whoever writes into it, and a device may go on for ever. */
static void only_regular_files_are_read(void **state) {
    (void)state;
    const char *path = temp_path("pipe.txt");
    assert_int_equal(mkfifo(path, 0600), 0);
    for (RtDataFormat format = RT_DATA_TEXT; format <= RT_DATA_TOKENS; format++) {
        RtData data = data_of(format, &path);
        assert_refused(&data, 4, "pipe.txt: cannot be opened: it is not a regular file");
    }
    path = "/dev/zero";
    RtData data = data_of(RT_DATA_JSONL, &path);
    assert_refused(&data, 4, "/dev/zero: cannot be opened: it is not a regular file");
}

static void unreadable_files_are_refused(void **state) {
    (void)state;
    const char *path = text_file("locked.txt", "abcdef");
    if (geteuid() == 0) { /* root may read anything, so use a folder as an unreadable file */
        path = temp_path("empty_folder/");
        RtData data = data_of(RT_DATA_JSONL, &path);
        assert_refused(&data, 4, "no *.jsonl file in this folder");
        return;
    }
    assert_int_equal(chmod(path, 0), 0);
    RtData data = data_of(RT_DATA_TEXT, &path);
    assert_refused(&data, 4, "locked.txt: cannot be opened: Permission denied");
}

static void bad_shards_are_refused(void **state) {
    (void)state;
    const int32_t tokens[] = {1, 2, 3, 4, 5, 6};
    const char *path = shard("bad.bin", 1, tokens, 6, 7);
    RtData data = data_of(RT_DATA_TOKENS, &path);
    assert_refused(&data, 4, "promises 7 tokens (1038 bytes), but it has 1036 bytes");
    path = shard("bad.bin", 5, tokens, 6, 6);
    assert_refused(&data, 4, "token shard of version 5");
    path = text_file("bad.bin", "hello");
    assert_refused(&data, 4, "is no token shard");
    path = text_file("bad.bin", "");
    assert_refused(&data, 4, "is empty");
}

static void a_validation_file_must_hold_a_row(void **state) {
    (void)state;
    const char *path = text_file("train.txt", "abcdefgh"), *other = text_file("valid.txt", "ab");
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.validation = &other;
    data.validation_count = 1;
    assert_refused(&data, 4,
                   "valid.txt: 2 tokens are held out, but one row of training.seq_len = 4 needs 5; "
                   "add text, or lower training.seq_len");
    other = text_file("valid.txt", "12345");
    Loader *loader = open_with(&data, 2, 4, 1, 0);
    assert_int_equal(loader_facts(loader)->train_rows, 1);
    assert_int_equal(loader_eval_batches(loader), 1);
    loader_close(loader);
}

static void held_out_samples_need_a_target(void **state) {
    (void)state;
    const char *path = text_file("t.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"
                                            "{\"text\":\"cd\"}\n{\"text\":\"e\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    data.eval_fraction = 0.25;
    assert_refused(&data, 4, "t.jsonl: no held-out sample has a target token: all labels");
    data.validation = &path;
    data.validation_count = 1;
    loader_close(open_with(&data, 2, 4, 1, 0));
    data.eval_batches = 1; /* an evaluation does not see the last two */
    assert_refused(&data, 4, "t.jsonl: no held-out sample has a target token: all labels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_windows_of_bytes),
        cmocka_unit_test(text_joins_files_in_sorted_order),
        cmocka_unit_test(held_out_text_is_the_end),
        cmocka_unit_test(a_sample_a_row),
        cmocka_unit_test(packing_starts_a_row_when_a_sample_does_not_fit),
        cmocka_unit_test(packing_keeps_the_target_limit),
        cmocka_unit_test(micro_steps_share_the_steps_targets),
        cmocka_unit_test(a_step_without_targets_weighs_nothing),
        cmocka_unit_test(ranks_share_out_what_one_would_send),
        cmocka_unit_test(ranks_share_out_what_is_held_out),
        cmocka_unit_test(shards_are_one_stream),
        cmocka_unit_test(random_tokens_follow_the_seed),
        cmocka_unit_test(a_ring_changes_nothing),
        cmocka_unit_test(a_jump_drops_what_is_being_filled),
        cmocka_unit_test(a_bad_batch_fails_when_it_is_taken),
        cmocka_unit_test(targets_are_listed_and_found_again),
        cmocka_unit_test(the_fingerprint_tells_other_data),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(only_regular_files_are_read),
        cmocka_unit_test(unreadable_files_are_refused),
        cmocka_unit_test(bad_shards_are_refused),
        cmocka_unit_test(a_validation_file_must_hold_a_row),
        cmocka_unit_test(held_out_samples_need_a_target),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
