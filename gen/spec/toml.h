/* TOML as a plain C tree in which every key and value knows its line and column.
 * toml_wrap.cc, the one C++ file of the compiler, fills it from toml++. */
#pragma once
#include "base/arena.h"
#include "base/pos.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TOML_TABLE,
    TOML_ARRAY,
    TOML_STRING,
    TOML_INT,
    TOML_REAL,
    TOML_BOOL,
    TOML_DATE,
} TomlKind;

typedef struct Toml Toml;
struct Toml {
    TomlKind kind;
    Pos pos;         /* of the value */
    const char *key; /* within a table; NULL in an array and at the root */
    Pos key_pos;
    const char *string; /* TOML_STRING: no NUL byte inside (refused by the reader) */
    int64_t integer;    /* TOML_INT */
    double real;        /* TOML_REAL, and TOML_INT converted */
    bool boolean;       /* TOML_BOOL */
    int count;          /* TOML_TABLE, TOML_ARRAY: members, in the order of the file */
    Toml *items;
};

typedef struct {
    Pos pos;
    const char *message; /* NULL: no error */
} TomlError;

/* Parses size bytes; file is the name used in positions (not copied). On an error returns NULL, and
 * *error says where and why. The bytes may be anything. */
Toml *toml_parse(Arena *arena, const char *file, const char *text, size_t size, TomlError *error);

#ifdef __cplusplus
}
#endif

/* Reads and parses a file; every failure is a user_error. blame is where the file is named (a
 * position in another spec, or {0} for the command line). */
Toml *toml_read(Arena *arena, const char *path, Pos blame);
/* Returns the member of that name, or NULL. */
const Toml *toml_get(const Toml *table, const char *key);
/* "an integer", "a string", ... for messages. */
const char *toml_kind_name(TomlKind kind);
