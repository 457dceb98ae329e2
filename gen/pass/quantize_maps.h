/* The numbers that 4-bit and 8-bit codes stand for, rounded to fp32. */
#ifndef PASS_QUANTIZE_MAPS_H
#define PASS_QUANTIZE_MAPS_H

#include "base/arena.h"
#include <stdbool.h>

enum { CODES_4BIT = 16, DYNAMIC_CODES = 256 };

/* Quantiles of the normal distribution: appendix E of arXiv 2305.14314. */
const double *nf4_map(void);
/* bitsandbytes' 4-bit floats: a sign, two bits of exponent and one bit of mantissa, scaled such
 * that the largest magnitude, 12, becomes 1. Indexed by code, and therefore not ascending. */
const double *fp4_map(Arena *);
/* How bitsandbytes' CUDA kernel finds these codes (dQuantizeFP4): the bounds between the numbers in
 * ascending order, and the codes in that order. A tie goes to the smaller magnitude, and a negative
 * number that becomes zero keeps its sign. */
const double *fp4_bounds(Arena *);
const double *fp4_order(void);
/* bitsandbytes' 8-bit dynamic maps: 8-Bit Approximations for Parallelism in Deep Learning
 * (Dettmers, arXiv 1511.04561). */
const double *dynamic_map(Arena *, bool is_signed);
/* The midpoints between neighbours. */
double *map_bounds(Arena *, const double *map, int count);

#endif
