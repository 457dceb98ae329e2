/* The spec layer: the key table, resolving, positions and origins, weights, printing, and parts of
 * gen/base that no other test covers. Messages have golden files in tests/error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/fileio.h"
#include "base/nearest.h"
#include "model/model.h"
#include "spec/key_info.h"
#include "spec/resnet_depths.h"
#include "spec/resolve.h"
#include "tests/unit/spec_files.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- gen/base ---- */

static void test_sha256(void **state) {
    (void)state;
    char hex[SHA256_HEX_SIZE];
    sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_real_text(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},  {10000, "10000.0"}, {1e-5, "1e-05"},
                 {0, "0.0"},    {1e300, "1e+300"},  {1.0 / 3, "0.3333333333333333"},
                 {-2.5, "-2.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        StrBuf sb = {0};
        sb_put_real(&sb, cases[i].value);
        assert_string_equal(sb.text, cases[i].text);
        sb_free(&sb);
    }
}

static void test_real_reads_back(void **state) {
    (void)state;
    static const double hard[] = {DBL_MIN,
                                  DBL_MAX,
                                  4.9e-324,
                                  999999.9999999999,
                                  0.1 + 0.2,
                                  9007199254740993.0,
                                  123456789012345.67,
                                  1e15,
                                  0.0001};
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        double value = i < 9 ? hard[i] : 0;
        if (i >= 9) {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            memcpy(&value, &bits, sizeof value);
        }
        if (!isfinite(value))
            continue;
        StrBuf sb = {0};
        sb_put_real(&sb, value);
        assert_true(strtod(sb.text, NULL) == value);
        sb_free(&sb);
    }
}

/* Who reads a file while it is written again sees the old one. */
static void test_file_write_replaces(void **state) {
    (void)state;
    struct stat before, after;
    assert_null(make_folder("a/b/c"));
    assert_null(file_write("a/b/c/f", "one", 3));
    assert_int_equal(stat("a/b/c/f", &before), 0);
    assert_null(file_write("a/b/c/f", "two", 3));
    assert_int_equal(stat("a/b/c/f", &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(file_compare("a/b/c/f", "two", 3), FILE_SAME);
    assert_non_null(file_write("a/nowhere/f", "x", 1));
    assert_non_null(make_folder("a/b/c/f/d"));
}

static void test_file_compare(void **state) {
    (void)state;
    enum { SIZE = 40000 }; /* more than is read at once */
    char *bytes = arena_alloc(&arena, SIZE + 1);
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 7);
    assert_null(file_write("large", bytes, SIZE));
    assert_int_equal(file_compare("large", bytes, SIZE), FILE_SAME);
    assert_int_equal(file_compare("large", bytes, SIZE - 1), FILE_OTHER);
    assert_int_equal(file_compare("large", bytes, SIZE + 1), FILE_OTHER);
    bytes[SIZE - 1]++;
    assert_int_equal(file_compare("large", bytes, SIZE), FILE_OTHER);
    assert_int_equal(file_compare(".", bytes, 0), FILE_OTHER);
    assert_int_equal(file_compare("missing", bytes, 0), FILE_MISSING);
}

/* The last block grows in place; one with a successor moves, and the successor is unchanged. */
static void test_arena_grow(void **state) {
    (void)state;
    int *numbers = NULL, *first = NULL, capacity = 0;
    char *neighbour = NULL;
    for (int i = 0; i < 1000; i++) {
        numbers = arena_grow(&arena, numbers, i, &capacity, sizeof *numbers);
        for (int k = i; k < capacity; k++)
            assert_int_equal(numbers[k], 0);
        numbers[i] = i;
        first = i == 0 ? numbers : first;
        if (i < 500)
            assert_ptr_equal(numbers, first);
        if (i == 500)
            neighbour = arena_strdup(&arena, "neighbour");
    }
    assert_ptr_not_equal(numbers, first);
    assert_string_equal(neighbour, "neighbour");
    for (int i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
}

static void test_file_read_limits(void **state) {
    (void)state;
    char *text;
    size_t size;
    write_text("five", "12345");
    assert_null(file_read(&arena, "five", 5, &text, &size));
    assert_string_equal(text, "12345");
    assert_non_null(file_read(&arena, "five", 4, &text, &size));
    assert_string_equal(file_read(&arena, ".", 4, &text, &size), "it is a folder");
    assert_non_null(file_read(&arena, "missing", 4, &text, &size));
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const names[] = {"seq_len", "steps", "seed"};
    assert_string_equal(nearest_name("seqlen", names, 3), "seq_len");
    assert_string_equal(nearest_name("step", names, 3), "steps");
    assert_null(nearest_name("gradient", names, 3));
    static const char *const longer[] = {"num_classes", "num_layers_kept_in_all", "num_hidden_layers"};
    assert_string_equal(nearest_name("num_layers", longer, 3), "num_hidden_layers");
    assert_string_equal(nearest_name("num_clases", longer, 3), "num_classes");
    assert_string_equal(nearest_name("num", longer, 3), "num_classes");
    assert_string_equal(nearest_name("all", longer, 3), "num_layers_kept_in_all");
    assert_null(nearest_name("layer_hidden_", longer, 3));
    assert_null(nearest_name("_", longer, 3));
    assert_null(nearest_name("", longer, 3));
}

/* ---- lists of numbers ---- */

static void test_reals(void **state) {
    (void)state;
    Spec spec = {0}, copy = {0};
    Pos pos = {"--set", 1, 1};
    Origin origin = {.kind = ORIGIN_SET, .pos = pos};
    Key key = KEY_data_image_mean;
    key_assign(&arena, &spec, key, key_parse(&arena, key, "[0.485, 1]", pos), origin);
    assert_int_equal(spec.data.image_mean.count, 2);
    assert_true(spec.data.image_mean.items[0] == 0.485 && spec.data.image_mean.items[1] == 1);
    key_copy(&copy, &spec, key);
    assert_true(key_same(&copy, &spec, key));
    key_assign(&arena, &copy, key, key_parse(&arena, key, "0.5", pos), origin);
    assert_int_equal(copy.data.image_mean.count, 1);
    assert_false(key_same(&copy, &spec, key));
}

static void test_real_or_auto(void **state) {
    (void)state;
    const char *const words[] = {"auto", "\"auto\"", "25", "0.5"};
    const char *const printed[] = {"\"auto\"", "\"auto\"", "25.0", "0.5"};
    Spec spec = {0};
    Pos pos = {"--set", 1, 1};
    Key key = KEY_parallelism_bucket_size_mb;
    for (int i = 0; i < 4; i++) {
        StrBuf text = {0};
        key_assign(&arena, &spec, key, key_parse(&arena, key, words[i], pos),
                   (Origin){.kind = ORIGIN_SET, .pos = pos});
        key_print(&spec, key, &text);
        assert_string_equal(text.text, printed[i]);
        assert_true((spec.parallelism.bucket_size_mb > 0) == (i > 1));
        sb_free(&text);
    }
}

/* ---- the key table ---- */

static void test_keys_are_sound(void **state) {
    (void)state;
    for (int key = 0; key < KEY_COUNT; key++) {
        const KeyInfo *info = &key_info[key];
        size_t length = strlen(info->help);
        assert_true(length > 0 && info->help[length - 1] == '.');
        bool numbers = info->kind == KIND_INT || info->kind == KIND_REAL ||
                       info->kind == KIND_REAL_OR_AUTO || info->kind == KIND_REALS;
        assert_true(numbers == (info->range[0] != 0));
        assert_int_equal(key_find(info->table, info->leaf), key);
        assert_int_equal(key_lookup(&arena, info->name, (Pos){0}), key);
    }
}

static void test_defaults(void **state) {
    (void)state;
    write_spec("plain.toml", "", "", "");
    const Spec *spec = read_plain("plain.toml");
    assert_string_equal(spec->name, "plain");
    assert_string_equal(spec->job.device, "h100-sxm");
    assert_int_equal(spec->model.hidden_size, 64);
    assert_int_equal(spec->model.num_key_value_heads, 4);
    assert_int_equal(spec->model.head_dim, 16);
    assert_true(spec->model.rms_norm_eps == 1e-5);
    assert_int_equal(spec->precision.dtype, PRECISION_FP32);
    assert_int_equal(spec->adapter.type, ADAPTER_NONE);
    assert_int_equal(spec->adapter.target_modules.count, 1);
    assert_string_equal(spec->adapter.target_modules.items[0], "all-linear");
    assert_string_equal(spec->init_dir, "");
    assert_true(spec->compile.fusion);
    assert_false(spec_given(spec, KEY_adapter_r));
    assert_true(spec_given(spec, KEY_model_hidden_size));
    assert_int_equal(spec_pos(spec, KEY_model_hidden_size).line, 3);
    assert_int_equal(spec_pos(spec, KEY_model_hidden_size).col, 15);
    assert_int_equal(spec_pos(spec, KEY_adapter_r).line, 0);
}

/* ---- layers ---- */

static void test_sets_win(void **state) {
    (void)state;
    write_spec("plain.toml", "", "", "");
    const char *sets[] = {"training.steps=20", " precision.dtype = bf16 ",  "optimizer.lr=3e-4",
                          "data.format=text",  "data.train=[\"a\", \"b\"]", "compile.fusion=false"};
    const Spec *spec = spec_read(&arena, "plain.toml", sets, 6);
    assert_int_equal(spec->training.steps, 20);
    assert_int_equal(spec->precision.dtype, PRECISION_BF16);
    assert_true(spec->optimizer.lr == 3e-4);
    assert_int_equal(spec->data.train.count, 2);
    assert_string_equal(spec->data.train.items[1], "b");
    assert_false(spec->compile.fusion);
    assert_int_equal(spec->nsets, 6);
    assert_string_equal(spec->sets[1], "precision.dtype=bf16");
    assert_string_equal(pos_text(spec_pos(spec, KEY_precision_dtype)), "--set:2:20");
    assert_string_equal(pos_text(spec_pos(spec, KEY_optimizer_lr)), "--set:3:14");
}

/* An eps below the range of fp32 is one in fp64. */
static void test_small_eps(void **state) {
    (void)state;
    write_spec("plain.toml", "", "", "");
    const char *sets[] = {"precision.dtype=fp64", "optimizer.eps=1e-300"};
    const Spec *spec = spec_read(&arena, "plain.toml", sets, 2);
    assert_true(spec->optimizer.eps == 1e-300);
}

static void test_extends(void **state) {
    (void)state;
    write_spec("origin.toml", "", "", "[adapter]\ntype = \"lora\"\nr = 4\n[job]\nname = \"o\"\n");
    write_text("plain_variant.toml", "extends = \"origin.toml\"\n"
                                     "[adapter]\ntype = \"none\"\n[training]\nsteps = 3\n");
    const Spec *spec = read_plain("plain_variant.toml");
    assert_string_equal(spec->name, "plain_variant");
    assert_int_equal(spec->training.steps, 3);
    /* inherited, so no complaint */
    assert_true(spec->origin[KEY_adapter_r].inherited);
    assert_false(spec->in_vain[KEY_adapter_r]);
    assert_string_equal(spec_pos(spec, KEY_adapter_r).file, "origin.toml");
}

static void test_byte_order_mark(void **state) {
    (void)state;
    write_spec("marked.toml", "\xEF\xBB\xBF", "", "");
    assert_int_equal(read_plain("marked.toml")->training.steps, 10);
}

static void test_extends_cycle(void **state) {
    (void)state;
    write_text("a.toml", "extends = \"b.toml\"\n");
    write_text("b.toml", "extends = \"a.toml\"\n");
    assert_true(FAILS(read_plain("a.toml")));
    assert_says("b.toml:1:11: error: a.toml depends on itself");
}

static void test_in_vain(void **state) {
    (void)state;
    write_spec("vain.toml", "", "", "[adapter]\nr = 4\n");
    assert_true(FAILS(read_plain("vain.toml")));
    assert_says("vain.toml:13:5: error: adapter.r has no effect");
}

/* Keys that --set makes ineffective are ignored; keys that were ineffective in the file, or that
 * --set itself sets, are errors. */
static void test_in_vain_by_set(void **state) {
    (void)state;
    const char *const sets[] = {"optimizer.name=adamw", "optimizer.momentum=0.5"};
    write_spec("tuned.toml", "", "", "[optimizer]\nname = \"sgd\"\nmomentum = 0.8\n");
    write_spec("plain.toml", "", "", "");
    assert_true(read_plain("tuned.toml")->optimizer.momentum == 0.8);
    assert_true(spec_read(&arena, "tuned.toml", sets, 1)->optimizer.momentum ==
                read_plain("plain.toml")->optimizer.momentum);
    assert_true(FAILS(spec_read(&arena, "tuned.toml", sets, 2)));
    assert_says("--set:2:20: error: optimizer.momentum has no effect");
    const char *const other[] = {"model.family=gpt2"};
    write_spec("llama.toml", "", "num_key_value_heads = 2\n", "");
    assert_int_equal(read_plain("llama.toml")->model.num_key_value_heads, 2);
    assert_int_equal(spec_read(&arena, "llama.toml", other, 1)->model.num_key_value_heads, 4);
    write_spec("vain.toml", "", "", "[adapter]\nr = 4\n");
    assert_true(FAILS(spec_read(&arena, "vain.toml", sets, 1)));
    assert_says("vain.toml:13:5: error: adapter.r has no effect");
}

/* ---- hash and print ---- */

static void test_hash(void **state) {
    (void)state;
    write_spec("one.toml", "# a comment\n[job]\nname = \"x\"\n", "", "");
    write_spec("two.toml", "[job]\nname = \"x\"\n", "head_dim = 16\n", "[optimizer]\neps = 1e-8\n");
    write_spec("three.toml", "[job]\nname = \"x\"\n", "head_dim = 24\n", "");
    const Spec *one = read_plain("one.toml"), *two = read_plain("two.toml");
    assert_string_equal(one->sha256, two->sha256);
    assert_string_not_equal(one->sha256, read_plain("three.toml")->sha256);
}

static void test_hash_ignores_what_has_no_effect(void **state) {
    (void)state;
    write_spec("tuned.toml", "", "", "[adapter]\ntype = \"lora\"\nr = 4\n");
    write_text("off.toml", "extends = \"tuned.toml\"\n[job]\nname = \"x\"\n"
                           "[adapter]\ntype = \"none\"\n");
    write_spec("plain.toml", "[job]\nname = \"x\"\n", "", "");
    assert_string_equal(read_plain("off.toml")->sha256, read_plain("plain.toml")->sha256);
}

/* What only the run depends on, and paths, belong to the spec but not to the recipe. */
static void test_recipe(void **state) {
    (void)state;
    write_spec("recipe.toml", "", "", "");
    const char *runs[] = {"training.log_every=3", "data.train=./a.txt", "profiling.enabled=true"};
    const char *weights[] = {"optimizer.lr=0.5", "training.steps=7", "data.shuffle=false"};
    const char *sets[] = {"data.format=text", "data.train=a.txt", NULL};
    const Spec *spec = spec_read(&arena, "recipe.toml", sets, 2);
    for (int i = 0; i < 3; i++) {
        sets[2] = runs[i];
        const Spec *other = spec_read(&arena, "recipe.toml", sets, 3);
        assert_string_not_equal(other->sha256, spec->sha256);
        assert_string_equal(other->recipe_sha256, spec->recipe_sha256);
        sets[2] = weights[i];
        other = spec_read(&arena, "recipe.toml", sets, 3);
        assert_string_not_equal(other->recipe_sha256, spec->recipe_sha256);
    }
}

/* Code that reads a value need not check whether it has an effect. */
static void test_forgets_what_has_no_effect(void **state) {
    (void)state;
    write_spec("modules.toml", "", "", "[adapter]\ntype = \"lora\"\nr = 4\n"
                                       "modules_to_save = [\"lm_head\"]\n");
    write_text("no_adapter.toml", "extends = \"modules.toml\"\n[adapter]\ntype = \"none\"\n");
    const Spec *spec = read_plain("no_adapter.toml");
    assert_int_equal(spec->adapter.modules_to_save.count, 0);
    assert_int_not_equal(spec->adapter.r, 4);
    assert_true(spec->origin[KEY_adapter_r].inherited);
}

static void test_print_reads_back(void **state) {
    (void)state;
    write_spec("deep.toml", "", "rope_type = \"llama3\"\nrope_factor = 32.0\n",
               "train = [\"a \\\"b\\\"\\t\\u00e9\"]\n[lr_scheduler]\ntype = \"cosine\"\n");
    const char *sets[] = {"data.format=jsonl", "optimizer.lr=1.2345678901234567e-3"};
    const Spec *first = spec_read(&arena, "deep.toml", sets, 2);
    StrBuf text = {0};
    spec_print(first, &text);
    write_text("again.toml", text.text);
    sb_free(&text);
    const Spec *second = read_plain("again.toml");
    assert_string_equal(second->name, "deep");
    assert_string_equal(first->sha256, second->sha256);
    for (int key = 0; key < KEY_COUNT; key++)
        assert_true(key_same(first, second, (Key)key));
}

static void test_reference_has_every_key(void **state) {
    (void)state;
    StrBuf text = {0};
    spec_print_keys(NULL, &text);
    for (int key = 0; key < KEY_COUNT; key++)
        assert_non_null(strstr(text.text, arena_printf(&arena, "\n  %s\n", key_info[key].leaf)));
    sb_free(&text);
}

/* The default can be copied into a spec: it is one of the values that the line lists. */
static void test_reference_writes_defaults_as_specs_do(void **state) {
    (void)state;
    for (int key = 0; key < KEY_COUNT; key++) {
        if (key_info[key].kind != KIND_CHOICE || !key_info[key].fallback[0])
            continue;
        StrBuf text = {0};
        spec_print_keys(key_info[key].name, &text);
        const char *domain = strstr(text.text, "one of "), *end = domain ? strchr(domain, ';') : NULL;
        char *value = end ? arena_strndup(&arena, end, strcspn(end, "\n")) : NULL;
        assert_true(value && !strncmp(value, "; default ", 10));
        assert_non_null(strstr(arena_strndup(&arena, domain, (size_t)(end - domain)),
                               arena_printf(&arena, " %s", value + 10)));
        sb_free(&text);
    }
}

static void test_reference_of_one_table(void **state) {
    (void)state;
    StrBuf text = {0};
    spec_print_keys("compile", &text);
    for (int key = 0; key < KEY_COUNT; key++) {
        bool listed = strstr(text.text, arena_printf(&arena, "\n  %s\n", key_info[key].leaf));
        assert_int_equal(listed, !strcmp(key_info[key].table, "compile"));
    }
    assert_true(FAILS(spec_print_keys("compiler", &text)));
    assert_says("did you mean [compile]?");
    sb_free(&text);
}

/* The last part of a key, typed alone, is told its tables; so is another tool's name for a key. */
static void test_reference_knows_keys_without_their_table(void **state) {
    (void)state;
    static const char *const likely[][2] = {{"fusion", "did you mean compile.fusion?"},
                                            {"type", "did you mean lr_scheduler.type or adapter.type?"},
                                            {"lora", "did you mean [adapter]?"},
                                            {"save_steps", "did you mean checkpoint.interval?"},
                                            {"nothing_like_it", "the tables are [job], "}};
    for (size_t i = 0; i < sizeof likely / sizeof *likely; i++) {
        StrBuf text = {0};
        assert_true(FAILS(spec_print_keys(likely[i][0], &text)));
        assert_says(likely[i][1]);
        sb_free(&text);
    }
}

/* The depths that the key may have are those that there are. */
static void test_depths_of_a_resnet(void **state) {
    (void)state;
    Spec spec = {0};
    int count = 0;
    for (int64_t depth = -1; depth <= 152; depth++) {
        spec.model.depth = depth;
        bool may_be = key_in_range(KEY_model_depth, (double)depth);
        assert_int_equal(may_be, resnet_depth(&spec) != NULL);
        count += may_be;
    }
    assert_int_equal(count, 3);
}

/* ---- weights ---- */

static const char CONFIG[] =
    "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n"
    "  \"hidden_size\": 64, \"intermediate_size\": 96,\n"
    "  \"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"num_key_value_heads\": 2,\n"
    "  \"vocab_size\": 300, \"head_dim\": null, \"torch_dtype\": \"bfloat16\",\n"
    "  \"rope_theta\": 500000.0, \"max_position_embeddings\": 131072,\n"
    "  \"rope_scaling\": {\"factor\": 32.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,\n"
    "    \"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"},\n"
    "  \"tie_word_embeddings\": true\n}\n";
static const char TUNE[] = "[training]\ntask = \"sft\"\nseq_len = 32\nsteps = 1\n"
                           "[data]\nformat = \"synthetic\"\n";

static void test_config_json(void **state) {
    (void)state;
    assert_null(make_folder("hf"));
    write_text("hf/config.json", CONFIG);
    write_text("tune.toml", arena_printf(&arena, "[model]\nweights = \"hf\"\n%s", TUNE));
    const Spec *spec = read_plain("tune.toml");
    assert_int_equal(spec->model.num_hidden_layers, 3);
    assert_int_equal(spec->model.num_key_value_heads, 2);
    assert_int_equal(spec->model.head_dim, 16);
    assert_int_equal(spec->model.rope_type, ROPE_LLAMA3);
    assert_true(spec->model.rope_factor == 32);
    assert_true(spec->model.rope_theta == 500000);
    assert_true(spec->model.rms_norm_eps == 1e-6); /* transformers' default, not ours */
    assert_true(spec->model.tie_word_embeddings);
    assert_string_equal(spec->init_dir, "hf");
    assert_string_equal(spec->base_spec, "");
    assert_string_equal(pos_text(spec_pos(spec, KEY_model_vocab_size)), "hf/config.json:5:3");
    assert_false(spec_given(spec, KEY_model_vocab_size));
}

static const char CLASSIFY[] = "[training]\ntask = \"classify\"\nsteps = 1\n"
                               "[data]\nformat = \"synthetic\"\n";
static const char CNN[] = "family = \"cnn\"\nnum_classes = 7\nimage_size = 9\n"
                          "layers = [\"conv 4 3\", \"relu\", \"flatten\", \"dropout 0.5\"]\n";

/* The config.json that an image model exports describes the model. */
static void test_config_json_own(void **state) {
    (void)state;
    StrBuf json = {0};
    write_text("cnn.toml", arena_printf(&arena, "[model]\n%s%s", CNN, CLASSIFY));
    const Spec *first = read_plain("cnn.toml");
    spec_print_model(first, &json);
    assert_null(make_folder("exported"));
    write_text("exported/config.json", json.text);
    sb_free(&json);
    write_text("again.toml", arena_printf(&arena, "[model]\nweights = \"exported\"\n%s", CLASSIFY));
    const Spec *again = read_plain("again.toml");
    for (int key = 0; key < KEY_COUNT; key++)
        if (is_model_shape((Key)key))
            assert_true(key_same(first, again, (Key)key));
}

/* config.json has all keys that a language model may set: one that it left out, or wrote as a
 * constant, would be another model for those who load it. */
static void test_config_json_round_trip(void **state) {
    (void)state;
    static const char *const models[] = {
        "vocab_size = 300\nhidden_size = 64\nintermediate_size = 96\nnum_hidden_layers = 3\n"
        "num_attention_heads = 4\nnum_key_value_heads = 2\nhead_dim = 24\n"
        "max_position_embeddings = 99\nrms_norm_eps = 1e-4\nrope_theta = 500.0\n"
        "rope_type = \"llama3\"\nrope_factor = 3.0\nrope_low_freq_factor = 2.0\n"
        "rope_high_freq_factor = 5.0\nrope_original_max_position_embeddings = 50\n"
        "tie_word_embeddings = true\ninitializer_range = 0.5\nfamily = ",
        "vocab_size = 300\nhidden_size = 64\nintermediate_size = 96\nnum_hidden_layers = 3\n"
        "num_attention_heads = 4\nmax_position_embeddings = 99\nlayer_norm_epsilon = 1e-4\n"
        "initializer_range = 0.5\nfamily = "};
    static const char *const families[] = {"llama", "qwen2", "gpt2"};
    for (int f = 0; f < 3; f++) {
        write_text("whole.toml", arena_printf(&arena, "[model]\n%s\"%s\"\n%s", models[f == 2],
                                              families[f], TUNE));
        const Spec *first = read_plain("whole.toml");
        const char *folder = arena_printf(&arena, "of_%s", families[f]);
        assert_null(make_folder(folder));
        write_text(arena_printf(&arena, "%s/config.json", folder),
                   model_config(&arena, first, DT_F32));
        write_text("again.toml",
                   arena_printf(&arena, "[model]\nconfig = \"%s\"\n%s", folder, TUNE));
        const Spec *again = read_plain("again.toml");
        for (int key = 0; key < KEY_COUNT; key++) {
            if (!is_model_shape((Key)key) || !spec_effective(first, (Key)key))
                continue;
            StrBuf value = {0};
            key_print(first, (Key)key, &value);
            sb_append(&value, "", 1);
            if (!spec_given(first, (Key)key) || !key_same(first, again, (Key)key))
                fail_msg("%s: %s = %s is not given here, or is lost", families[f],
                         key_info[key].leaf, value.text);
            sb_free(&value);
        }
    }
}

/* As where config.json has no n_inner. */
static void test_inner_width_of_gpt2(void **state) {
    (void)state;
    const char *set = "model.intermediate_size=100";
    write_text("gpt2.toml",
               arena_printf(&arena,
                            "[model]\nfamily = \"gpt2\"\nvocab_size = 300\nhidden_size = 64\n"
                            "num_hidden_layers = 1\nnum_attention_heads = 4\n%s",
                            TUNE));
    assert_int_equal(read_plain("gpt2.toml")->model.intermediate_size, 4 * 64);
    assert_int_equal(spec_read(&arena, "gpt2.toml", &set, 1)->model.intermediate_size, 100);
}

static void test_weights_without_config(void **state) {
    (void)state;
    assert_null(make_folder("bare"));
    write_text("bare.toml",
               arena_printf(&arena, "[model]\nweights = \"bare\"\n%s%s", CNN, CLASSIFY));
    assert_string_equal(read_plain("bare.toml")->init_dir, "bare");
}

static void test_config_json_rope_parameters(void **state) {
    (void)state;
    assert_null(make_folder("hf5"));
    write_text("hf5/config.json",
               "{\"model_type\": \"llama\", \"vocab_size\": 9, \"hidden_size\": 8,\n"
               "\"intermediate_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 1,\n"
               "\"rope_parameters\": {\"rope_theta\": 1234.5, \"rope_type\": \"default\"}}");
    write_text("tune.toml", arena_printf(&arena, "[model]\nconfig = \"hf5\"\n%s", TUNE));
    const Spec *spec = read_plain("tune.toml");
    assert_true(spec->model.rope_theta == 1234.5);
    assert_int_equal(spec->model.rope_type, ROPE_DEFAULT);
    assert_string_equal(spec->init_dir, "");
}

/* transformers writes null for what is not set. */
static void test_config_json_nulls(void **state) {
    (void)state;
    assert_null(make_folder("nulls"));
    write_text("nulls/config.json",
               "{\"architectures\": null, \"model_type\": \"llama\", \"vocab_size\": 9,\n"
               "\"hidden_size\": 8, \"intermediate_size\": 8, \"num_hidden_layers\": 1,\n"
               "\"num_attention_heads\": 1, \"rope_parameters\": null, \"rope_scaling\":\n"
               "{\"rope_type\": \"llama3\", \"type\": null, \"factor\": 4.0,\n"
               "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,\n"
               "\"original_max_position_embeddings\": 32}}");
    write_text("tune.toml", arena_printf(&arena, "[model]\nconfig = \"nulls\"\n%s", TUNE));
    assert_int_equal(read_plain("tune.toml")->model.rope_type, ROPE_LLAMA3);
}

static void test_base_spec(void **state) {
    (void)state;
    write_spec("base.toml", "[job]\nname = \"tiny\"\n", "rope_theta = 500.0\n", "");
    write_text("tune.toml", arena_printf(&arena,
                                         "[model]\nweights = \"base.toml\"\n"
                                         "hidden_size = 64\n%s",
                                         TUNE));
    const Spec *spec = read_plain("tune.toml");
    assert_string_equal(spec->init_dir, "build/tiny/out/model");
    assert_string_equal(spec->base_spec, "base.toml");
    assert_int_equal(spec->model.vocab_size, 256);
    assert_true(spec->model.rope_theta == 500);
    assert_int_equal(spec->origin[KEY_model_rope_theta].kind, ORIGIN_BASE);
    assert_string_equal(spec_pos(spec, KEY_model_rope_theta).file, "base.toml");
    StrBuf text = {0};
    spec_print(spec, &text);
    assert_non_null(strstr(text.text, "# default of base.toml\n"));
    sb_free(&text);
}

static void test_base_spec_contradicted(void **state) {
    (void)state;
    write_spec("base.toml", "", "", "");
    write_text("tune.toml", arena_printf(&arena,
                                         "[model]\nweights = \"base.toml\"\n"
                                         "hidden_size = 128\n%s",
                                         TUNE));
    assert_true(FAILS(read_plain("tune.toml")));
    assert_says("tune.toml:3:15: error: model.hidden_size = 128 contradicts base.toml:3:15");
}

static void test_base_spec_cycle(void **state) {
    (void)state;
    write_text("a.toml", "[model]\nweights = \"b.toml\"\n");
    write_text("b.toml", "[model]\nweights = \"a.toml\"\n");
    assert_true(FAILS(read_plain("a.toml")));
    assert_says("b.toml:2:11: error: a.toml depends on itself");
}

int main(void) {
#define TEST(name) cmocka_unit_test_teardown(name, clean)
    static const struct CMUnitTest tests[] = {
        TEST(test_sha256),
        TEST(test_real_text),
        TEST(test_real_reads_back),
        TEST(test_file_write_replaces),
        TEST(test_file_compare),
        TEST(test_arena_grow),
        TEST(test_file_read_limits),
        TEST(test_nearest),
        TEST(test_reals),
        TEST(test_real_or_auto),
        TEST(test_keys_are_sound),
        TEST(test_defaults),
        TEST(test_sets_win),
        TEST(test_small_eps),
        TEST(test_extends),
        TEST(test_byte_order_mark),
        TEST(test_extends_cycle),
        TEST(test_in_vain),
        TEST(test_in_vain_by_set),
        TEST(test_hash),
        TEST(test_recipe),
        TEST(test_hash_ignores_what_has_no_effect),
        TEST(test_forgets_what_has_no_effect),
        TEST(test_print_reads_back),
        TEST(test_reference_has_every_key),
        TEST(test_reference_writes_defaults_as_specs_do),
        TEST(test_reference_of_one_table),
        TEST(test_reference_knows_keys_without_their_table),
        TEST(test_depths_of_a_resnet),
        TEST(test_config_json),
        TEST(test_config_json_own),
        TEST(test_config_json_round_trip),
        TEST(test_inner_width_of_gpt2),
        TEST(test_weights_without_config),
        TEST(test_config_json_rope_parameters),
        TEST(test_config_json_nulls),
        TEST(test_base_spec),
        TEST(test_base_spec_contradicted),
        TEST(test_base_spec_cycle),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
