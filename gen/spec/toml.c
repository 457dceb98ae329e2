/* The C side of TOML: reads files, and finds members in the tree. */
#include "spec/toml.h"
#include "base/diag.h"
#include "base/fileio.h"
#include <string.h>

enum { MAX_SPEC_BYTES = 1024 * 1024 };

static const char *const name_a_file =
    "name an existing TOML file; paths are relative to the working directory";

/* Of a spec on the command line, which may have been named as its experiment is. */
static const char *hint_of_name(Arena *arena, const char *name) {
    const char *const likely[] = {arena_printf(arena, "%s.toml", name),
                                  arena_printf(arena, "specs/%s", name),
                                  arena_printf(arena, "specs/%s.toml", name)};
    for (size_t i = 0; i < sizeof likely / sizeof *likely; i++)
        if (is_file(likely[i]))
            return arena_printf(arena, "did you mean %s?", likely[i]);
    return name_a_file;
}

/* Other tools take paths relative to the file that contains them; here they are relative to the
 * working directory. */
static const char *hint_of_path(Arena *arena, const char *path, Pos blame) {
    const char *slash = blame.file ? strrchr(blame.file, '/') : NULL;
    if (!blame.file)
        return hint_of_name(arena, path);
    if (!slash)
        return name_a_file;
    const char *beside =
        arena_printf(arena, "%.*s/%s", (int)(slash - blame.file), blame.file, path);
    if (!is_file(beside))
        return name_a_file;
    return arena_printf(arena, "write \"%s\": paths are relative to the working directory", beside);
}

Toml *toml_read(Arena *arena, const char *path, Pos blame) {
    char *text;
    size_t size;
    const char *why = file_read(arena, path, MAX_SPEC_BYTES, &text, &size);
    if (why)
        user_error(blame, hint_of_path(arena, path, blame), "cannot read %s: %s", path, why);
    TomlError error;
    Toml *root = toml_parse(arena, path, text, size, &error);
    if (!root)
        user_error(error.pos, "correct the syntax: the file must be TOML 1.0", "%s", error.message);
    return root;
}

const Toml *toml_get(const Toml *table, const char *key) {
    for (int i = 0; i < table->count; i++)
        if (!strcmp(table->items[i].key, key))
            return &table->items[i];
    return NULL;
}

const char *toml_kind_name(TomlKind kind) {
    static const char *const names[] = {
        [TOML_TABLE] = "a table",       [TOML_ARRAY] = "a list",
        [TOML_STRING] = "a string",     [TOML_INT] = "an integer",
        [TOML_REAL] = "a real number",  [TOML_BOOL] = "true or false",
        [TOML_DATE] = "a date or time",
    };
    return names[kind];
}
