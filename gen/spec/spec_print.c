/* The resolved spec, the reference of keys, and the hash that names an experiment. */
#include "spec/key_info.h"
#include "spec/resolve.h"
#include <string.h>

enum { ORIGIN_COLUMN = 48 };

static void pad(StrBuf *out, size_t line_start, size_t column) {
    do
        sb_puts(out, " ");
    while (out->length - line_start < column);
}

/* Prints a heading if the key is the first of its table. */
static void print_heading(Key key, StrBuf *out) {
    if (key == 0 || strcmp(key_info[key].table, key_info[key - 1].table))
        sb_printf(out, "\n[%s]\n", key_info[key].table);
}

/* Whether the key only says how often or where the experiment runs, and does not change it. */
static bool is_of_runs(Key key) {
    return key == KEY_benchmark_repeats || key == KEY_job_account || key == KEY_job_partition ||
           key == KEY_job_time;
}

static void print_origin(const Spec *spec, Key key, StrBuf *out) {
    const Origin *origin = &spec->origin[key];
    /* A base has values without a line: its defaults, and what follows from other keys. */
    if (origin->kind == ORIGIN_DEFAULT)
        sb_puts(out, "# default");
    else if (origin->kind == ORIGIN_BASE && origin->pos.line == 0)
        sb_printf(out, "# default of %s", origin->pos.file);
    else
        sb_printf(out, "# %s", pos_text(origin->pos));
    if (!spec_effective(spec, key))
        sb_puts(out, ", no effect");
    else if (key == KEY_benchmark_repeats)
        sb_puts(out, ", for a [sweep] only");
}

static void print_key(const Spec *spec, Key key, StrBuf *out) {
    size_t start = out->length;
    /* Keys without effect are commented out, so that the output reads back without errors. */
    bool counts = spec_effective(spec, key) && key != KEY_benchmark_repeats;
    sb_printf(out, "%s%s = ", counts ? "" : "# ", key_info[key].leaf);
    key_print(spec, key, out);
    pad(out, start, ORIGIN_COLUMN);
    print_origin(spec, key, out);
    sb_puts(out, "\n");
}

/* Prints what runtime/scripts/run.sh and inputs/inputs.c need to know besides the keys. */
static void print_inputs(const Spec *spec, StrBuf *out) {
    sb_printf(out, "# recipe_sha256 %s\n", spec->recipe_sha256);
    if (spec->init_dir[0])
        sb_printf(out, "# starts from %s\n", spec->init_dir);
}

void spec_print(const Spec *spec, StrBuf *out) {
    sb_printf(out, "# %s, resolved; spec_sha256 %s\n", spec->path, spec->sha256);
    print_inputs(spec, out);
    sb_printf(out, "# ranks %lld\n", (long long)spec_ranks(spec)); /* for runtime/scripts/run.sh */
    for (int key = 0; key < KEY_COUNT; key++) {
        print_heading((Key)key, out);
        print_key(spec, (Key)key, out);
    }
}

void spec_print_values(const Spec *spec, StrBuf *out) {
    const char *table = "";
    print_inputs(spec, out);
    for (int key = 0; key < KEY_COUNT; key++) {
        if (!spec_effective(spec, (Key)key) || is_of_runs((Key)key))
            continue;
        if (strcmp(table, key_info[key].table))
            sb_printf(out, "\n[%s]\n", key_info[key].table);
        table = key_info[key].table;
        sb_printf(out, "%s = ", key_info[key].leaf);
        key_print(spec, (Key)key, out);
        sb_puts(out, "\n");
    }
}

/* A value is written the same in TOML and in JSON. */
void spec_print_model(const Spec *spec, StrBuf *out) {
    const char *before = "{\n";
    for (int key = 0; key < KEY_COUNT; key++) {
        if (!is_model_shape((Key)key) || !spec_effective(spec, (Key)key))
            continue;
        sb_printf(out, "%s  \"%s\": ", before, key_info[key].leaf);
        key_print(spec, (Key)key, out);
        before = ",\n";
    }
    sb_puts(out, "\n}\n");
}

static bool decides_forward(Key key) {
    const char *table = key_info[key].table;
    bool rounds = key == KEY_qat_activation_dtype || key == KEY_qat_weight_dtype ||
                  key == KEY_qat_group_size;
    bool rows = key == KEY_dpo_shared_prompt;
    return is_model_shape(key) || key == KEY_precision_dtype || rounds || rows ||
           (!strcmp(table, "quantization") && key != KEY_quantization_keep_decoded);
}

void spec_print_forward(const Spec *spec, StrBuf *out) {
    for (int key = 0; key < KEY_COUNT; key++) {
        if (!decides_forward((Key)key) || !spec_effective(spec, (Key)key))
            continue;
        sb_printf(out, "%s = ", key_info[key].name);
        key_print(spec, (Key)key, out);
        sb_puts(out, "\n");
    }
}

static void print_default(Arena *arena, Key key, StrBuf *out) {
    const KeyInfo *info = &key_info[key];
    if (info->fallback == REQUIRED)
        sb_puts(out, "required");
    else if (!info->fallback[0])
        sb_puts(out, "derived");
    else
        sb_printf(out, "default %s", key_default(arena, key));
}

static void print_reference(Arena *arena, Key key, StrBuf *out) {
    const KeyInfo *info = &key_info[key];
    sb_printf(out, "  %s\n      %s; ", info->leaf, key_domain(arena, key));
    print_default(arena, key, out);
    sb_printf(out, "\n      %s\n", info->help);
    if (info->condition[0])
        sb_printf(out, "      Only with %s.\n", info->condition);
}

static void print_about(StrBuf *out) {
    sb_puts(out,
            "Keys of a spec. In addition, extends = \"FILE.toml\" reads another spec's keys\n"
            "first, and [sweep] \"TABLE.KEY\" = [VALUES] makes several experiments. A [sweep] is\n"
            "inherited through extends unless the spec has its own; an empty one removes it.\n");
}

static void print_one(Arena *arena, const char *name, StrBuf *out) {
    Key key = key_lookup(arena, name, (Pos){0});
    exit_if_errors();
    sb_printf(out, "[%s]\n", key_info[key].table);
    print_reference(arena, key, out);
}

/* All tables if `table` is NULL. */
static void print_table(Arena *arena, const char *table, StrBuf *out) {
    if (table && !table_exists(table)) {
        part_unknown(arena, table);
        exit_if_errors();
    }
    if (!table || !strcmp(table, "sweep"))
        print_about(out);
    else
        sb_printf(out, "[%s]\n", table);
    for (int key = 0; key < KEY_COUNT; key++) {
        if (table && strcmp(table, key_info[key].table))
            continue;
        if (!table)
            print_heading((Key)key, out);
        print_reference(arena, (Key)key, out);
    }
    if (!table)
        print_exclusions(out);
}

void spec_print_keys(const char *name, StrBuf *out) {
    Arena arena = {0};
    if (name && strchr(name, '.'))
        print_one(&arena, name, out);
    else
        print_table(&arena, name, out);
    arena_free(&arena);
}

/* Hashes lines "model.hidden_size = 64" of the keys that have an effect. */
static void hash_keys(const Spec *spec, bool of_recipe, char hex[SHA256_HEX_SIZE]) {
    StrBuf text = {0};
    for (int key = 0; key < KEY_COUNT; key++) {
        bool counts = of_recipe ? key_info[key].decides_weights : !is_of_runs((Key)key);
        if (!counts || !spec_effective(spec, (Key)key))
            continue;
        sb_printf(&text, "%s = ", key_info[key].name);
        key_print(spec, (Key)key, &text);
        sb_puts(&text, "\n");
    }
    sha256_hex(text.text, text.length, hex);
    sb_free(&text);
}

void spec_hash(Spec *spec) {
    hash_keys(spec, false, spec->sha256);
    hash_keys(spec, true, spec->recipe_sha256);
}

const Spec *spec_for_one_card(Arena *arena, const Spec *spec) {
    Spec *one = arena_alloc(arena, sizeof *one);
    *one = *spec;
    one->job.name = "";
    one->parallelism.tensor_parallel_degree = one->parallelism.pipeline_parallel_degree = 1;
    one->parallelism.data_parallel_replicate_degree = 1;
    one->parallelism.data_parallel_shard_degree = 1;
    one->parallelism.one_rank_collectives = ONE_RANK_NONE;
    spec_hash(one);
    return one;
}
