/* The numbers that codes of few bits stand for, as fp32 has them. */
#ifndef PASS_QUANTIZE_MAPS_H
#define PASS_QUANTIZE_MAPS_H

#include "base/arena.h"
#include <stdbool.h>

enum { CODES_4BIT = 16, DYNAMIC_CODES = 256 };

/* Quantiles of the normal distribution: appendix E of arXiv 2305.14314. */
const double *nf4_map(void);
/* bitsandbytes' floats of 4 bits, by code and so not ascending: a sign, and a magnitude of two bits of
 * exponent and one of mantissa, of which 12 is the largest and here 1. */
const double *fp4_map(Arena *);
/* How bitsandbytes' kernel for CUDA finds their codes (dQuantizeFP4): the bounds between numbers in
 * ascending order, and the codes in that order. Of a tie it takes the smaller magnitude, and what is
 * negative keeps its sign where it becomes zero. */
const double *fp4_bounds(Arena *);
const double *fp4_order(void);
/* bitsandbytes' dynamic maps of 8 bits: 8-Bit Approximations for Parallelism in Deep Learning
 * (Dettmers, arXiv 1511.04561). */
const double *dynamic_map(Arena *, bool is_signed);
/* The middles between neighbours. */
double *map_bounds(Arena *, const double *map, int count);

#endif
