/* Every operation rounds to fp32, as in the original computation of these maps. */
#include "pass/quantize_maps.h"

#include <math.h>
#include <stdlib.h>

const double *nf4_map(void) {
    static const double map[CODES_4BIT] = {
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    };
    return map;
}

enum { MAGNITUDES = CODES_4BIT / 2 };

const double *fp4_map(Arena *arena) {
    static const float magnitude[MAGNITUDES] = {0, 0.0625f, 8, 12, 4, 6, 2, 3};
    double *map = arena_array(arena, CODES_4BIT, sizeof *map);
    for (int i = 1; i < MAGNITUDES; i++) {
        map[i] = magnitude[i] / 12;
        map[MAGNITUDES + i] = -map[i];
    }
    return map;
}

const double *fp4_order(void) {
    static const double order[CODES_4BIT] = {11, 10, 13, 12, 15, 14, 9, 8, 0, 1, 6, 7, 4, 5, 2, 3};
    return order;
}

/* The bounds between magnitudes have the kernel's own digits. A number passes a bound if it lies
 * above it; below zero, where a tie goes up, the bound is therefore the next lower number. */
const double *fp4_bounds(Arena *arena) {
    static const float above[MAGNITUDES - 1] = {0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f,
                                                0.4166667f,  0.583333f,  0.8333333f};
    double *bounds = arena_array(arena, CODES_4BIT, sizeof *bounds);
    bounds[MAGNITUDES - 1] = nextafterf(0, -1);
    for (int i = 0; i < MAGNITUDES - 1; i++) {
        bounds[MAGNITUDES + i] = above[i];
        bounds[MAGNITUDES - 2 - i] = nextafterf(-above[i], -1);
    }
    return bounds;
}

double *map_bounds(Arena *arena, const double *map, int count) {
    double *bounds = arena_array(arena, (size_t)count, sizeof *bounds);
    for (int i = 0; i + 1 < count; i++)
        bounds[i] = ((float)map[i] + (float)map[i + 1]) / 2.0f;
    return bounds;
}

/* Number i of `count` numbers from 0.1 to 1, counted from the nearer end and rounded once, as
 * torch.linspace does. */
static float between(int i, int count) {
    float step = (1.0f - 0.1f) / (float)(count - 1);
    return i < count / 2 ? fmaf(step, (float)i, 0.1f) : fmaf(-step, (float)(count - 1 - i), 1.0f);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A code has a sign if is_signed, a power of ten from -6 to 0 that takes one more bit for each step
 * down, and in the remaining bits the midpoint of one of equally many equal parts of [0.1, 1]. */
const double *dynamic_map(Arena *arena, bool is_signed) {
    enum { EXPONENTS = 7 };
    double *map = arena_array(arena, DYNAMIC_CODES, sizeof *map);
    int count = 0;
    for (int i = 0; i < EXPONENTS; i++) {
        int parts = is_signed ? 1 << i : 2 << i;
        float power = (float)pow(10, i + 1 - EXPONENTS);
        for (int k = 0; k < parts; k++) {
            float middle = (between(k, parts + 1) + between(k + 1, parts + 1)) / 2.0f;
            map[count++] = power * middle;
            if (is_signed)
                map[count++] = -power * middle;
        }
    }
    map[count++] = 0;
    map[count++] = 1;
    qsort(map, DYNAMIC_CODES, sizeof *map, ascending);
    return map;
}
