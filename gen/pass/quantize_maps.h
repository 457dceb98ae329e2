/* The numbers that codes of few bits stand for, ascending, as fp32 has them. */
#ifndef PASS_QUANTIZE_MAPS_H
#define PASS_QUANTIZE_MAPS_H

#include "base/arena.h"

enum { NF4_CODES = 16, DYNAMIC_CODES = 256 };

/* Quantiles of the normal distribution: appendix E of arXiv 2305.14314. */
const double *nf4_map(void);
/* bitsandbytes' signed dynamic map of 8 bits: 8-Bit Approximations for Parallelism in Deep Learning
 * (Dettmers, arXiv 1511.04561). */
const double *dynamic_map(Arena *);
/* The middles between neighbours. */
const double *map_bounds(Arena *, const double *map, int count);

#endif
