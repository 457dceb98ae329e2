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
    const char *fallback; /* the default as a spec would write it; REQUIRED; DERIVED */
    const char *range;
    bool (*effective)(const Spec *);
    const char *condition; /* what effective asks for, in words */
    const char *help;
    size_t offset, size; /* of the field in Spec */
    int nchoices;
    const char *const *choices;
} KeyInfo;

extern const KeyInfo key_info[KEY_COUNT];

/* The key of that table and leaf, or KEY_COUNT. */
Key key_find(const char *table, const char *leaf);
/* The same by dotted name; an unknown name is noted as an error, with "did you mean". */
Key key_lookup(Arena *arena, const char *name, Pos at);
/* Notes that error. */
void key_unknown(Arena *arena, const char *name, Pos at);
/* "adapter.r: integer in [1, 8192]. Rank.", for hints. */
const char *key_hint(Arena *arena, Key key);
/* "integer in [1, 8192]". */
const char *key_domain(Arena *arena, Key key);

/* Puts a value into the field. A wrong type or a value out of range is noted as an error at the value,
 * and the field stays as it was: false. */
bool key_assign(Arena *arena, Spec *spec, Key key, const Toml *value, Origin origin);
/* What a --set or a default writes behind "=": TOML, or a bare word where the key is no number. NULL,
 * and an error noted, where it is neither. */
const Toml *key_parse(Arena *arena, Key key, const char *text, Pos pos);
/* The field's value as TOML. */
void key_print(const Spec *spec, Key key, StrBuf *out);
bool key_same(const Spec *a, const Spec *b, Key key);
/* Copies the field; lists are shared. */
void key_copy(Spec *to, const Spec *from, Key key);
