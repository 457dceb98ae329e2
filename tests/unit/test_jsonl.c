/* JSON lines: every error message for bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "runtime/data/data.h"
#include "temp_folder.h"

/* Those of pairs if `pairs` is not NULL. */
static void assert_refused(const char *lines, const RtPairs *pairs, const char *expected) {
    enum { SEQ_LEN = 4, BATCH = 2 };
    char message[1024] = "";
    const char *path = temp_file("bad.jsonl", lines, strlen(lines));
    RtProgram program = {.data = {.format = RT_DATA_JSONL,
                                  .train = &path,
                                  .train_count = 1,
                                  .eval_batches = 8,
                                  .vocab_size = 256,
                                  .pairs = pairs},
                         .training = {.batch = BATCH, .seq_len = SEQ_LEN, .micro_steps = 1}};
    assert_null(loader_open(&program, 0, message, sizeof message));
    if (!strstr(message, expected))
        fail_msg("expected \"%s\" in \"%s\"", expected, message);
}

static void bad_lines_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *lines, *expected;
    } cases[] = {
        {"{\"text\":\"ok\"}\n{\"text\":\n", ":2: not JSON at column 8"},
        {"{\"text\":\"a\xff\"}\n", ":1: not JSON"},
        {"\n\n[1,2]\n", ":3: each line must be one object"},
        {"{}\n", ":1: a sample has either input_ids, or text, or prompt and completion, but this "
                 "line has no "
                 "members: write"},
        {"{\"text\":\"a\",\"input_ids\":[1]}\n",
         "but this line has text, input_ids: leave out all but one of them"},
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
        assert_refused(cases[i].lines, NULL, cases[i].expected);
    }
}

/* It is said what a line of another tool has, and what makes a sample of it. */
static void lines_of_other_tools_are_named(void **state) {
    (void)state;
    static const char template[] =
        "has messages: runtime/data/tokenize_jsonl.py applies the model's chat template and makes "
        "token shards (data.format = \"tokens\")";
    static const char turn[] = "[{\"role\":\"user\",\"content\":\"a\"}]";
    static const RtPairs pairs;
    char line[256], long_name[600];
    snprintf(line, sizeof line, "{\"id\":1,\"messages\":%s}\n", turn);
    assert_refused(line, NULL, template);
    assert_refused(line, &pairs, template);
    snprintf(line, sizeof line, "{\"prompt\":%s,\"completion\":%s}\n", turn, turn);
    assert_refused(line, NULL, template);
    snprintf(line, sizeof line, "{\"chosen\":%s,\"rejected\":%s}\n", turn, turn);
    assert_refused(line, &pairs, template);
    assert_refused("{\"instruction\":\"a\",\"input\":\"b\",\"output\":\"c\"}\n", NULL,
                   "but this line has instruction, input, output: write them as one of these");
    assert_refused("{\"instruction\":\"a\",\"input\":\"b\"}\n", &pairs,
                   "a pair has prompt, chosen and rejected, and this line has instruction, input");
    assert_refused("{\"a\\nb\":1}\n", NULL, "this line has a?b: write them as one of these");
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name, "{\"a\":1,\"", 8);
    memcpy(long_name + sizeof long_name - 6, "\":1}\n", 6);
    assert_refused(long_name, NULL, "this line has a, ...: write");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(lines_of_other_tools_are_named),
    };
    return cmocka_run_group_tests(tests, make_temp_folder, remove_temp_folder);
}
