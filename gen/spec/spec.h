/* The typed experiment: spec->model.hidden_size, spec->adapter.r, ... Every field comes from a
 * row of keys.h. A Spec is complete and consistent once spec_read returns it, and const from
 * then on. */
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "spec/keys.h"
#include <stdbool.h>
#include <stdint.h>

/* One enum per list of choices: Precision { PRECISION_FP64, ... }, Task { TASK_PRETRAIN, ... }. */
#define ENUM_CONSTANT(constant, spelling) constant,
#define DECLARE_ENUM(Name, LIST) typedef enum { LIST(ENUM_CONSTANT) } Name;
CHOICES(DECLARE_ENUM)
#undef DECLARE_ENUM
#undef ENUM_CONSTANT

/* parallelism.shard_stage: ranks shard this and everything before it. */
enum { SHARD_STATES = 1, SHARD_GRADIENTS, SHARD_WEIGHTS };

typedef struct {
    int count;
    const char **items;
    Pos *at; /* [count] where each was written */
} Strings;

typedef struct {
    int count;
    const double *items;
} Reals;

/* Identifiers of keys: KEY_model_hidden_size, ... Lower case because they are made from the names
 * in a spec. */
#define KEY_ID(table, leaf, ...) KEY_##table##_##leaf,
#define TABLE_IDS(table, KEYS) KEYS(KEY_ID)
typedef enum { SPEC_TABLES(TABLE_IDS) KEY_COUNT } Key;
#undef TABLE_IDS
#undef KEY_ID

typedef enum {
    ORIGIN_DEFAULT, /* the key table, or derived from other keys */
    ORIGIN_FILE,    /* the spec, or one that it extends */
    ORIGIN_SET,     /* --set */
    ORIGIN_SWEEP,   /* a point of [sweep] */
    ORIGIN_CONFIG,  /* config.json */
    ORIGIN_BASE,    /* the spec that model.weights names */
} OriginKind;

typedef struct {
    OriginKind kind;
    Pos pos;        /* of the value */
    bool inherited; /* through extends, or left without effect by a --set */
} Origin;

#define FIELD_INT int64_t
#define FIELD_REAL double
#define FIELD_REAL_OR_AUTO double
#define FIELD_BOOL bool
#define FIELD_STRING const char *
#define FIELD_STRINGS Strings
#define FIELD_REALS Reals
#define FIELD_CHOICE(Enum) Enum
#define FIELD(table, leaf, TYPE, ...) FIELD_##TYPE leaf;
#define TABLE_FIELDS(table, KEYS) \
    struct {                      \
        KEYS(FIELD)               \
    } table;

typedef struct Spec {
    SPEC_TABLES(TABLE_FIELDS)
    const char *path;     /* the file, as the user named it */
    const char *name;     /* [job] name, or the file's name without folder and .toml */
    const char *title;    /* the name, or NAME/POINT at a point of a study: of the program */
    const char *init_dir; /* folder with the initial weights; "": initialized at random */
    const char
        *base_spec; /* the spec that trains init_dir when model.weights is FILE.toml, or "" */
    bool weights_quantized;   /* init_dir holds quantized weights */
    int64_t stored_images;    /* in data.train and data.validation; 0: not counted */
    const char *resident_why; /* why data.device_resident has its value; auto: the plan decides */
    int nsets;                /* set by the user and the sweep: KEY=VALUE, in order */
    const char **sets;
    char sha256[SHA256_HEX_SIZE]; /* of every resolved value that has an effect */
    char recipe_sha256[SHA256_HEX_SIZE]; /* of those that the trained weights depend on */
    Origin origin[KEY_COUNT];
    bool in_vain[KEY_COUNT]; /* given, but without effect: only possible at a point of a
                                sweep */
} Spec;
#undef TABLE_FIELDS
#undef FIELD
#undef FIELD_CHOICE
#undef FIELD_STRINGS
#undef FIELD_REALS
#undef FIELD_STRING
#undef FIELD_BOOL
#undef FIELD_REAL_OR_AUTO
#undef FIELD_REAL
#undef FIELD_INT

/* Reads, resolves (extends, sets, config.json, the base spec) and checks one experiment; sets are
 * KEY=VALUE. Every error is a user_error. A spec with a [sweep] is read with sweep.h. */
Spec *spec_read(Arena *arena, const char *path, const char *const *sets, int nsets);

/* Reads the experiment again with further settings, KEY=VALUE. A key that loses its effect by them
 * is no error. */
Spec *spec_changed(Arena *arena, const Spec *spec, const char *const *sets, int nsets);

/* Returns a copy in which data.device_resident is true or false instead of "auto". */
const Spec *spec_settle_resident(Arena *arena, const Spec *spec, bool resident, const char *why);

/* Returns a copy for a single card with its own batches, which has no communication to wait for and
 * does not share anything out. It has no name: experiments that differ only in names and cards get
 * copies with the same hash. */
const Spec *spec_for_one_card(Arena *arena, const Spec *spec);

/* Returns where the key's value was written, for user_error; for a default, the file as a whole. */
Pos spec_pos(const Spec *spec, Key key);
/* Whether the user wrote the key (spec, extended spec, --set, sweep). */
bool spec_given(const Spec *spec, Key key);
/* Whether the key has any effect in this experiment. */
bool spec_effective(const Spec *spec, Key key);
/* Whether all degrees in [parallelism] are 1. */
bool spec_on_one_card(const Spec *spec);
/* Names the tensor_parallel_degrees nearest to `degree` that divide a width. */
const char *spec_nearest_degrees(Arena *arena, int64_t width, int64_t degree);
/* Returns how many processes train together. */
int64_t spec_ranks(const Spec *spec);
/* Whether a strategy is on: its degree is above 1, or one_rank_collectives names it. */
bool spec_replicates(const Spec *spec);
bool spec_shards(const Spec *spec);
bool spec_splits_tensors(const Spec *spec);
/* The key that splits tensors: the degree's, or one_rank_collectives. */
Key spec_splitting_key(const Spec *spec);
/* Whether no strategy is on, so that the program has no collectives. */
bool spec_trains_alone(const Spec *spec);
/* Whether the device is sent what is in JPEG files, in slots, if data.jpeg_pixels is above 0. */
bool spec_sends_slots(const Spec *spec);
/* Whether random crops may be taken from whole pictures. */
bool spec_may_cut_pictures(const Spec *spec);
/* Returns the tokens, or images, in a micro-batch; for pairs, those of both sequences. */
int64_t spec_micro_batch_tokens(const Spec *spec);
/* "model.hidden_size". */
const char *key_name(Key key);
/* "hidden_size". */
const char *key_leaf(Key key);
/* Prints the key's value as TOML. */
void key_print(const Spec *spec, Key key, StrBuf *out);
/* The size that a held-out image is resized to, and where the model's square begins in it. */
typedef struct {
    int64_t height, width, top, left;
} CenterCrop;
CenterCrop spec_center_crop(const Spec *spec);
/* Returns a choice as a spec spells it: choice_name(KEY_precision_dtype, PRECISION_BF16) is
 * "bf16". */
const char *choice_name(Key key, int value);

/* Prints the resolved spec as TOML, with each value's origin. Reads back as the same experiment. */
void spec_print(const Spec *spec, StrBuf *out);
/* The same without origins and without keys that have no effect. */
void spec_print_values(const Spec *spec, StrBuf *out);
/* Prints lines "model.hidden_size = 64": all keys that, with the weights, determine the model's
 * output. */
void spec_print_forward(const Spec *spec, StrBuf *out);
/* Prints the keys of [model] that say what the model is as a JSON object: the config.json of a
 * model for which Hugging Face has no format. model.weights = DIR reads it back. */
void spec_print_model(const Spec *spec, StrBuf *out);
/* Prints the reference of all keys, or only of those of a table, or of one: "compile.fusion". A name
 * that does not exist is a user_error. */
void spec_print_keys(const char *name, StrBuf *out);
