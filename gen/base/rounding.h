/* Integers: the smaller and the larger of two; rounded up, for b > 0 and a > -b; divisors. */
#pragma once

#include <stdint.h>

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/* The least multiple of b that is not below a. */
static inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
/* The greatest number that divides both; that of a and 0 is a. */
static inline int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
