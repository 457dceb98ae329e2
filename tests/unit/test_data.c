/* The loader: each format's rows, the conventions of a batch, determinism, and every sentence that
 * bad data is answered with. */
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

#include "runtime/data_rows.h"

static char folder[64];
static char message[1024];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/test_data_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* Writes a file into the test's folder; the path stays valid until the fourth next call. */
static const char *file_with(const char *name, const void *bytes, size_t size) {
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static const char *text_file(const char *name, const char *text) {
    return file_with(name, text, strlen(text));
}

static RtData data_of(RtDataFormat format, const char *const *path) {
    return (RtData){
        .format = format, .train = path, .train_count = 1, .eval_batches = 8, .vocab_size = 256};
}

static Loader *open_with(const RtData *data, int64_t batch, int64_t seq_len, int64_t micro_steps,
                         int64_t seed) {
    Loader *loader = loader_open(data, batch, seq_len, micro_steps, seed, message, sizeof message);
    if (!loader)
        print_error("%s\n", message);
    assert_non_null(loader);
    return loader;
}

static void assert_refused(const RtData *data, int64_t seq_len, const char *expected) {
    message[0] = '\0';
    assert_null(loader_open(data, 2, seq_len, 1, 0, message, sizeof message));
    if (!strstr(message, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message);
}

enum { MAX_PLACES = 64 };

typedef struct {
    int32_t ids[MAX_PLACES], labels[MAX_PLACES], positions[MAX_PLACES];
    RtHostBatch batch;
} Batch;

static RtHostBatch *batch_in(Batch *b) {
    memset(b->ids, 0x55, 3 * sizeof b->ids);
    b->batch = (RtHostBatch){b->ids, b->labels, b->positions, -1, -1, -1};
    return &b->batch;
}

static void assert_ints(const int32_t *got, const int32_t *expected, size_t count) {
    assert_memory_equal(got, expected, count * sizeof *got);
}
#define ASSERT_INTS(got, ...)                                                                      \
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
    loader_fill(loader, 0, batch_in(&b));
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    ASSERT_INTS(b.labels, 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
    ASSERT_INTS(b.positions, 0, 1, 2, 3, 0, 1, 2, 3);
    assert_int_equal(b.batch.targets, 8);
    assert_true(b.batch.loss_weight == 1.0 / 8);
    assert_int_equal(b.batch.first_row, 0);
    loader_close(loader);
}

static void text_joins_files_in_sorted_order(void **state) {
    (void)state;
    char sub[128];
    snprintf(sub, sizeof sub, "%s/many", folder);
    assert_int_equal(mkdir(sub, 0777), 0);
    text_file("many/b.txt", "BB");
    text_file("many/Z.txt", "z");
    text_file("many/.hidden", "hhhh");
    text_file("many/a.txt", "aa");
    char pattern[160];
    snprintf(pattern, sizeof pattern, "%s/*.txt", sub);
    const char *both[] = {sub, pattern}; /* "zaaBB" twice */
    RtData data = data_of(RT_DATA_TEXT, both);
    data.train_count = 2;
    Loader *loader = open_with(&data, 1, 9, 1, 0);
    Batch b;
    loader_fill(loader, 0, batch_in(&b));
    ASSERT_INTS(b.ids, 'z', 'a', 'a', 'B', 'B', 'z', 'a', 'a', 'B');
    assert_int_equal(b.labels[8], 'B');
    loader_close(loader);
}

static void held_out_text_is_the_end(void **state) {
    (void)state;
    char text[100];
    for (int i = 0; i < 100; i++)
        text[i] = (char)i;
    const char *path = file_with("numbers", text, sizeof text);
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.eval_fraction = 0.3;
    data.shuffle = true;
    Loader *loader = open_with(&data, 2, 4, 1, 7);
    assert_int_equal(loader_facts(loader)->train_rows, 17); /* (70 - 1) / 4 */
    assert_int_equal(loader_facts(loader)->eval_rows, 7);   /* (30 - 1) / 4 */
    assert_int_equal(loader_eval_batches(loader), 4);
    Batch b;
    for (int64_t i = 0; i < 40; i++) {
        loader_fill(loader, i, batch_in(&b));
        for (int k = 0; k < 8; k++)
            assert_true(b.labels[k] == b.ids[k] + 1 && b.labels[k] < 70);
    }
    loader_fill_eval(loader, 0, batch_in(&b));
    ASSERT_INTS(b.ids, 70, 71, 72, 73, 74, 75, 76, 77);
    assert_true(b.batch.loss_weight == 1.0);
    loader_fill_eval(loader, 3, batch_in(&b)); /* row 6, then padding */
    ASSERT_INTS(b.ids, 94, 95, 96, 97, 0, 0, 0, 0);
    ASSERT_INTS(b.labels, 95, 96, 97, 98, -100, -100, -100, -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 3, 0, 0, 0, 0);
    assert_int_equal(b.batch.targets, 4);
    loader_close(loader);
}

static void every_epoch_is_another_permutation(void **state) {
    (void)state;
    char text[4 * 11 + 1];
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = (char)(i / 4);
    const char *path = file_with("rows", text, sizeof text);
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.shuffle = true;
    Loader *loader = open_with(&data, 1, 4, 1, 3);
    int32_t orders[3][11];
    Batch b;
    for (int i = 0; i < 33; i++) {
        loader_fill(loader, i, batch_in(&b));
        orders[i / 11][i % 11] = b.ids[0];
    }
    for (int e = 0; e < 3; e++) {
        int seen = 0;
        for (int i = 0; i < 11; i++)
            seen |= 1 << orders[e][i];
        assert_int_equal(seen, (1 << 11) - 1);
    }
    assert_memory_not_equal(orders[0], orders[1], sizeof orders[0]);
    assert_memory_not_equal(orders[1], orders[2], sizeof orders[0]);
    loader_close(loader);
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

/* ---- JSON lines ------------------------------------------------------------------------------ */

static void a_sample_a_row(void **state) {
    (void)state;
    const char *path = text_file("s.jsonl", "{\"input_ids\":[5,6,7],\"labels\":[-100,-100,9]}\n"
                                            "\n"
                                            "{\"text\":\"xyzxyz\", \"id\":1}\r\n"
                                            "{\"prompt\":\"ab\",\"completion\":\"c\\u0000\"}");
    RtData data = data_of(RT_DATA_JSONL, &path);
    Loader *loader = open_with(&data, 3, 4, 1, 0);
    assert_int_equal(loader_facts(loader)->train_samples, 3);
    assert_int_equal(loader_facts(loader)->truncated, 1);
    Batch b;
    loader_fill(loader, 0, batch_in(&b));
    ASSERT_INTS(b.ids, 5, 6, 7, 0, 'x', 'y', 'z', 'x', 'a', 'b', 'c', 0);
    ASSERT_INTS(b.labels, -100, 9, -100, -100, 'y', 'z', 'x', -100, -100, 'c', 0, -100);
    ASSERT_INTS(b.positions, 0, 1, 2, 0, 0, 1, 2, 3, 0, 1, 2, 3);
    assert_int_equal(b.batch.targets, 1 + 3 + 2);
    assert_true(b.batch.loss_weight == 1.0 / 6);
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
    loader_fill(loader, 0, batch_in(&b));
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 'd', 'e', 0, 'f', 'g', 'h', 'i', 0, 0);
    ASSERT_INTS(b.labels, 'b', -100, 'd', 'e', -100, -100, 'g', 'h', -100, -100, -100, -100);
    ASSERT_INTS(b.positions, 0, 1, 0, 1, 2, 0, 0, 1, 2, 0, 0, 0);
    assert_int_equal(b.batch.targets, 5);
    loader_close(loader);
}

static void packing_keeps_the_target_limit(void **state) {
    (void)state;
    const char *path = text_file("p.jsonl", "{\"text\":\"abc\"}\n{\"text\":\"def\"}\n"
                                            "{\"prompt\":\"ghi\",\"completion\":\"j\"}\n");
    RtData data = data_of(RT_DATA_JSONL, &path);
    data.packing = true;
    data.max_target_tokens = 6; /* three a row of a batch of two */
    Loader *loader = open_with(&data, 2, 20, 1, 0);
    Batch b;
    loader_fill(loader, 0, batch_in(&b)); /* abc | def ghij */
    ASSERT_INTS(b.ids, 'a', 'b', 'c', 0);
    ASSERT_INTS(b.ids + 20, 'd', 'e', 'f', 'g', 'h', 'i', 'j', 0);
    assert_int_equal(b.batch.targets, 2 + 3);
    loader_close(loader);
    data.max_target_tokens = 2;
    assert_refused(&data, 20,
                   "p.jsonl:1: the sample has 2 target tokens, but "
                   "data.max_target_tokens leaves 1 a row");
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
        loader_fill(loader, i, batch_in(&b));
        assert_int_equal(b.batch.targets, targets[i]);
        assert_true(b.batch.loss_weight == weights[i]);
        assert_int_equal(b.batch.first_row, i % 3 * 4);
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
    loader_fill(loader, 0, batch_in(&b));
    assert_true(b.batch.loss_weight == 0.0);
    assert_int_equal(b.batch.targets, 0);
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
    return file_with(name, bytes, 1024 + (size_t)(count * width));
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
    loader_fill(loader, 0, batch_in(&b));
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
    loader_fill(one, 1000000, batch_in(&a));
    loader_fill(one, 1000000, batch_in(&b));
    assert_memory_equal(a.ids, b.ids, sizeof a.ids);
    loader_fill(two, 1000000, batch_in(&b));
    assert_memory_not_equal(a.ids, b.ids, sizeof a.ids);
    loader_fill_eval(one, 0, batch_in(&b));
    assert_memory_not_equal(a.ids, b.ids, sizeof a.ids);
    for (int i = 0; i < 16; i++)
        assert_true(a.ids[i] >= 0 && a.ids[i] < 50 && (i % 8 == 7 || a.labels[i] == a.ids[i + 1]));
    loader_close(one);
    loader_close(two);
}

/* ---- prefetching ----------------------------------------------------------------------------- */

static void prefetching_changes_nothing(void **state) {
    (void)state;
    char text[997];
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = (char)(i * 31);
    const char *path = file_with("t.txt", text, sizeof text);
    RtData plain = data_of(RT_DATA_TEXT, &path), ahead;
    plain.shuffle = true;
    ahead = plain;
    ahead.prefetch_batches = 3;
    Loader *one = open_with(&plain, 2, 8, 2, 5), *two = open_with(&ahead, 2, 8, 2, 5);
    assert_true(loader_facts(one)->fingerprint == loader_facts(two)->fingerprint);
    const int64_t order[] = {0, 1, 2, 3, 4, 90, 91, 92, 5, 6, 5, 5, 7, 0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        Batch a, b;
        loader_fill(one, order[i], batch_in(&a));
        loader_fill(two, order[i], batch_in(&b));
        assert_memory_equal(a.ids, b.ids, 3 * sizeof a.ids);
        assert_true(a.batch.loss_weight == b.batch.loss_weight);
        assert_int_equal(a.batch.first_row, b.batch.first_row);
        assert_int_equal(a.batch.targets, b.batch.targets);
    }
    loader_close(one);
    loader_close(two);
}

/* Its first batch is still being filled when another one is asked for. */
static void fill_slowly(const Loader *loader, int64_t micro_index, RtHostBatch *out) {
    (void)loader;
    if (micro_index == 0)
        usleep(20000);
    out->input_ids[0] = (int32_t)micro_index;
}

static void a_jump_drops_the_batch_being_filled(void **state) {
    (void)state;
    Prefetch *prefetch = prefetch_open(fill_slowly, NULL, 2, 1);
    usleep(5000); /* the thread has begun batch 0, unless the machine is busy */
    for (int64_t i = 51; i < 54; i++) {
        Batch b;
        prefetch_take(prefetch, i, batch_in(&b));
        assert_int_equal(b.ids[0], i);
    }
    prefetch_close(prefetch);
}

static void the_fingerprint_tells_other_data(void **state) {
    (void)state;
    uint64_t prints[2];
    for (int i = 0; i < 2; i++) {
        const char *path = text_file("f.txt", i ? "abcdefgh_" : "abcdefghi");
        RtData data = data_of(RT_DATA_TEXT, &path);
        Loader *loader = open_with(&data, 1, 4, 1, 0);
        prints[i] = loader_facts(loader)->fingerprint;
        loader_close(loader);
    }
    assert_true(prints[0] != prints[1]);
}

/* ---- bad data -------------------------------------------------------------------------------- */

static void bad_files_are_refused(void **state) {
    (void)state;
    const char *path = "/nonexistent/data.txt";
    RtData data = data_of(RT_DATA_TEXT, &path);
    assert_refused(&data, 4, "/nonexistent/data.txt: no such file");
    path = text_file("empty", "");
    assert_refused(&data, 4, "empty: is empty");
    path = text_file("short", "abc");
    assert_refused(&data, 4,
                   "short: 3 tokens are left for this split, too few for one row of "
                   "training.seq_len = 4");
    path = text_file("enough", "abcdef");
    data.vocab_size = 255;
    assert_refused(&data, 4, "text is read as bytes, which needs model.vocab_size = 256");
    data.vocab_size = 256;
    data.max_target_tokens = 7;
    assert_refused(&data, 4, "data.max_target_tokens = 7 leaves 3 target tokens");
}

static void unreadable_files_are_refused(void **state) {
    (void)state;
    const char *path = text_file("locked.txt", "abcdef");
    if (geteuid() == 0) { /* root may read anything: a folder stands in as what cannot be read */
        char inside[128];
        snprintf(inside, sizeof inside, "%s/empty_folder", folder);
        assert_int_equal(mkdir(inside, 0777), 0);
        path = inside;
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
    path = shard("bad.bin", 3, tokens, 6, 6);
    assert_refused(&data, 4, "token shard of version 3");
    path = text_file("bad.bin", "hello");
    assert_refused(&data, 4, "is no token shard");
    path = text_file("bad.bin", "");
    assert_refused(&data, 4, "is empty");
}

static void bad_lines_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *lines, *expected;
    } cases[] = {
        {"{\"text\":\"ok\"}\n{\"text\":\n", ":2: not JSON at column 8"},
        {"{\"text\":\"a\xff\"}\n", ":1: not JSON"},
        {"\n\n[1,2]\n", ":3: each line must be one object"},
        {"{}\n", ":1: a sample has either input_ids, or text, or prompt and completion"},
        {"{\"text\":\"a\",\"input_ids\":[1]}\n", ":1: a sample has either"},
        {"{\"prompt\":\"a\"}\n", ":1: prompt and completion must both be there"},
        {"{\"text\":5}\n", ":1: text must be a string"},
        {"{\"text\":\"\"}\n", ":1: the sample has no tokens"},
        {"{\"input_ids\":5}\n", "must be arrays of integers"},
        {"{\"input_ids\":[]}\n", "the sample has no tokens"},
        {"{\"input_ids\":[1,2.5]}\n", "input_ids[1] is not an integer"},
        {"{\"input_ids\":[1,256]}\n",
         "input_ids[1] is 256, outside the vocabulary; model.vocab_size is 256"},
        {"{\"input_ids\":[1,-100]}\n", "input_ids[1] is -100, outside"},
        {"{\"input_ids\":[1,2],\"labels\":[1]}\n", "labels has 1 elements, input_ids has 2"},
        {"{\"input_ids\":[1,2],\"labels\":[1,-1]}\n", "labels[1] is -1, outside"},
        {"{\"input_ids\":[1,2],\"labels\":[1,-100]}\n", "no sample has a target token"},
        {" \n", "is empty; a run needs samples"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = text_file("bad.jsonl", cases[i].lines);
        RtData data = data_of(RT_DATA_JSONL, &path);
        assert_refused(&data, 4, cases[i].expected);
    }
}

static void a_validation_file_must_hold_a_row(void **state) {
    (void)state;
    const char *path = text_file("train.txt", "abcdefgh"), *other = text_file("valid.txt", "ab");
    RtData data = data_of(RT_DATA_TEXT, &path);
    data.validation = &other;
    data.validation_count = 1;
    assert_refused(&data, 4, "valid.txt: 2 tokens are left for this split");
    other = text_file("valid.txt", "12345");
    Loader *loader = open_with(&data, 2, 4, 1, 0);
    assert_int_equal(loader_facts(loader)->train_rows, 1);
    assert_int_equal(loader_eval_batches(loader), 1);
    loader_close(loader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_windows_of_bytes),
        cmocka_unit_test(text_joins_files_in_sorted_order),
        cmocka_unit_test(held_out_text_is_the_end),
        cmocka_unit_test(every_epoch_is_another_permutation),
        cmocka_unit_test(a_permutation_is_one_for_any_size),
        cmocka_unit_test(a_sample_a_row),
        cmocka_unit_test(packing_starts_a_row_when_a_sample_does_not_fit),
        cmocka_unit_test(packing_keeps_the_target_limit),
        cmocka_unit_test(micro_steps_share_the_steps_targets),
        cmocka_unit_test(a_step_without_targets_weighs_nothing),
        cmocka_unit_test(shards_are_one_stream),
        cmocka_unit_test(random_tokens_follow_the_seed),
        cmocka_unit_test(prefetching_changes_nothing),
        cmocka_unit_test(a_jump_drops_the_batch_being_filled),
        cmocka_unit_test(the_fingerprint_tells_other_data),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(unreadable_files_are_refused),
        cmocka_unit_test(bad_shards_are_refused),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(a_validation_file_must_hold_a_row),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
