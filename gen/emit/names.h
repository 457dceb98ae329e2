/* The names that emitted C gives to storages, pointers and functions, and other text of it. */
#ifndef EMIT_NAMES_H
#define EMIT_NAMES_H

#include "plan/plan.h"

enum { PAGE = 100 /* columns of a line */ };

/* Of each storage its macro in buffers.h, MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT, unique in the plan:
 * EVALUATE_MODEL_NORM where another entry has a MODEL_NORM; NULL where it has no place. Indexed
 * by storage id. */
const char **storage_symbols(Arena *, const Plan *);
/* The first value that fills each storage, else its first; indexed by storage id. */
const Value **storage_values(Arena *, const Program *);

/* The next storage from `from` on that the host fills with the compiler's own numbers; -1: none. */
int next_constant(const Plan *, const Value *const *storage_values, int from);

/* Short names for dotted ones, unique among themselves and no C keyword: as few of the last parts
 * as tell them apart; a number goes with the word before it. */
const char **local_names(Arena *, const char *const *dotted, int count);

/* b; a number in which it differs from a is written *: "layers.*.mlp" of layers.0.mlp, layers.1.mlp. */
const char *starred_name(Arena *, const char *a, const char *b);

/* "layers.*.mlp" where a and b differ in one number only, and the two numbers; else NULL. */
const char *counted_name(Arena *, const char *a, const char *b, int *number_a, int *number_b);

/* "layers.{0..3}.mlp" of the names from layers.0.mlp to layers.3.mlp, "attn.{q_proj,v_proj}" of two
 * that differ in no number. They differ in one part at the most. */
const char *spanned_name(Arena *, const char *const *names, int count);

/* "SYMBOL" or "SYMBOL + 512": where a value starts. */
const char *offset_text(Arena *, const char *const *symbols, const Value *);
/* "RT_F32". */
const char *rt_dtype(DType);
const char *group_text(Arena *, const Mesh *, RankGroup); /* "RT_REPLICATE | RT_SHARD" */
/* "RT_STATE". */
const char *rt_arena(ArenaKind);
/* "f32 [1024, 128]". */
const char *shape_text(Arena *, const Value *);
/* The same; of columns of another value "f32 [1024, 128], columns 0 to 127 of q_k_v_proj.x_u". */
const char *view_text(Arena *, const Value *);
/* The text in capitals, with _ for what cannot stand in an identifier. */
const char *upper_text(Arena *, const char *text);
/* `head`, the items and `end`, comma-separated, in lines of at most PAGE columns; those after the first
 * are indented. */
void put_list(StrBuf *, const char *head, const char *const *items, int count, int indent,
              const char *end);
/* A C string literal, quotes included. */
void put_c_string(StrBuf *, const char *text);

#endif
