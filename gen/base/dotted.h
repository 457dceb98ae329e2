/* Dotted names, such as model.layers.3.mlp.up_proj: their parts, and the numbers among these.
 * A `part` points to where a part begins within its name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

size_t part_length(const char *part);
/* Returns the end of the name after the last part. */
const char *next_part(const char *part);
/* Returns the part itself if it is the first. */
const char *previous_part(const char *name, const char *part);
/* "q_proj" for model.layers.0.self_attn.q_proj. */
const char *name_last_part(const char *name);
bool same_part(const char *a, const char *b);
/* Whether the part consists of digits. */
bool part_is_number(const char *part);

/* Returns the first part that begins with a digit or a star: a number, a range such as 8_to_10, or
 * what stands for numbers. NULL if there is none. */
const char *first_number(const char *name);

/* Length of the leading parts that both names have, without a dot at the end. */
size_t common_length(const char *a, const char *b);
/* Whether three names of equally many parts differ in at most one of them. */
bool differ_in_one_part(const char *a, const char *b, const char *c);

/* Returns the name with * for each number: "model.layers.*.mlp". */
const char *without_numbers(Arena *, const char *name);
/* Returns b, with numbers that differ from those of a replaced by *: "layers.*.mlp" for
 * layers.0.mlp and layers.1.mlp. */
const char *starred_name(Arena *, const char *a, const char *b);
/* Whether a and b differ in exactly one number, which begins at *at; also returns both numbers. */
bool differ_in_number(const char *a, const char *b, size_t *at, int *number_a, int *number_b);
/* Returns the name with * for the part that begins at `at`. */
const char *with_star(Arena *, const char *name, size_t at);
/* Returns "layers.*.mlp" and the two numbers if a and b differ in exactly one number, else NULL. */
const char *counted_name(Arena *, const char *a, const char *b, int *number_a, int *number_b);
/* Whether the name is `pattern` with a number instead of its star. */
bool number_in(const char *pattern, const char *name, int *number);
/* Returns "layers.{0..3}.mlp" for the names from layers.0.mlp to layers.3.mlp, and
 * "attn.{q_proj,v_proj}" for names whose differing parts are not consecutive numbers. Names differ
 * in at most one part. */
const char *spanned_name(Arena *, const char *const *names, int count);
