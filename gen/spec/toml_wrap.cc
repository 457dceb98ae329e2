/* toml++ behind a C face: parses, then copies the tree into the caller's arena.
 * No exception and no pointer of toml++ leaves this file. */
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
/* A spec is two levels deep and a sweep's lists two more. The parser and the destructors of toml++
 * recurse, so deep nesting would otherwise end in a stack overflow. */
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include "spec/toml.h"
#include <algorithm>
#include <string_view>

namespace {

/* Dotted keys nest too, and toml++ sets no limit on them. */
constexpr int MAX_DOTS_IN_LINE = 500;

struct Copier {
    Arena *arena;
    const char *file;
    TomlError *error;

    Pos pos_of(const toml::source_region &region) const
    {
        return Pos{file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
    }

    const char *copy_string(std::string_view text, Pos pos)
    {
        if (text.find('\0') != std::string_view::npos && !error->message)
            *error = TomlError{pos, "a NUL character in a string"};
        return arena_strndup(arena, text.data(), text.size());
    }

    void copy_table(const toml::table &table, Toml *out)
    {
        out->kind = TOML_TABLE;
        out->items = static_cast<Toml *>(arena_array(arena, table.size(), sizeof(Toml)));
        for (const auto &[key, node] : table) {
            Toml *item = &out->items[out->count++];
            item->key_pos = pos_of(key.source());
            item->key = copy_string(key.str(), item->key_pos);
            copy_node(node, item);
        }
        /* toml++ sorts by name; a reader expects the order of the file. */
        std::stable_sort(out->items, out->items + out->count, [](const Toml &a, const Toml &b) {
            return a.key_pos.line != b.key_pos.line ? a.key_pos.line < b.key_pos.line
                                                    : a.key_pos.col < b.key_pos.col;
        });
    }

    void copy_array(const toml::array &array, Toml *out)
    {
        out->kind = TOML_ARRAY;
        out->items = static_cast<Toml *>(arena_array(arena, array.size(), sizeof(Toml)));
        for (const toml::node &node : array)
            copy_node(node, &out->items[out->count++]);
    }

    void copy_node(const toml::node &node, Toml *out)
    {
        out->pos = pos_of(node.source());
        if (out->pos.line <= 0) /* tables that only a dotted name implies */
            out->pos = out->key_pos;
        if (const auto *table = node.as_table()) {
            copy_table(*table, out);
        } else if (const auto *array = node.as_array()) {
            copy_array(*array, out);
        } else if (const auto *string = node.as_string()) {
            out->kind = TOML_STRING;
            out->string = copy_string(string->get(), out->pos);
        } else if (const auto *integer = node.as_integer()) {
            out->kind = TOML_INT;
            out->integer = integer->get();
            out->real = static_cast<double>(out->integer);
        } else if (const auto *real = node.as_floating_point()) {
            out->kind = TOML_REAL;
            out->real = real->get();
        } else if (const auto *boolean = node.as_boolean()) {
            out->kind = TOML_BOOL;
            out->boolean = boolean->get();
        } else {
            out->kind = TOML_DATE;
        }
    }
};

bool too_many_dots(const char *file, std::string_view text, TomlError *error)
{
    int line = 1, dots = 0;
    for (char c : text) {
        if (c == '\n') {
            line++;
            dots = 0;
        } else if (c == '.' && ++dots > MAX_DOTS_IN_LINE) {
            *error = TomlError{Pos{file, line, 1}, "more than 500 dots in one line"};
            return true;
        }
    }
    return false;
}

} // namespace

Toml *toml_parse(Arena *arena, const char *file, const char *text, size_t size, TomlError *error)
{
    *error = TomlError{};
    std::string_view view{text, size};
    if (too_many_dots(file, view, error))
        return nullptr;
    toml::parse_result result = toml::parse(view);
    Copier copier{arena, file, error};
    if (!result) {
        std::string_view why = result.error().description();
        *error = TomlError{copier.pos_of(result.error().source()),
                           arena_strndup(arena, why.data(), why.size())};
        return nullptr;
    }
    Toml *root = static_cast<Toml *>(arena_alloc(arena, sizeof(Toml)));
    root->pos = Pos{file, 1, 1};
    copier.copy_table(result.table(), root);
    return error->message ? nullptr : root;
}
