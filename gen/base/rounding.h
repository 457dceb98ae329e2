/* Integers: the smaller and the larger of two; rounded up, for b > 0 and a > -b. */
#pragma once

#include <stdint.h>

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/* The least multiple of b that is not below a. */
static inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
