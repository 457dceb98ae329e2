/* First values of parameters that no file gives.
 *
 * A value depends on the run's seed, the tensor's name and the element's index, so neither the
 * order of tensors nor what else there is changes it. Numbers come from Philox4x32-10 (Salmon,
 * Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; 2011). */
#include "runtime/params.h"

#include <math.h>

static uint64_t name_hash(const char *name) { /* FNV-1a */
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

static void philox(uint64_t key, uint64_t counter, uint32_t out[4]) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t x[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * x[0], p1 = (uint64_t)0xCD9E8D57u * x[2];
        uint32_t y0 = (uint32_t)(p1 >> 32) ^ x[1] ^ k0, y2 = (uint32_t)(p0 >> 32) ^ x[3] ^ k1;
        x[0] = y0, x[1] = (uint32_t)p1, x[2] = y2, x[3] = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = x[i];
}

/* In (0, 1), 53 bits. */
static double unit(uint32_t high, uint32_t low) {
    uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return ((double)bits + 0.5) * 0x1p-53;
}

/* Two independent values for elements 2*pair and 2*pair + 1. */
static void draw_pair(const RtParam *param, uint64_t key, uint64_t pair, double out[2]) {
    uint32_t bits[4];
    philox(key, pair, bits);
    double u0 = unit(bits[0], bits[1]), u1 = unit(bits[2], bits[3]);
    if (param->init == RT_INIT_NORMAL) { /* Box and Muller */
        double radius = param->init_scale * sqrt(-2.0 * log(u0)), angle = 2.0 * M_PI * u1;
        out[0] = radius * cos(angle);
        out[1] = radius * sin(angle);
    } else {
        out[0] = param->init_scale * (2.0 * u0 - 1.0);
        out[1] = param->init_scale * (2.0 * u1 - 1.0);
    }
}

void initial_values(const RtParam *param, int64_t seed, void *host) {
    RtDtype dtype = param_saved_dtype(param);
    int64_t count = param_elements(param);
    bool random = param->init == RT_INIT_NORMAL || param->init == RT_INIT_UNIFORM;
    if (!random) {
        for (int64_t i = 0; i < count; i++)
            rt_set(dtype, host, i, param->init == RT_INIT_ONES ? 1.0 : 0.0);
        return;
    }
    uint64_t key = name_hash(param->name) ^ (uint64_t)seed * 0x9E3779B97F4A7C15u;
    for (int64_t i = 0; i < count; i += 2) {
        double pair[2];
        draw_pair(param, key, (uint64_t)i / 2, pair);
        rt_set(dtype, host, i, pair[0]);
        if (i + 1 < count)
            rt_set(dtype, host, i + 1, pair[1]);
    }
}
