/* [sweep]: each line is an axis of one key, or of several that vary together; the points are the
 * product of the axes. An axis whose first key is "name" gives its values names. */
#include "spec/sweep.h"
#include "base/nearest.h"
#include "spec/resolve.h"
#include <ctype.h>
#include <string.h>

enum {
    MAX_POINTS = 4096,
    MAX_KEYS_PER_AXIS = 24,
    MAX_AXES = 32,
    LONG_POINT_NAME = 64,
    MAX_POINT_NAME = 120,
    MAX_REPLICAS = 1024
};

typedef struct {
    int nkeys, nvalues;
    Key keys[MAX_KEYS_PER_AXIS];
    Setting *settings; /* [nvalues][nkeys] */
    bool named;
    const char **names; /* [nvalues], if named */
} Axis;

typedef struct {
    Arena *arena;
    const Setting *fixed; /* --set */
    int nfixed, naxes, npoints;
    Axis axes[MAX_AXES];
    Spec *scratch; /* for checks of values before any point is read */
    bool brief;    /* names of points have one word per key */
} Study;

/* ---- axes ---- */

static void refuse_second_use(const Study *study, const Axis *axis, Key key, Pos at) {
    for (int i = 0; i < study->nfixed; i++)
        if (study->fixed[i].key == key)
            user_error(at, "remove --set, or the key from [sweep]",
                       "%s is varied here and fixed by --set", key_name(key));
    for (int i = 0; i < study->naxes; i++)
        for (int j = 0; j < study->axes[i].nkeys; j++)
            if (study->axes[i].keys[j] == key)
                user_error(at, "vary a key in one line only", "%s is varied twice", key_name(key));
    for (int j = 0; j < axis->nkeys; j++)
        if (axis->keys[j] == key)
            user_error(at, "vary a key in one line only", "%s is varied twice", key_name(key));
}

/* Returns false and notes an error if there is no such key. */
static bool add_key(const Study *study, Axis *axis, const char *name, Pos at) {
    Key key = key_lookup(study->arena, name, at);
    if (key == KEY_COUNT)
        return false;
    if (key == KEY_job_name)
        user_error(at, "remove it: points are named after the keys that they vary",
                   "job.name cannot be varied");
    if (axis->nkeys == MAX_KEYS_PER_AXIS)
        user_error(at, "use several lines", "more than %d keys vary together here",
                   MAX_KEYS_PER_AXIS);
    refuse_second_use(study, axis, key, at);
    axis->keys[axis->nkeys++] = key;
    return true;
}

/* Reads "model.num_hidden_layers, adapter.r", or the same with "name" first. */
static bool read_keys(const Study *study, Axis *axis, const Toml *line) {
    const char *at = line->key;
    bool known = true;
    for (bool first = true;; first = false) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ","), used = length;
        while (used && at[used - 1] == ' ')
            used--;
        const char *key = arena_strndup(study->arena, at, used);
        if (first && !strcmp(key, "name") && !at[length])
            user_error(line->key_pos, "write \"name,table.key\" = [[\"small\", 1], [\"large\", 2]]",
                       "a name needs keys next to it");
        if (first && !strcmp(key, "name"))
            axis->named = true;
        else
            known &= add_key(study, axis, key, line->key_pos);
        if (!at[length])
            return known;
        at += length + 1;
    }
}

static Setting read_value(const Study *study, Key key, const Toml *value) {
    Origin origin = {ORIGIN_SWEEP, value->pos, false};
    StrBuf text = {0};
    sb_printf(&text, "%s=", key_name(key));
    if (key_assign(study->arena, study->scratch, key, value, origin))
        key_print(study->scratch, key, &text);
    Setting setting = {key, value, ORIGIN_SWEEP, arena_strdup(study->arena, text.text)};
    sb_free(&text);
    return setting;
}

/* Whether a folder's name may contain the character. */
static bool is_good_in_names(char c) { return isalnum((unsigned char)c) || strchr("+-.", c); }

/* Whether a study has a file of that name next to its points' folders. */
static bool is_file_of_studies(const char *name) {
    static const char *const files[] = {"points",    "job.sbatch", "study.txt",
                                        "study.csv", "study.json", "study.svg"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(name, files[i]))
            return true;
    return false;
}

static const char *read_name(const Study *study, const Axis *axis, int count, const Toml *value) {
    bool good = value->kind == TOML_STRING && isalnum((unsigned char)value->string[0]);
    for (const char *c = good ? value->string : ""; *c; c++)
        good = good && is_good_in_names(*c);
    if (!good)
        user_error(value->pos, "write a name such as \"lora\" or \"qat+lora\"",
                   "a name consists of letters, digits, +, - and ., with a letter or digit first");
    if (is_file_of_studies(value->string))
        user_error(value->pos, "choose another name",
                   "\"%s\" is the name of a file in the study's folder", value->string);
    for (int i = 0; i < count; i++)
        if (!strcmp(axis->names[i], value->string))
            user_error(value->pos, "give each value its own name", "two values are named \"%s\"",
                       value->string);
    return arena_strdup(study->arena, value->string);
}

static void read_values(const Study *study, Axis *axis, const Toml *line) {
    int width = axis->nkeys + axis->named;
    axis->nvalues = line->count;
    axis->settings =
        arena_array(study->arena, (size_t)axis->nvalues, (size_t)axis->nkeys * sizeof(Setting));
    axis->names = arena_array(study->arena, (size_t)axis->nvalues, sizeof *axis->names);
    for (int i = 0; i < line->count; i++) {
        const Toml *value = &line->items[i];
        bool alone = width == 1;
        if (!alone && (value->kind != TOML_ARRAY || value->count != width))
            user_error(value->pos, "write \"a,b\" = [[1, 2], [3, 4]] to vary a and b together",
                       "each value here must be a list of %d", width);
        if (axis->named)
            axis->names[i] = read_name(study, axis, i, &value->items[0]);
        for (int j = 0; j < axis->nkeys; j++)
            axis->settings[i * axis->nkeys + j] =
                read_value(study, axis->keys[j], alone ? value : &value->items[j + axis->named]);
    }
}

static void read_axis(Study *study, const Toml *line) {
    if (line->kind == TOML_TABLE)
        user_error(line->key_pos, "write \"table.key\" = [values], with the key in quotes",
                   "%s in [sweep] is a table", line->key);
    if (line->kind != TOML_ARRAY || line->count == 0)
        user_error(line->pos, "write \"table.key\" = [values]",
                   "expected a list of at least one value");
    if (study->naxes == MAX_AXES)
        user_error(line->key_pos, "split the sweep", "[sweep] has more than %d lines", MAX_AXES);
    Axis *axis = &study->axes[study->naxes];
    *axis = (Axis){0};
    if (!read_keys(study, axis, line))
        return; /* reading the first point exits with the noted errors */
    read_values(study, axis, line);
    study->naxes++;
    if (axis->nvalues > MAX_POINTS / study->npoints)
        user_error(line->pos, "split the sweep", "[sweep] makes more than %d points", MAX_POINTS);
    study->npoints *= axis->nvalues;
}

static void read_axes(Study *study, const Toml *sweep) {
    if (sweep->kind != TOML_TABLE)
        user_error(sweep->pos, "write [sweep] on a line of its own",
                   "sweep must be a table, not %s", toml_kind_name(sweep->kind));
    for (int i = 0; i < sweep->count; i++)
        read_axis(study, &sweep->items[i]);
    if (sweep->count == 0)
        user_error(sweep->pos, "write \"table.key\" = [values] below it, or remove it",
                   "[sweep] is empty");
}

static void refuse_fixed(const Study *study, const Toml *root, Pos sweep) {
    for (int i = 0; i < study->naxes; i++)
        for (int j = 0; j < study->axes[i].nkeys; j++) {
            const KeyInfo *key = &key_info[study->axes[i].keys[j]];
            const Toml *table = toml_get(root, key->table);
            bool known = table && table->kind == TOML_TABLE;
            const Toml *value = known ? toml_get(table, key->leaf) : NULL;
            if (value)
                user_error(value->pos, "remove it here, or write a [sweep] here too",
                           "%s is varied by the [sweep] of %s, which this file extends", key->name,
                           sweep.file);
        }
}

/* A file overrides what it extends, but an inherited [sweep] would set the key at every point. */
static void refuse_fixed_nearer(const Study *study, const char *path, Pos sweep) {
    while (strcmp(path, sweep.file)) {
        const Toml *root = toml_read(study->arena, path, (Pos){0});
        refuse_fixed(study, root, sweep);
        path = toml_get(root, "extends")->string;
    }
}

/* ---- points ---- */

static bool starts_with_digit(const char *value) {
    return isdigit((unsigned char)value[0]) || value[0] == '-';
}

typedef struct {
    const char *text;
    int length;
} Word;

/* Returns the first word of the text; it is empty at the end. */
static Word word_at(const char *text) {
    text += *text == '_';
    return (Word){text, (int)strcspn(text, "_")};
}

static bool has_word(const char *leaf, Word wanted) {
    for (Word w = word_at(leaf); w.length; w = word_at(w.text + w.length))
        if (w.length == wanted.length && !memcmp(w.text, wanted.text, (size_t)w.length))
            return true;
    return false;
}

static bool is_of_one_key(const Study *study, Word word) {
    int keys = 0;
    for (int i = 0; i < study->naxes; i++)
        for (int j = 0; j < study->axes[i].nkeys; j++)
            keys += has_word(key_info[study->axes[i].keys[j]].leaf, word);
    return keys == 1;
}

/* Returns "replicate" for data_parallel_replicate_degree: the longest word that no other key of the
 * study has. */
static Word brief_leaf(const Study *study, const char *leaf) {
    Word longest = {leaf, 0};
    for (Word w = word_at(leaf); w.length; w = word_at(w.text + w.length))
        if (w.length > longest.length && is_of_one_key(study, w))
            longest = w;
    return longest.length ? longest : (Word){leaf, (int)strlen(leaf)};
}

/* "r8", "dtype-bf16" */
static void name_setting(const Study *study, const Setting *setting, StrBuf *name) {
    const char *value = strchr(setting->text, '=') + 1, *leaf = key_info[setting->key].leaf;
    Word shown = study->brief ? brief_leaf(study, leaf) : (Word){leaf, (int)strlen(leaf)};
    sb_printf(name, "%s%.*s", name->length ? "_" : "", shown.length, shown.text);
    sb_puts(name, starts_with_digit(value) ? "" : "-");
    for (const char *c = value; *c; c++)
        if (is_good_in_names(*c))
            sb_append(name, c, 1);
}

/* Names that are too long, or that an earlier point has, get the point's number as suffix. */
static const char *unique_name(const Study *study, const Sweep *sweep, int point, StrBuf *name) {
    bool taken = name->length > MAX_POINT_NAME;
    for (int i = 0; i < point && !taken; i++)
        taken = !strcmp(sweep->points[i].name, name->text);
    int shown = name->length < MAX_POINT_NAME ? (int)name->length : MAX_POINT_NAME;
    return taken ? arena_printf(study->arena, "%.*s_%d", shown, name->text, point + 1)
                 : arena_strdup(study->arena, name->text);
}

/* Returns the index of the axis's value at a point; the last axis varies fastest. */
static int value_at(const Study *study, int axis, int point) {
    for (int later = study->naxes - 1; later > axis; later--)
        point /= study->axes[later].nvalues;
    return point % study->axes[axis].nvalues;
}

static const Setting *settings_at(const Study *study, int axis, int point) {
    const Axis *of = &study->axes[axis];
    return of->settings + value_at(study, axis, point) * of->nkeys;
}

/* Collects the settings of a point: --set first, then its own. */
static int choose(const Study *study, int point, Setting *settings) {
    int count = study->nfixed;
    if (count)
        memcpy(settings, study->fixed, (size_t)count * sizeof *settings);
    for (int i = 0; i < study->naxes; count += study->axes[i++].nkeys)
        memcpy(settings + count, settings_at(study, i, point),
               (size_t)study->axes[i].nkeys * sizeof *settings);
    return count;
}

static StrBuf name_of(const Study *study, int point) {
    StrBuf name = {0};
    sb_puts(&name, "");
    for (int i = 0; i < study->naxes; i++) {
        const Axis *axis = &study->axes[i];
        if (axis->named)
            sb_printf(&name, "%s%s", name.length ? "_" : "",
                      axis->names[value_at(study, i, point)]);
        for (int j = 0; j < axis->nkeys && !axis->named; j++)
            name_setting(study, &settings_at(study, i, point)[j], &name);
    }
    return name;
}

/* Whether any point's name is too long: then all points have brief names. */
static bool has_long_names(const Study *study) {
    bool found = false;
    for (int i = 0; i < study->npoints && !found; i++) {
        StrBuf name = name_of(study, i);
        found = name.length > LONG_POINT_NAME;
        sb_free(&name);
    }
    return found;
}

static void read_point(const Study *study, Sweep *sweep, const char *path, int index) {
    SweepPoint *point = &sweep->points[index];
    Setting *all = arena_array(study->arena, (size_t)study->nfixed + KEY_COUNT, sizeof *all);
    int count = choose(study, index, all);
    StrBuf name = name_of(study, index);
    point->name = unique_name(study, sweep, index, &name);
    sb_free(&name);
    Spec *spec = spec_resolve(study->arena, path, (Pos){0}, all, count, NULL);
    if (point->name[0])
        spec->title = arena_printf(study->arena, "%s/%s", spec->name, point->name);
    point->spec = spec;
    point->nsets = count - study->nfixed;
    point->sets = point->spec->sets + study->nfixed;
}

/* A key may have no effect at some points of a study, as adapter.r where adapter.type varies, but
 * not at all of them. */
static void refuse_always_in_vain(Arena *arena, const Sweep *sweep) {
    Spec always = *sweep->points[0].spec;
    for (int i = 1; i < sweep->count; i++)
        for (int key = 0; key < KEY_COUNT; key++)
            always.in_vain[key] &= sweep->points[i].spec->in_vain[key];
    refuse_in_vain(arena, &always);
}

static void warn_of_late_keys(Study *study, const Sweep *sweep) {
    const Spec **points = arena_array(study->arena, (size_t)sweep->count, sizeof *points);
    for (int i = 0; i < sweep->count; i++)
        points[i] = sweep->points[i].spec;
    warn_of_late(study->arena, points, sweep->count);
}

/* Whether the points set the same values, so that one of the lists has a value twice. */
static bool set_the_same(const SweepPoint *a, const SweepPoint *b) {
    for (int i = 0; i < a->nsets; i++)
        if (strcmp(a->sets[i], b->sets[i]))
            return false;
    return true;
}

/* A product of axes may repeat points, which costs time and gives the table identical rows. */
static void warn_of_same_points(const Sweep *sweep, Pos at) {
    int same = 0;
    const SweepPoint *first = NULL, *second = NULL;
    for (int i = 1; i < sweep->count; i++)
        for (int k = 0; k < i; k++) {
            if (strcmp(sweep->points[i].spec->sha256, sweep->points[k].spec->sha256))
                continue;
            if (!same++) {
                first = &sweep->points[k];
                second = &sweep->points[i];
            }
            break;
        }
    if (!same)
        return;
    bool twice = set_the_same(first, second);
    warn_at(at,
            twice ? "give each value once"
                  : "vary these keys in one line: \"a,b\" = [[1, false], [2, false], [2, true]]",
            "%d of %d points %s an earlier one, as %s: %s equals %s", same, sweep->count,
            same > 1 ? "repeat" : "repeats",
            twice ? "a value is given twice" : "the keys that differ have no effect", second->name,
            first->name);
}

static void refuse_repeats_alone(const Spec *spec) {
    if (spec_given(spec, KEY_benchmark_repeats) && !spec->origin[KEY_benchmark_repeats].inherited)
        user_error(spec_pos(spec, KEY_benchmark_repeats), "add a [sweep], or remove the key",
                   "benchmark.repeats applies to the points of a [sweep], but the spec has none");
}

static Study *study_of(Arena *arena, const char *const *sets, int nsets) {
    Study *study = arena_alloc(arena, sizeof *study);
    *study = (Study){.arena = arena, .nfixed = nsets, .npoints = 1};
    study->fixed = settings_parse(arena, sets, nsets);
    study->scratch = arena_alloc(arena, sizeof *study->scratch);
    return study;
}

static Sweep *read_points(Study *study, const char *path) {
    study->brief = has_long_names(study);
    Sweep *sweep = arena_alloc(study->arena, sizeof *sweep);
    sweep->swept = study->naxes > 0;
    sweep->count = study->npoints;
    sweep->points = arena_array(study->arena, (size_t)sweep->count, sizeof *sweep->points);
    for (int i = 0; i < sweep->count; i++)
        read_point(study, sweep, path, i);
    return sweep;
}

Sweep *sweep_read(Arena *arena, const char *path, const char *const *sets, int nsets) {
    Study *study = study_of(arena, sets, nsets);
    const Toml *lines = find_sweep(arena, path, (Pos){0}, NULL);
    if (lines) {
        read_axes(study, lines);
        refuse_fixed_nearer(study, path, lines->pos);
    }
    Sweep *sweep = read_points(study, path);
    refuse_always_in_vain(arena, sweep);
    if (!sweep->swept)
        refuse_repeats_alone(sweep->points[0].spec);
    else
        warn_of_same_points(sweep, lines->pos);
    warn_of_late_keys(study, sweep);
    return sweep;
}

enum { MOST_NAMED = 12 };

/* "its points are a, b", or how many there are if these are too many for a line. */
static const char *points_text(Arena *arena, const char *const *names, int count) {
    if (count > MOST_NAMED)
        return arena_printf(arena, "it has %d points, which --plan lists", count);
    const char *text = arena_printf(arena, "its points are %s", names[0]);
    for (int i = 1; i < count; i++)
        text = arena_printf(arena, "%s, %s", text, names[i]);
    return text;
}

const Sweep *sweep_point(Arena *arena, const Sweep *sweep, const char *name) {
    const char **names = arena_array(arena, (size_t)sweep->count, sizeof *names);
    Sweep *alone = arena_alloc(arena, sizeof *alone);
    if (!sweep->swept)
        user_error((Pos){0}, "remove --point", "--point needs a [sweep], but the spec has none");
    for (int i = 0; i < sweep->count; i++) {
        names[i] = sweep->points[i].name;
        if (!strcmp(names[i], name)) {
            *alone = (Sweep){false, 1, &sweep->points[i]};
            return alone;
        }
    }
    const char *nearest = nearest_name(name, names, sweep->count);
    const char *points = points_text(arena, names, sweep->count);
    user_error((Pos){0},
               nearest ? arena_printf(arena, "did you mean %s? %s", nearest, points) : points,
               "the study has no point %s", name);
}

/* ---- replicas ---- */

static void refuse_set_replicas(const Study *study, int nsets) {
    for (int i = 0; i < nsets; i++)
        if (study->fixed[i].key == KEY_parallelism_data_parallel_replicate_degree)
            user_error((Pos){"--set", i + 1, 1}, "remove this --set, or --scaling",
                       "--scaling varies the number of replicas, but this --set fixes it");
}

static void refuse_study(Arena *arena, const char *path) {
    const Toml *lines = find_sweep(arena, path, (Pos){0}, NULL);
    if (lines)
        user_error(lines->pos, "name a point of it with --point, or a spec without [sweep]",
                   "--scaling needs a single experiment, but this spec has a [sweep]");
}

/* The settings of a point after those of the user, without its replicas. */
static Study *study_of_point(Arena *arena, const char *path, const char *const *sets, int nsets,
                             const char *name) {
    const SweepPoint *point =
        sweep_point(arena, sweep_read(arena, path, sets, nsets), name)->points;
    const Spec *spec = point->spec;
    const Setting *all = settings_parse(arena, spec->sets, spec->nsets);
    const char **kept = arena_array(arena, (size_t)spec->nsets, sizeof *kept);
    int count = 0;
    for (int i = 0; i < spec->nsets; i++) {
        bool replicas = all[i].key == KEY_parallelism_data_parallel_replicate_degree;
        if (i < nsets || !replicas)
            kept[count++] = spec->sets[i];
    }
    return study_of(arena, kept, count);
}

/* Returns the most replicas whose step has no more rows than a spec may ask for. */
static int most_replicas(const Study *study, const char *path) {
    const Spec *one = spec_resolve(study->arena, path, (Pos){0}, study->fixed, study->nfixed, NULL);
    int64_t rows = one->training.seq_len * one->training.per_device_train_batch_size *
                   one->training.gradient_accumulation_steps;
    return rows > INT32_MAX / MAX_REPLICAS ? (int)(INT32_MAX / rows) : MAX_REPLICAS;
}

Sweep *sweep_replicas(Arena *arena, const char *path, const char *const *sets, int nsets,
                      const char *point) {
    TomlError error;
    StrBuf text = {0};
    if (!point)
        refuse_study(arena, path);
    Study *study = point ? study_of_point(arena, path, sets, nsets, point)
                         : study_of(arena, sets, nsets);
    refuse_set_replicas(study, nsets);
    sb_printf(&text, "\"%s\" = [1", key_name(KEY_parallelism_data_parallel_replicate_degree));
    for (int cards = 2, most = most_replicas(study, path); cards <= most; cards *= 2)
        sb_printf(&text, ", %d", cards);
    sb_puts(&text, "]\n");
    const Toml *axis = toml_parse(arena, "--scaling", text.text, text.length, &error);
    ENSURE(axis, "the cards of --scaling do not parse: %s", error.message);
    read_axes(study, axis);
    sb_free(&text);
    Sweep *sweep = read_points(study, path);
    if (!point) /* what has no effect at one point of a study may have one at others */
        refuse_always_in_vain(arena, sweep);
    return sweep;
}
