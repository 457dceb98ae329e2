/* Whole models in fp64: loss and gradients do not depend on the rewrites, and gradients match
 * finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpret.h"
#include "tests/unit/spec_plan.h"

enum { BATCH = 2, SEQ = 12, TOKENS = BATCH * SEQ, MOST_SETS = 10 };

/* Bounds for sums of the same numbers in another order, and for differences, as a share of the
 * tensor's largest element. */
static const double SAME = 1e-11, DIFFERENCE = 1e-6;

static const char model[] = "[model]\n"
                            "vocab_size = 24\n"
                            "hidden_size = 16\n"
                            "intermediate_size = 24\n"
                            "num_hidden_layers = 2\n"
                            "num_attention_heads = 4\n"
                            "num_key_value_heads = 2\n"
                            "head_dim = 8\n"
                            "max_position_embeddings = 12\n"
                            "[training]\n"
                            "seq_len = 12\n"
                            "per_device_train_batch_size = 2\n"
                            "steps = 4\n"
                            "[precision]\n"
                            "dtype = \"fp64\"\n"
                            "[data]\n"
                            "format = \"jsonl\"\n"
                            "train = [\"none.jsonl\"]\n";

/* ---- one experiment -------------------------------------------------------------------------- */

typedef struct {
    Arena arena;
    Program *program;
    const Plan *plan;
    Memory memory;
    double loss;
} Run;

static char spec_path[] = "/tmp/test_ops_model_XXXXXX";

static int write_spec(void **state) {
    (void)state;
    int file = mkstemp(spec_path);
    bool written = file >= 0 && write(file, model, sizeof model - 1) == (ssize_t)sizeof model - 1;
    return written && close(file) == 0 ? 0 : -1;
}

static int remove_spec(void **state) {
    (void)state;
    return unlink(spec_path);
}

/* Two samples in the first row, one in the second; every other token has no target. */
static int position(int row) { return row < 7 ? row : row < SEQ ? row - 7 : row - SEQ; }

/* A row's parts if prompts are shared: a pair's prompt, chosen and rejected completion, in lower
 * case those of a second pair; and padding. NULL: prompts are not shared. */
static const char *parts;
static const char *const one_pair = "PPPPCCCCCRR.", *const two_pairs = "PPCCRRpccrr.";

static int label(int row) {
    int place = row % SEQ;
    bool no_target = parts && (strchr("Pp.", parts[place]) || parts[place] != parts[place + 1]);
    return (parts ? no_target : row % 2 == 0 && row != 4) ? -100 : (5 * row + 3) % 24;
}

/* `element` is a place, or one of the two numbers of a place's prefix. */
static int shared_input(const char *name, int element) {
    bool prefix = !strcmp(name, "prefix");
    int row = prefix ? element / 2 : element, place = row % SEQ;
    bool second = strchr("pcr", parts[place]), prompt = strchr("Pp.", parts[place]);
    int from = (int)(strchr(parts, second ? 'p' : 'P') - parts), begin = from, shared = 0;
    while (parts[from + shared] == parts[from])
        shared++;
    if (prefix)
        return prompt ? 0 : from + element % 2 * shared;
    if (!strcmp(name, "sequence"))
        return parts[place] == '.'
                   ? -1
                   : 2 * ((parts == two_pairs ? 2 : 1) * (row / SEQ) + second) +
                         (strchr("Rr", parts[place]) != NULL);
    while (parts[begin] != parts[place])
        begin++;
    return place - begin + (prompt || strcmp(name, "positions") ? 0 : shared);
}

static double input(const char *name, int row) {
    static int rows[TOKENS], places[TOKENS];
    int count = 0;
    for (int i = 0; i < TOKENS; i++) {
        places[i] = label(i) < 0 ? -1 : count;
        if (places[i] >= 0)
            rows[count++] = i;
    }
    if (!strcmp(name, "input_ids"))
        return (7 * row + row / 3) % 24;
    if (parts && (strstr(name, "positions") || strstr("prefix sequence", name)))
        return shared_input(name, row);
    if (!strcmp(name, "positions"))
        return position(row);
    if (!strcmp(name, "labels"))
        return label(row);
    if (!strcmp(name, "loss_weight"))
        return 1.0 / count;
    if (!strcmp(name, "target_rows"))
        return row < count ? rows[row] : -1;
    if (!strcmp(name, "target_places"))
        return places[row];
    if (!strcmp(name, "sequence")) /* places without a target may belong to no sequence */
        return row % SEQ == 3 ? -1 : 2 * (row % SEQ / 7) + row / SEQ;
    assert_string_equal(name, "first_row");
    return 0;
}

static void fill_inputs(Run *r) {
    for (int i = 0; i < r->program->value_count; i++) {
        const Value *v = r->program->values[i];
        if (v->role == ROLE_INPUT && value_fills(v))
            for (int64_t row = 0; row < value_elements(v); row++)
                memory_set(&r->memory, v, row, input(v->storage->name, (int)row));
    }
    memory_set(&r->memory, r->program->counters.seed, 0, 7);
}

static int count_sets(const char *const *sets) {
    int count = 0;
    while (sets[count])
        count++;
    return count;
}

/* Without an adapter nothing is bordered, and the key is refused. */
static bool has_effect(const char *set, const char *const *technique) {
    bool adapted = false;
    for (int i = 0; technique[i]; i++)
        adapted = adapted || !strncmp(technique[i], "adapter.", strlen("adapter."));
    return adapted || strncmp(set, "compile.bordered", strlen("compile.bordered"));
}

/* Runs a step of the spec with `technique` and then `rewrites` set. */
static Run run(const char *const *technique, const char *const *rewrites) {
    const char *sets[2 * MOST_SETS];
    int count = count_sets(technique);
    memcpy(sets, technique, (size_t)count * sizeof *sets);
    for (int i = 0; i < count_sets(rewrites); i++)
        if (has_effect(rewrites[i], technique))
            sets[count++] = rewrites[i];
    Run r = {0};
    Arena *arena = calloc(1, sizeof *arena);
    const Spec *spec = spec_read(arena, spec_path, sets, count);
    r.program = program_of_spec(arena, spec);
    r.plan = interpret_plan(r.program, spec);
    r.memory = memory_new(r.program);
    interpret_fill(&r.memory, r.program, 0.3, 11);
    fill_inputs(&r);
    r.loss = interpret_step(&r.memory, r.plan);
    return r;
}

static void run_free(Run *r) {
    Arena *arena = r->program->arena;
    memory_free(&r->memory);
    arena_free(arena);
    free(arena);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const Param *same_param(const Program *p, const char *file_name) {
    for (int i = 0; i < p->param_count; i++)
        if (!strcmp(p->params[i].file_name, file_name))
            return &p->params[i];
    fail_msg("no parameter %s", file_name);
    return NULL;
}

static void compare_gradient(const Run *a, const Run *b, const Param *p, const char *what) {
    const Param *q = same_param(b->program, p->file_name);
    double square = 0, apart = 0;
    for (int64_t i = 0; i < value_elements(p->weight); i++) {
        double x = memory_get(&a->memory, p->gradient, i);
        double y = memory_get(&b->memory, q->gradient, i);
        square += x * x;
        apart += (x - y) * (x - y);
    }
    assert_true(square > 0);
    if (!(sqrt(apart) <= SAME * sqrt(square)))
        fail_msg("%s: gradient of %s differs by %g of its norm", what, p->file_name,
                 sqrt(apart / square));
}

static void compare_runs(const Run *a, const Run *b, const char *what) {
    if (!(fabs(a->loss - b->loss) <= SAME * a->loss))
        fail_msg("%s: loss %.17g, else %.17g", what, b->loss, a->loss);
    for (int i = 0; i < a->program->param_count; i++)
        if (value_trains(a->program->params[i].weight))
            compare_gradient(a, b, &a->program->params[i], what);
}

#define OFF "compile.fusion=false", "compile.bordered=false", "compile.joined_linears=false", "compile.joined_launches=false", "compile.chunked_head=false", "compile.narrow_linears=false"

static const char *const plain[] = {OFF, "activation_checkpoint.mode=\"none\"", NULL};

static const struct {
    const char *name, *sets[MOST_SETS];
} rewrites[] = {
    {"fusion", {"compile.bordered=false", "compile.chunked_head=false"}},
    {"bordered", {"compile.fusion=false", "compile.chunked_head=false"}},
    {"joined", {"compile.fusion=false", "compile.bordered=false", "compile.chunked_head=false"}},
    {"narrow", {"compile.bordered=false", "compile.chunked_head=false", "compile.narrow_linears=true"}},
    {"chunks", {"compile.fusion=false", "compile.bordered=false", "compile.head_chunk_tokens=5"}},
    {"chosen rows", {OFF, "data.max_target_tokens=15"}},
    {"chosen rows in chunks",
     {"compile.bordered=false", "data.max_target_tokens=15", "compile.head_chunk_tokens=4"}},
    {"recomputation", {OFF, "activation_checkpoint.mode=\"full\""}},
    {"everything",
     {"data.max_target_tokens=14", "compile.head_chunk_tokens=6",
      "activation_checkpoint.mode=\"full\""}},
};
enum { REWRITES = sizeof rewrites / sizeof *rewrites };

static void compare_rewrites(const char *const *technique) {
    Run a = run(technique, plain);
    for (int i = 0; i < REWRITES; i++) {
        Run b = run(technique, rewrites[i].sets);
        compare_runs(&a, &b, rewrites[i].name);
        run_free(&b);
    }
    run_free(&a);
}

static void compare_difference(Run *r, const Param *p, double g, double largest, int64_t element) {
    double d = interpret_difference(&r->memory, r->plan, p->weight, element);
    if (!(fabs(d - g) <= DIFFERENCE * largest))
        fail_msg("%s[%lld]: gradient %.12g, difference %.12g", p->file_name, (long long)element, g,
                 d);
}

/* Checks a gradient's largest element and one in the middle. Computing differences changes
 * gradients. */
static void compare_param(Run *r, const Param *p) {
    int64_t n = value_elements(p->weight), most = 0;
    interpret_step(&r->memory, r->plan);
    for (int64_t i = 0; i < n; i++)
        if (fabs(memory_get(&r->memory, p->gradient, i)) >
            fabs(memory_get(&r->memory, p->gradient, most)))
            most = i;
    double largest = memory_get(&r->memory, p->gradient, most);
    double middle = memory_get(&r->memory, p->gradient, n / 2);
    assert_true(fabs(largest) > 1e-5);
    compare_difference(r, p, largest, fabs(largest), most);
    compare_difference(r, p, middle, fabs(largest), n / 2);
}

static void compare_differences(const char *const *technique, const char *const *sets) {
    Run r = run(technique, sets);
    int compared = 0;
    for (int i = 0; i < r.program->param_count; i++)
        if (value_trains(r.program->params[i].weight)) {
            compare_param(&r, &r.program->params[i]);
            compared++;
        }
    assert_true(compared > 10);
    run_free(&r);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const char *const lora[] = {"training.task=\"sft\"", "adapter.type=\"lora\"", "adapter.r=3",
                                   NULL};
/* A matrices that fill whole rows of the trained run: their gradients are one product. */
static const char *const neighbours[] = {"training.task=\"sft\"", "adapter.type=\"lora\"", "adapter.r=64",
                                         "training.gradient_accumulation_steps=2", NULL};
static const char *const dropout[] = {"training.task=\"sft\"", "adapter.type=\"lora\"",
                                      "adapter.r=8", "adapter.lora_dropout=0.25", NULL};
/* A batch is a pair. */
static const char *const pairs[] = {"training.task=\"dpo\"", "adapter.type=\"lora\"", "adapter.r=3",
                                    "training.per_device_train_batch_size=1", NULL};
static const char *const packed[] = {"training.task=\"dpo\"",
                                     "adapter.type=\"lora\"",
                                     "adapter.r=3",
                                     "training.per_device_train_batch_size=1",
                                     "data.packing=true",
                                     "dpo.max_packed_pairs=2",
                                     NULL};
static const char *const shared[] = {"training.task=\"dpo\"", "adapter.type=\"lora\"", "adapter.r=3",
                                     "dpo.shared_prompt=true", NULL};
static const char *const packed_prompts[] = {
    "training.task=\"dpo\"", "adapter.type=\"lora\"", "adapter.r=3", "dpo.shared_prompt=true",
    "data.packing=true",     "dpo.max_packed_pairs=2", NULL};
static const char *const pretrain[] = {"training.task=\"pretrain\"", NULL};
static const char *const tied[] = {"training.task=\"pretrain\"", "model.tie_word_embeddings=true",
                                   NULL};

static void test_lora_rewrites(void **state) { (void)state, compare_rewrites(lora); }
static void test_neighbours_rewrites(void **state) { (void)state, compare_rewrites(neighbours); }
static void test_dropout_rewrites(void **state) { (void)state, compare_rewrites(dropout); }
static void test_pretrain_rewrites(void **state) { (void)state, compare_rewrites(pretrain); }
static void test_tied_rewrites(void **state) { (void)state, compare_rewrites(tied); }

static void test_pairs_rewrites(void **state) { (void)state, compare_rewrites(pairs); }

static void test_lora_differences(void **state) { (void)state, compare_differences(lora, plain); }
static void test_dropout_differences(void **state) {
    (void)state, compare_differences(dropout, rewrites[REWRITES - 1].sets);
}
static void test_pretrain_differences(void **state) {
    (void)state, compare_differences(pretrain, rewrites[REWRITES - 1].sets);
}
static void test_tied_differences(void **state) { (void)state, compare_differences(tied, plain); }

static void test_pairs_differences(void **state) {
    (void)state, compare_differences(pairs, rewrites[REWRITES - 1].sets);
}
static void test_packed_pairs_differences(void **state) {
    (void)state, compare_differences(packed, rewrites[REWRITES - 1].sets);
}

static void test_shared_prompt_rewrites(void **state) {
    (void)state;
    parts = one_pair;
    compare_rewrites(shared);
    parts = NULL;
}
static void test_shared_prompt_differences(void **state) {
    (void)state;
    parts = one_pair;
    compare_differences(shared, rewrites[REWRITES - 1].sets);
    parts = NULL;
}
static void test_packed_prompts_differences(void **state) {
    (void)state;
    parts = two_pairs;
    compare_differences(packed_prompts, rewrites[REWRITES - 1].sets);
    parts = NULL;
}

/* The reference equals the model with a low-rank path of zeros, whatever the path has learned. */
static void test_reference_has_no_adapter(void **state) {
    (void)state;
    Run r = run(pairs, rewrites[REWRITES - 1].sets);
    double undecided = log(2) * input("loss_weight", 0);
    assert_true(fabs(r.loss - undecided) > 1e-6);
    for (int i = 0; i < r.program->param_count; i++) {
        const Param *p = &r.program->params[i];
        for (int64_t k = 0; strstr(p->file_name, "lora_B") && k < value_elements(p->weight); k++)
            memory_set(&r.memory, p->weight, k, 0);
    }
    r.loss = interpret_step(&r.memory, r.plan);
    assert_true(fabs(r.loss - undecided) < 1e-12);
    run_free(&r);
}

static const char *const magnitudes[] = {"training.task=\"sft\"", "adapter.type=\"lora\"",
                                         "adapter.r=3", "adapter.use_dora=true", NULL};
static const char *const rounded_magnitudes[] = {
    "training.task=\"sft\"",     "adapter.type=\"lora\"",       "adapter.r=3",
    "adapter.use_dora=true",     "qat.weight_dtype=\"int4\"",   "qat.group_size=8",
    NULL};

static void test_rounded_magnitudes_rewrites(void **state) {
    (void)state, compare_rewrites(rounded_magnitudes);
}

/* Magnitudes and norms of a rounded base equal those of a base with the rounded values. */
static void test_magnitudes_of_rounded_weights(void **state) {
    (void)state;
    Run a = run(rounded_magnitudes, plain), b = run(magnitudes, plain);
    assert_true(fabs(a.loss - b.loss) > 1e-4);
    for (int i = 0; i < a.program->param_count; i++) {
        const Value *from = a.program->params[i].weight;
        const Value *to = same_param(b.program, a.program->params[i].file_name)->weight;
        for (int64_t k = 0; from->role == ROLE_FROZEN && k < value_elements(from); k++)
            memory_set(&b.memory, to, k, memory_get(&a.memory, from, k));
    }
    b.loss = interpret_step(&b.memory, b.plan);
    compare_runs(&a, &b, "a base that is what it was rounded to");
    run_free(&a);
    run_free(&b);
}

/* Dropout has an effect: the loss changes, but not by much. */
static void test_dropout_drops(void **state) {
    (void)state;
    static const char *const kept[] = {"training.task=\"sft\"", "adapter.type=\"lora\"",
                                       "adapter.r=8", NULL};
    Run a = run(kept, plain), b = run(dropout, plain);
    assert_true(fabs(a.loss - b.loss) > 1e-4 && fabs(a.loss - b.loss) < 0.5 * a.loss);
    run_free(&a);
    run_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropout_drops),
        cmocka_unit_test(test_rounded_magnitudes_rewrites),
        cmocka_unit_test(test_magnitudes_of_rounded_weights),
        cmocka_unit_test(test_lora_rewrites),
        cmocka_unit_test(test_neighbours_rewrites),
        cmocka_unit_test(test_dropout_rewrites),
        cmocka_unit_test(test_pretrain_rewrites),
        cmocka_unit_test(test_tied_rewrites),
        cmocka_unit_test(test_lora_differences),
        cmocka_unit_test(test_dropout_differences),
        cmocka_unit_test(test_pretrain_differences),
        cmocka_unit_test(test_tied_differences),
        cmocka_unit_test(test_pairs_rewrites),
        cmocka_unit_test(test_packed_pairs_differences),
        cmocka_unit_test(test_pairs_differences),
        cmocka_unit_test(test_shared_prompt_rewrites),
        cmocka_unit_test(test_shared_prompt_differences),
        cmocka_unit_test(test_packed_prompts_differences),
        cmocka_unit_test(test_reference_has_no_adapter),
    };
    return cmocka_run_group_tests(tests, write_spec, remove_spec);
}
