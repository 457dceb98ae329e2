/* Token shards with samples: the same rows as from JSON lines of the same ids, and every error
 * message for bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/data/data_rows.h"
#include "temp_folder.h"

enum { SEQ_LEN = 6, MAX_BYTES = 1400 };

static char message[1024];
static uint8_t bytes[MAX_BYTES];
static size_t size;

static void put(size_t at, int width, uint32_t value) {
    for (int i = 0; i < width; i++)
        bytes[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

/* Four sequences, ten tokens; as pairs: 10 11 | 12 or 13, and 9 | 8 or 7. */
static void make_shard(int version, bool pairs) {
    static const uint32_t ids[] = {10, 11, 12, 10, 11, 13, 9, 8, 9, 7}, ends[] = {3, 6, 8, 10};
    const int count = 10, width = version == 4 ? 4 : 2;
    const uint32_t header[] = {20240520, (uint32_t)version, (uint32_t)count, 4, pairs};
    memset(bytes, 0, sizeof bytes);
    for (size_t i = 0; i < 5; i++)
        put(4 * i, 4, header[i]);
    size = 1024;
    for (int i = 0; i < count; i++, size += (size_t)width)
        put(size, width, ids[i]);
    for (int i = 0; i < 4; i++, size += 4)
        put(size, 4, ends[i]);
    put(size, 2, 0x2a4); /* tokens 2, 5, 7 and 9 */
    size += 2;
}

static bool read_as(Samples *samples, SamplesReader *read, const void *from, size_t count,
                    const RtPairs *pairs) {
    DataError error = {message, sizeof message};
    *samples = (Samples){.seq_len = SEQ_LEN, .vocab_size = 256, .pairs = pairs};
    message[0] = '\0';
    return read(samples, "file", from, count, &error);
}

static const RtPairs as_pairs = {.packed = 2};
static const char sample_lines[] = "{\"input_ids\":[10,11,12],\"labels\":[-100,-100,12]}\n"
                                   "{\"input_ids\":[10,11,13],\"labels\":[-100,-100,13]}\n"
                                   "{\"input_ids\":[9,8],\"labels\":[-100,8]}\n"
                                   "{\"input_ids\":[9,7],\"labels\":[-100,7]}\n";
static const char pair_lines[] =
    "{\"prompt_ids\":[10,11],\"chosen_ids\":[12],\"rejected_ids\":[13]}\n"
    "{\"prompt_ids\":[9],\"chosen_ids\":[8],\"rejected_ids\":[7]}\n";

static void compare_rows(const Samples *a, const Samples *b, bool packing) {
    Rows rows[2];
    DataError error = {message, sizeof message};
    assert_true(rows_of_samples(&rows[0], a, 0, a->count, SEQ_LEN, packing, 0, &error));
    assert_true(rows_of_samples(&rows[1], b, 0, b->count, SEQ_LEN, packing, 0, &error));
    assert_int_equal(rows[0].count, rows[1].count);
    assert_int_equal(rows[0].count, packing ? 2 : 4);
    for (int64_t row = 0; row < rows[0].count; row++) {
        int32_t got[2][3][SEQ_LEN];
        for (int i = 0; i < 2; i++)
            row_write(&rows[i], row, got[i][0], got[i][1], got[i][2]);
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        assert_int_equal(row_targets(&rows[0], row), row_targets(&rows[1], row));
        assert_true(row_targets(&rows[0], row) > 0);
    }
    rows_free(&rows[0]);
    rows_free(&rows[1]);
}

static void shards_are_the_lines_of_the_same_ids(void **state) {
    (void)state;
    for (int version = 3; version <= 4; version++)
        for (int pairs = 0; pairs < 2; pairs++) {
            const char *lines = pairs ? pair_lines : sample_lines;
            const RtPairs *kind = pairs ? &as_pairs : NULL;
            Samples of_shard, of_lines;
            make_shard(version, pairs);
            assert_true(read_as(&of_shard, shard_read, bytes, size, kind));
            assert_true(read_as(&of_lines, lines_read, lines, strlen(lines), kind));
            assert_int_equal(of_shard.count, 4);
            compare_rows(&of_shard, &of_lines, false);
            compare_rows(&of_shard, &of_lines, true);
            samples_free(&of_shard);
            samples_free(&of_lines);
        }
}

/* Tokens are read when a row is filled, because a shard may be larger than memory. */
static void tokens_stay_in_the_file(void **state) {
    (void)state;
    DataError error = {message, sizeof message};
    int32_t ids[SEQ_LEN], labels[SEQ_LEN], positions[SEQ_LEN];
    Samples samples;
    Rows rows;
    make_shard(3, 0);
    assert_true(read_as(&samples, shard_read, bytes, size, NULL));
    assert_true(rows_of_samples(&rows, &samples, 0, samples.count, SEQ_LEN, false, 0, &error));
    put(1024 + 2 * 2, 2, 99); /* was 12 */
    row_write(&rows, 0, ids, labels, positions);
    assert_true(ids[0] == 10 && ids[2] == 99 && labels[0] == IGNORED && labels[1] == 99);
    rows_free(&rows);
    samples_free(&samples);
}

static void assert_refused(const RtPairs *pairs, const char *expected) {
    Samples samples;
    assert_false(read_as(&samples, shard_read, bytes, size, pairs));
    if (!strstr(message, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message);
    samples_free(&samples);
}

static void bad_shards_are_refused(void **state) {
    (void)state;
    static const struct {
        size_t at;
        int width;
        uint32_t value;
        const char *expected;
    } cases[] = {
        {0, 4, 1, "file: is no token shard: it does not begin with 20240520 (int32); write it"},
        {4, 4, 2, "of version 2; samples and pairs are in versions 3 (uint16) and 4 (uint32)"},
        {8, 4, 11, "promises 11 tokens in 4 samples (1064 bytes), but it has 1062 bytes"},
        {8, 4, UINT32_MAX, "promises 4294967295 tokens"},
        {12, 4, 5, "promises 10 tokens in 5 samples (1066 bytes), but it has 1062 bytes"},
        {16, 4, 2, "word 4 of its header (byte 16) is 2; samples are 0, pairs 1"},
        {16, 4, 1, "holds pairs, which only training.task = \"dpo\" reads"},
        {1020, 4, 7, "word 255 of its header (byte 1020) is 7, and must be 0"},
        {1024 + 2 * 3, 2, 256,
         "token 3 (byte 1030) is 256, outside the vocabulary; model.vocab_size is 256"},
        {1044, 4, 0, "sample 0 ends at token 0 (byte 1044), which must be 1 to 10"},
        {1048, 4, 3, "sample 1 ends at token 3 (byte 1048), which must be 4 to 10"},
        {1048, 4, 11, "sample 1 ends at token 11 (byte 1048), which must be 4 to 10"},
        {1056, 4, 9, "its last sample ends at token 9 of 10 (byte 1056)"},
        {1061, 1, 0x06, "bit 2 of its last byte is 1, but stands for no token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_shard(3, false);
        put(cases[i].at, cases[i].width, cases[i].value);
        assert_refused(NULL, cases[i].expected);
    }
    for (make_shard(3, false); size-- > 0;) /* truncated at any place */
        assert_refused(NULL, size < 1024 ? "is no token shard" : "(1062 bytes), but it has");
    make_shard(3, false);
    assert_refused(&as_pairs, "holds samples, and training.task = \"dpo\" needs pairs");
}

static void bad_pairs_are_refused(void **state) {
    (void)state;
    make_shard(3, true);
    put(1024 + 2 * 6, 2, 1);
    assert_refused(&as_pairs, "file: sample 2: its prompt is not that of sample 3");
    make_shard(3, true);
    put(1024 + 2 * 9, 2, 8);
    assert_refused(&as_pairs, "file: sample 2: chosen and rejected are the same");
    make_shard(3, true);
    put(1060, 1, 0x24); /* token 7 is not a target */
    assert_refused(&as_pairs, "file: sample 2: its prompt is not that of sample 3");
    put(1061, 1, 0); /* nor token 9 */
    assert_refused(&as_pairs, "file: sample 2: its prompt is not that of sample 3");
}

static RtInput ids = {"input_ids", RT_I32, SEQ_LEN, 0};

static RtProgram program_of(const char *const *paths, int count, int64_t max_target_tokens) {
    RtProgram program = {.inputs = &ids, .input_count = 1};
    program.data = (RtData){.format = RT_DATA_TOKENS,
                            .train = paths,
                            .train_count = count,
                            .max_target_tokens = max_target_tokens,
                            .eval_batches = 1,
                            .vocab_size = 256};
    program.training = (RtTraining){.batch = 1, .seq_len = SEQ_LEN, .micro_steps = 1};
    return program;
}

static bool opens(const char *const *paths, int count, int64_t max_target_tokens) {
    RtProgram program = program_of(paths, count, max_target_tokens);
    Loader *loader = loader_open(&program, 0, message, sizeof message);
    if (loader)
        loader_close(loader);
    return loader != NULL;
}

/* A shard that changes during a run: its size, or its contents. */
static void assert_a_change_is_told(const char *name, int64_t max_target_tokens) {
    const char *path = temp_file(name, bytes, size);
    RtProgram program = program_of(&path, 1, max_target_tokens);
    Loader *loader = loader_open(&program, 0, message, sizeof message);
    int32_t slot[SEQ_LEN];
    int64_t targets;
    LoaderBatch first = {LOADER_TRAIN, 0};
    assert_non_null(loader);
    assert_true(loader_fill(loader, first, slot, &targets, message, sizeof message));
    assert_int_equal(truncate(path, 1030), 0); /* within a page, where the map then has zeros */
    assert_false(loader_fill(loader, first, slot, &targets, message, sizeof message));
    assert_non_null(strstr(message, name));
    assert_non_null(strstr(message, "was changed while this run was reading it"));
    temp_file(name, bytes, size);
    assert_int_equal(utimensat(0, path, (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
    assert_false(loader_fill(loader, first, slot, &targets, message, sizeof message));
    assert_int_equal(remove(path), 0); /* a file that replaces it is a different one */
    temp_file(name, bytes, 1);
    assert_true(loader_fill(loader, first, slot, &targets, message, sizeof message));
    loader_close(loader);
}

static void a_file_that_changes_is_told(void **state) {
    (void)state;
    make_shard(3, false);
    assert_a_change_is_told("changed_samples.bin", 1);
    memset(bytes + 12, 0, 1012);
    put(4, 4, 1);
    size = 1024 + 20;
    assert_a_change_is_told("changed_stream.bin", 0);
}

static void a_split_is_of_one_kind(void **state) {
    (void)state;
    make_shard(3, false);
    const char *samples = temp_file("samples.bin", bytes, size);
    memset(bytes + 12, 0, 1012);
    put(4, 4, 1);
    const char *stream = temp_file("stream.bin", bytes, 1024 + 20);
    assert_true(opens(&samples, 1, 1)); /* a stream would need SEQ_LEN targets per row */
    assert_true(opens(&stream, 1, 0));
    assert_false(opens(&stream, 1, 1));
    assert_non_null(strstr(message, "leaves 1 target tokens for each of the 1 rows"));
    assert_false(opens((const char *[]){stream, samples}, 2, 0));
    assert_non_null(strstr(message, "samples.bin: token shard of version 3 has samples"));
    assert_false(opens((const char *[]){samples, stream}, 2, 0));
    assert_non_null(strstr(message, "stream.bin: is a token shard of version 1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_the_lines_of_the_same_ids),
        cmocka_unit_test(tokens_stay_in_the_file),
        cmocka_unit_test(bad_shards_are_refused),
        cmocka_unit_test(bad_pairs_are_refused),
        cmocka_unit_test(a_split_is_of_one_kind),
        cmocka_unit_test(a_file_that_changes_is_told),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
