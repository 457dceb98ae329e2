/* Names of storages, pointers and functions in emitted C, and other pieces of its text. */
#ifndef EMIT_NAMES_H
#define EMIT_NAMES_H

#include "plan/plan.h"

enum { PAGE = 100 /* columns of a line */, MAX_INDENT = 40 };

/* Returns the name of each storage's macro in buffers.h, such as MODEL_LAYERS_0_MLP_UP_PROJ_WEIGHT,
 * indexed by storage id. Names are unique in the plan: EVALUATE_MODEL_NORM if another entry has a
 * MODEL_NORM. NULL for storages without a place. */
const char **storage_symbols(Arena *, const Plan *);
/* Returns for each storage id the first value that fills the storage, or else its first value. */
const Value **storage_values(Arena *, const Program *);

/* Returns the first storage from `from` on that the host fills with numbers known to the compiler,
 * or -1. */
int next_constant(const Plan *, const Value *const *storage_values, int from);

/* Returns short names for dotted ones, different from each other and from C keywords. Each consists
 * of as few of the last parts as make it unique; a number stays with the word before it. */
const char **local_names(Arena *, const char *const *dotted, int count);

/* "SYMBOL" or "SYMBOL + 512": the start of a value. */
const char *offset_text(Arena *, const char *const *symbols, const Value *);
/* "RT_F32". */
const char *rt_dtype(DType);
const char *group_text(Arena *, const Mesh *, RankGroup); /* "RT_REPLICATE | RT_SHARD" */
/* "f32 [1024, 128]". */
const char *shape_text(Arena *, const Value *);
/* The same; for part of another matrix "f32 [1024, 128], columns 0 to 127 of q_k_v_proj.x_u", and
 * `with_rows` the rows before the columns, if not all of them belong to it. */
const char *view_text(Arena *, const Value *, bool with_rows);
const char *size_text(Arena *, double bytes);  /* "78.3 MiB" */
const char *flops_text(Arena *, double flops); /* "1.20 GFLOP" */
/* The text in upper case, with _ for characters that identifiers cannot have. */
const char *upper_text(Arena *, const char *text);
/* These write lines of at most PAGE columns. */

/* Writes `head`, the comma-separated items and `end`. Lines after the first one are indented. */
void put_list(StrBuf *, const char *head, const char *const *items, int count, int indent,
              const char *end);
/* The same within a macro: each line but the last ends in a backslash. `end` may have one too. */
void put_macro_list(StrBuf *, const char *head, const char *const *items, int count, int indent,
                    const char *end);
/* Writes a comment in this way; `end` ends it. */
void put_remark(StrBuf *, int indent, const char *head, const char *const *items, int count,
                const char *end);
/* Writes the code with a comment after it, or before it if the line would be too long. */
void put_noted(StrBuf *, int indent, const char *code, const char *comment);
/* Writes a C string literal that begins at that column: its lines separately, and long ones in
 * pieces that end at spaces. */
void put_long_string(StrBuf *, int column, const char *text);

/* A C string literal, quotes included. */
const char *c_string(Arena *, const char *text);
void put_c_string(StrBuf *, const char *text);

#endif
