/* Reads an experiment: defaults, then the files, each after the one that it extends, then --set,
 * then what the weights state; checks come last. Errors in single keys and values are reported
 * together, before the first check that involves several keys. */
#include "spec/resolve.h"
#include <string.h>

/* user_error if the path is already in the chain. */
static void chain_check(const ReadChain *chain, const char *path, Pos blame) {
    for (; chain; chain = chain->outer)
        if (!strcmp(chain->path, path))
            user_error(blame, "break the cycle of extends and model.weights",
                       "%s depends on itself", path);
}

static void assign_default(Arena *arena, Spec *spec, Key key, Origin origin) {
    const KeyInfo *info = &key_info[key];
    const char *text = info->fallback == REQUIRED ? DERIVED : info->fallback;
    memset((char *)spec + info->offset, 0, info->size);
    if (text[0])
        key_assign(arena, spec, key, key_parse(arena, key, text, origin.pos), origin);
    else if (info->kind == KIND_STRING)
        *(const char **)((char *)spec + info->offset) = "";
}

static void set_defaults(Arena *arena, Spec *spec) {
    for (int key = 0; key < KEY_COUNT; key++) {
        spec->origin[key] = (Origin){.kind = ORIGIN_DEFAULT, .pos = {.file = spec->path}};
        assign_default(arena, spec, (Key)key, spec->origin[key]);
    }
}

/* ---- files ---- */

static void read_table(Arena *arena, Spec *spec, const Toml *table, bool inherited) {
    for (int i = 0; i < table->count; i++) {
        const Toml *item = &table->items[i];
        Key key = key_find(table->key, item->key);
        if (key == KEY_COUNT) {
            key_unknown(arena, arena_printf(arena, "%s.%s", table->key, item->key), item->key_pos);
            continue;
        }
        if (key == KEY_job_name && inherited)
            continue; /* two experiments must not share a folder */
        key_assign(arena, spec, key, item, (Origin){ORIGIN_FILE, item->pos, inherited});
    }
}

static bool is_spec_table(const char *name) {
    for (int key = 0; key < KEY_COUNT; key++)
        if (!strcmp(key_info[key].table, name))
            return true;
    return false;
}

static void read_root(Arena *arena, Spec *spec, const Toml *root, bool inherited) {
    for (int i = 0; i < root->count; i++) {
        const Toml *item = &root->items[i];
        if (!strcmp(item->key, "extends") || !strcmp(item->key, "sweep"))
            continue;
        if (!is_spec_table(item->key) && item->kind == TOML_TABLE)
            table_unknown(arena, item->key, item->key_pos);
        else if (!is_spec_table(item->key))
            key_unknown(arena, item->key, item->key_pos);
        else if (item->kind != TOML_TABLE)
            error_at(item->pos, arena_printf(arena, "write [%s] on a line of its own", item->key),
                     "%s must be a table, not %s", item->key, toml_kind_name(item->kind));
        else
            read_table(arena, spec, item, inherited);
    }
}

/* Returns the value of `extends`, or NULL. */
static const Toml *extended_by(const Toml *root) {
    const Toml *extends = toml_get(root, "extends");
    if (extends && extends->kind != TOML_STRING)
        user_error(extends->pos, "write extends = \"FILE.toml\"",
                   "extends must be a string, not %s", toml_kind_name(extends->kind));
    if (extends && !*extends->string)
        user_error(extends->pos, "write extends = \"FILE.toml\", or leave extends out",
                   "extends is empty");
    return extends;
}

static void read_file(Arena *arena, Spec *spec, const char *path, Pos blame,
                      const ReadChain *outer) {
    bool inherited = path != spec->path;
    chain_check(outer, path, blame);
    const Toml *root = toml_read(arena, path, blame), *extends = extended_by(root);
    if (extends)
        read_file(arena, spec, extends->string, extends->pos, &(ReadChain){outer, path});
    read_root(arena, spec, root, inherited);
}

/* ---- settings ---- */

/* Messages show all --set as one file, one per line. */
static void show_settings(Arena *arena, const char *const *sets, int nsets) {
    char *all = arena_strdup(arena, "");
    for (int i = 0; i < nsets; i++) {
        char *line = arena_strdup(arena, sets[i]);
        for (char *end = line; (end = strchr(end, '\n'));)
            *end = ' ';
        all = arena_printf(arena, "%s%s\n", all, line);
    }
    diag_source("--set", all);
}

/* Returns the text from `from` to `end` without the spaces around it. */
static const char *trimmed(Arena *arena, const char *from, const char *end) {
    from += strspn(from, " ");
    while (end > from && end[-1] == ' ')
        end--;
    return arena_strndup(arena, from, end > from ? (size_t)(end - from) : 0);
}

/* Spaces around "=" are allowed, as in a file. */
static Setting parse_setting(Arena *arena, const char *text, int line) {
    Pos pos = {"--set", line, 1};
    const char *equals = strchr(text, '=');
    Setting setting = {.key = KEY_COUNT, .origin = ORIGIN_SET, .text = text};
    const char *name = trimmed(arena, text, equals ? equals : text);
    if (!equals || !name[0]) {
        error_at(pos, "write --set TABLE.KEY=VALUE, and in make's SET no spaces around \"=\"",
                 "\"%s\" has no %s", text, equals ? "key" : "\"=\"");
        return setting;
    }
    const char *value = trimmed(arena, equals + 1, text + strlen(text));
    setting.text = arena_printf(arena, "%s=%s", name, value);
    setting.key = key_lookup(arena, name, pos);
    pos.col = (int)(equals + 1 + strspn(equals + 1, " ") - text) + 1;
    if (setting.key != KEY_COUNT)
        setting.value = key_parse(arena, setting.key, value, pos);
    return setting;
}

Setting *settings_parse(Arena *arena, const char *const *sets, int nsets) {
    Setting *settings = arena_array(arena, (size_t)nsets, sizeof *settings);
    show_settings(arena, sets, nsets);
    for (int i = 0; i < nsets; i++)
        settings[i] = parse_setting(arena, sets[i], i + 1);
    return settings;
}

static void assign_settings(Arena *arena, Spec *spec, const Setting *settings, int count) {
    spec->nsets = count;
    spec->sets = arena_array(arena, (size_t)count, sizeof *spec->sets);
    for (int i = 0; i < count; i++) {
        const Setting *set = &settings[i];
        if (set->value)
            key_assign(arena, spec, set->key, set->value,
                       (Origin){set->origin, set->value->pos, false});
        spec->sets[i] = set->text;
    }
}

static bool has_set(const Setting *settings, int count) {
    for (int i = 0; i < count; i++)
        if (settings[i].origin == ORIGIN_SET)
            return true;
    return false;
}

static bool works(const Spec *spec, Key key) {
    return spec_effective(spec, key) && !spec_is_late(spec, key);
}

/* --set makes a variant of the file: keys of the file that lose their effect count as inherited. */
static void apply_settings(Arena *arena, Spec *spec, const Setting *settings, int count) {
    bool worked[KEY_COUNT];
    for (int key = 0; key < KEY_COUNT; key++)
        worked[key] = works(spec, (Key)key);
    assign_settings(arena, spec, settings, count);
    for (int key = 0; key < KEY_COUNT && has_set(settings, count); key++)
        if (worked[key] && spec->origin[key].kind == ORIGIN_FILE && !works(spec, (Key)key))
            spec->origin[key].inherited = true;
}

/* ---- the whole ---- */

static void name_experiment(Arena *arena, Spec *spec) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *slash = strrchr(spec->path, '/'), *stem = slash ? slash + 1 : spec->path;
    size_t length = strlen(stem);
    if (length > 5 && !strcmp(stem + length - 5, ".toml"))
        length -= 5;
    if (!spec_given(spec, KEY_job_name))
        spec->job.name = arena_strndup(arena, stem, length);
    const char *name = spec->title = spec->name = spec->job.name;
    if (!name[0] || name[0] == '.' || name[0] == '-' || strlen(name) > 100 ||
        name[strspn(name, allowed)])
        user_error(spec_pos(spec, KEY_job_name),
                   "set job.name to at most 100 letters, digits, '_', '-' and '.', with a letter, "
                   "digit or '_' first",
                   "\"%s\" cannot name a folder under build/", name);
}

/* Inherited and swept keys may have no effect: resets them to their defaults, so that no reader has
 * to check. Repeats, because other keys may lose their effect by that. */
static void forget_vain(Arena *arena, Spec *spec) {
    bool forgotten[KEY_COUNT] = {false};
    for (bool again = true; again;) {
        again = false;
        for (int key = 0; key < KEY_COUNT; key++) {
            if (forgotten[key] || !spec_given(spec, (Key)key) || spec_effective(spec, (Key)key))
                continue;
            assign_default(arena, spec, (Key)key, spec->origin[key]);
            again = forgotten[key] = true;
        }
    }
}

Spec *spec_resolve(Arena *arena, const char *path, Pos blame, const Setting *settings, int count,
                   const ReadChain *outer) {
    Spec *spec = arena_alloc(arena, sizeof *spec);
    spec->path = path;
    spec->init_dir = spec->base_spec = "";
    set_defaults(arena, spec);
    read_file(arena, spec, path, blame, outer);
    apply_settings(arena, spec, settings, count);
    exit_if_errors();
    name_experiment(arena, spec);
    resolve_weights(arena, spec, &(ReadChain){outer, path});
    forget_vain(arena, spec);
    spec_check(arena, spec);
    spec_hash(spec);
    return spec;
}

const Toml *find_sweep(Arena *arena, const char *path, Pos blame, const ReadChain *outer) {
    chain_check(outer, path, blame);
    const Toml *root = toml_read(arena, path, blame), *extends = extended_by(root);
    const Toml *own = toml_get(root, "sweep"), *inherited = NULL;
    if (extends)
        inherited = find_sweep(arena, extends->string, extends->pos, &(ReadChain){outer, path});
    if (!own)
        return inherited;
    return inherited && own->kind == TOML_TABLE && own->count == 0 ? NULL : own;
}

static Spec *read_one(Arena *arena, const char *path, Pos blame, const Setting *settings, int count,
                      const ReadChain *outer) {
    const Toml *sweep = find_sweep(arena, path, blame, outer);
    if (sweep)
        user_error(sweep->pos, "name a spec without [sweep]",
                   "%s is a study of several experiments", path);
    Spec *spec = spec_resolve(arena, path, blame, settings, count, outer);
    refuse_in_vain(arena, spec);
    return spec;
}

Spec *spec_read_base(Arena *arena, const char *path, Pos blame, const ReadChain *outer) {
    return read_one(arena, path, blame, NULL, 0, outer);
}

Spec *spec_read(Arena *arena, const char *path, const char *const *sets, int nsets) {
    return read_one(arena, path, (Pos){0}, settings_parse(arena, sets, nsets), nsets, NULL);
}

Spec *spec_changed(Arena *arena, const Spec *spec, const char *const *sets, int nsets) {
    int count = 0;
    const char **all = arena_array(arena, (size_t)(spec->nsets + nsets), sizeof *all);
    for (int i = 0; i < spec->nsets; i++)
        all[count++] = spec->sets[i];
    for (int i = 0; i < nsets; i++)
        all[count++] = sets[i];
    const Setting *settings = settings_parse(arena, all, count);
    return spec_resolve(arena, spec->path, (Pos){0}, settings, count, NULL);
}

void refuse_in_vain(Arena *arena, const Spec *spec) {
    for (int key = 0; key < KEY_COUNT; key++)
        if (spec->in_vain[key])
            error_at(
                spec_pos(spec, (Key)key),
                arena_printf(arena, "remove it; it takes effect only with %s",
                             key_info[key].condition),
                "%s has no effect here", key_info[key].name);
    exit_if_errors();
}

Pos spec_pos(const Spec *spec, Key key) { return spec->origin[key].pos; }

bool spec_given(const Spec *spec, Key key) {
    OriginKind kind = spec->origin[key].kind;
    return kind == ORIGIN_FILE || kind == ORIGIN_SET || kind == ORIGIN_SWEEP;
}
