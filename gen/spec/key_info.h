/* The rows of keys.h as data, for the files of this folder. */
#pragma once
#include "spec/spec.h"
#include "spec/toml.h"

typedef enum {
    KIND_INT,
    KIND_REAL,
    KIND_REAL_OR_AUTO,
    KIND_BOOL,
    KIND_REALS,
    KIND_STRING,
    KIND_STRINGS,
    KIND_CHOICE
} KeyKind;

typedef struct {
    const char *table, *leaf, *name; /* name: "table.leaf" */
    KeyKind kind;
    const char *fallback; /* the default, a choice without quotes; REQUIRED or DERIVED */
    const char *range;
    bool (*effective)(const Spec *);
    const char *condition; /* what effective requires, in words */
    bool decides_weights;
    const char *help;
    size_t offset, size; /* of the field in Spec */
    int nchoices;
    const char *const *choices;
} KeyInfo;

extern const KeyInfo key_info[KEY_COUNT];

/* Returns the key of that table and leaf, or KEY_COUNT. */
Key key_find(const char *table, const char *leaf);
/* Like key_find, by dotted name; notes an unknown name as an error, with "did you mean". */
Key key_lookup(Arena *arena, const char *name, Pos at);
/* Notes an unknown name as an error. */
void key_unknown(Arena *arena, const char *name, Pos at);
/* Whether a spec may have this table. */
bool table_exists(const char *name);
/* The same for the name of a table. */
void table_unknown(Arena *arena, const char *name, Pos at);
/* The same for what --keys asks for, a table or the key that a bare leaf may mean. */
void part_unknown(Arena *arena, const char *name);
/* "adapter.r: integer in [1, 8192]. Rank of the adapter.", for hints. */
const char *key_hint(Arena *arena, Key key);
/* "integer in [1, 8192]". */
const char *key_domain(Arena *arena, Key key);

/* The default as one writes it in a spec. Only for keys that have one. */
const char *key_default(Arena *arena, Key key);

/* Whether the key, a number, may have this value. */
bool key_in_range(Key key, double value);

/* Assigns a value to the field. If its type is wrong or it is out of range, notes an error at the
 * value, leaves the field unchanged and returns false. */
bool key_assign(Arena *arena, Spec *spec, Key key, const Toml *value, Origin origin);
/* Parses the text after "=" in a --set, or a default: TOML, or a bare word if the key is not a
 * number. Notes an error and returns NULL if it is neither. */
const Toml *key_parse(Arena *arena, Key key, const char *text, Pos pos);
bool key_same(const Spec *a, const Spec *b, Key key);
/* Copies the field; lists are shared. */
void key_copy(Spec *to, const Spec *from, Key key);
