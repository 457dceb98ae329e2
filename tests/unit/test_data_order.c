/* The loader's order: each epoch's permutation, and how epochs end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "runtime/data/data_rows.h"
#include "temp_folder.h"

enum { EPOCH = 11, STEP = 4, SEQ_LEN = 4, MOST_ROWS = 16 };

typedef struct {
    int32_t ids[MOST_ROWS * SEQ_LEN], labels[MOST_ROWS * SEQ_LEN], positions[MOST_ROWS * SEQ_LEN];
} Batch;

/* Opens a text of EPOCH rows, the i-th of which consists of the number i. */
static Loader *open_rows(int64_t batch, RtLastBatch last) {
    static const char *path;
    static RtInput inputs[] = {{"input_ids", RT_I32, 0, offsetof(Batch, ids)},
                               {"labels", RT_I32, 0, offsetof(Batch, labels)},
                               {"positions", RT_I32, 0, offsetof(Batch, positions)}};
    static RtProgram programs[2]; /* at most two loaders are open */
    static int next;
    RtProgram *program = &programs[next++ % 2];
    char text[EPOCH * SEQ_LEN + 1], message[1024];
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = (char)(i / SEQ_LEN);
    path = temp_file("rows", text, sizeof text);
    for (int i = 0; i < 3; i++)
        inputs[i].count = batch * SEQ_LEN;
    *program = (RtProgram){.data = {.format = RT_DATA_TEXT,
                                    .train = &path,
                                    .train_count = 1,
                                    .vocab_size = 256,
                                    .shuffle = true,
                                    .last_batch = last},
                           .training = {.batch = batch, .seq_len = SEQ_LEN, .micro_steps = 1},
                           .inputs = inputs,
                           .input_count = 3};
    Loader *loader = loader_open(program, 3, message, sizeof message);
    assert_non_null(loader);
    return loader;
}

/* The number in row `row` of a batch. */
static int32_t number_of(const Loader *loader, int64_t batch, int row) {
    Batch b;
    char message[1024];
    int64_t targets;
    LoaderBatch which = {LOADER_TRAIN, batch};
    assert_true(loader_fill(loader, which, &b, &targets, message, sizeof message));
    return b.ids[row * SEQ_LEN];
}

static void assert_rows(const int32_t *got, const int32_t *expected, size_t count) {
    assert_memory_equal(got, expected, count * sizeof *got);
}

static void every_epoch_is_another_permutation(void **state) {
    (void)state;
    int32_t orders[3][EPOCH];
    Loader *loader = open_rows(1, RT_LAST_ROLLOVER);
    for (int i = 0; i < 3 * EPOCH; i++)
        orders[i / EPOCH][i % EPOCH] = number_of(loader, i, 0);
    for (int e = 0; e < 3; e++) {
        int seen = 0;
        for (int i = 0; i < EPOCH; i++)
            seen |= 1 << orders[e][i];
        assert_int_equal(seen, (1 << EPOCH) - 1);
    }
    assert_memory_not_equal(orders[0], orders[1], sizeof orders[0]);
    assert_memory_not_equal(orders[1], orders[2], sizeof orders[0]);
    loader_close(loader);
}

/* Reads `count` rows of the training stream, as two ranks take them, two at a time. */
static void read_stream(RtLastBatch last, int32_t *rows, int count) {
    Loader *of_rank[2];
    for (int r = 0; r < 2; r++) {
        of_rank[r] = open_rows(2, last);
        loader_shard(of_rank[r], r, 2);
        assert_true(loader_set_step(of_rank[r], STEP));
    }
    for (int i = 0; i < count; i++)
        rows[i] = number_of(of_rank[i / 2 % 2], i / STEP, i % 2);
    for (int r = 0; r < 2; r++)
        loader_close(of_rank[r]);
}

static void epochs_end_as_asked(void **state) {
    (void)state;
    enum { WHOLE = 8, PADDED = 12 };
    int32_t over[2 * EPOCH], left[2 * WHOLE], padded[2 * PADDED];
    read_stream(RT_LAST_ROLLOVER, over, 2 * EPOCH);
    read_stream(RT_LAST_DISCARD, left, 2 * WHOLE);
    read_stream(RT_LAST_PAD, padded, 2 * PADDED);
    assert_rows(left, over, WHOLE);
    assert_rows(left + WHOLE, over + EPOCH, WHOLE);
    assert_rows(padded, over, EPOCH);
    assert_rows(padded + EPOCH, over, PADDED - EPOCH);
    assert_rows(padded + PADDED, over + EPOCH, EPOCH);
}

static void an_epoch_may_be_shorter_than_a_step(void **state) {
    (void)state;
    enum { LONG_STEP = EPOCH + 2 };
    Loader *discard = open_rows(LONG_STEP, RT_LAST_DISCARD), *pad = open_rows(LONG_STEP, RT_LAST_PAD);
    assert_false(loader_set_step(discard, LONG_STEP));
    assert_true(loader_set_step(pad, LONG_STEP));
    assert_int_equal(loader_facts(pad)->epoch_rows, LONG_STEP);
    for (int i = 0; i < 2; i++)
        assert_int_equal(number_of(pad, 0, EPOCH + i), number_of(pad, 0, i));
    assert_true(loader_facts(pad)->fingerprint != loader_facts(discard)->fingerprint);
    loader_close(discard);
    loader_close(pad);
}

static void a_permutation_is_one_for_any_size(void **state) {
    (void)state;
    static bool seen[5000];
    for (int64_t count = 1; count <= 5000; count = count * 3 / 2 + 1) {
        memset(seen, 0, sizeof seen);
        for (int64_t i = 0; i < count; i++) {
            int64_t to = permute(i, count, 42);
            assert_true(to >= 0 && to < count && !seen[to]);
            seen[to] = true;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_epoch_is_another_permutation),
        cmocka_unit_test(epochs_end_as_asked),
        cmocka_unit_test(an_epoch_may_be_shorter_than_a_step),
        cmocka_unit_test(a_permutation_is_one_for_any_size),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
