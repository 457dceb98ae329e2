/* Instructions of a step: what ptxas generates for sm_90, without fast math. Counted in SASS;
 * tests/gpu/instructions.py repeats the count for any emitted program. */
#include "plan/work.h"

/* Arithmetic in fp32. A function with a slow path, such as sin of a large argument, counts as its
 * usual path. */
static const double arithmetic[STEP_KIND_COUNT] = {
    [STEP_ADD] = 1,      [STEP_SUB] = 1,     [STEP_MUL] = 1,      [STEP_FMA] = 1,
    [STEP_MIN] = 1,      [STEP_MAX] = 1,     [STEP_LT] = 1,       [STEP_EQ] = 1,
    [STEP_GE] = 1,       [STEP_AND] = 1,     [STEP_SELECT] = 1,   [STEP_CAST] = 1,
    [STEP_FINITE] = 1,   [STEP_RINT] = 1,    [STEP_DIV] = 10,     [STEP_SQRT] = 8,
    [STEP_RSQRT] = 18,   [STEP_EXP] = 8,     [STEP_LOG] = 16,     [STEP_POW] = 50,
    [STEP_SIGMOID] = 20, [STEP_SIN] = 25,    [STEP_COS] = 25,     [STEP_COL_SUM] = 1,
    [STEP_ROW_SUM] = 1,  [STEP_ROW_MAX] = 1, [STEP_ROW_LSE] = 11, [STEP_TOTAL] = 1,
};

enum {
    ACCESS = 3,      /* a 64-bit address and the access itself */
    PACKED = 2,      /* of a number in a byte: a shift, and a mask or a sum */
    CONDITIONAL = 2, /* zeros where the condition does not hold */
    DRAW = 76,       /* ten rounds of Philox, which serve up to four elements */
    SCALING = 4,     /* of a drawn number to (0, 1] */
    APPROXIMATE = 4, /* two products or sums, and two functions of the hardware */
    DIVISION = 4,    /* of an integer by a constant: upper half of a product, and the remainder */
    SHIFT = 2,       /* by a power of two: a shift or a mask, and what negative numbers need */
    RESCALING = 10,  /* the factor for a sum of exponentials whose maximum changes, and the product */
    SINGLE = 3       /* more for an exponential that joins the sum alone: it or the sum is rescaled */
};

/* Instructions to convert between a value in memory and `real`. */
static double conversion(DType dtype, DType real) {
    if (dtype == real)
        return 0;
    return dtype == DT_BF16 || dtype == DT_F16 ? 1 : 2;
}

static double division(const Step *by) {
    int64_t n = by->kind == STEP_CONST ? (int64_t)by->constant : 0;
    return n > 0 && (n & (n - 1)) == 0 ? SHIFT : DIVISION;
}

double step_instructions(const Body *body, int step, DType real, double width) {
    const Step *s = &body->steps[step];
    bool moves = s->kind == STEP_LOAD || s->kind == STEP_STORE;
    if (moves)
        return (ACCESS + (step_args(s) && s->kind == STEP_LOAD ? CONDITIONAL : 0)) / width +
               (s->type == TYPE_REAL ? conversion(s->value->dtype, real) : 0) +
               (s->col_map == COL_PACKED ? PACKED : 0);
    if (s->kind == STEP_UNIFORM)
        return DRAW / width + SCALING;
    if (s->kind == STEP_ROUND && s->dtype == DT_BF16 && real == DT_F32)
        return 1; /* kernel.cuh: rounded */
    if (s->kind == STEP_ROUND)
        return 2 * conversion(s->dtype, real);
    if (s->type != TYPE_REAL && (s->kind == STEP_DIV || s->kind == STEP_MOD))
        return division(&body->steps[s->arg[1]]);
    if (s->approximate)
        return APPROXIMATE;
    if (s->kind == STEP_ROW_LSE)
        return arithmetic[STEP_ROW_LSE] + (width > 1 ? RESCALING / width : SINGLE);
    /* A product that a sum consumes directly is an fma. */
    return s->of_product ? 0 : arithmetic[s->kind];
}
