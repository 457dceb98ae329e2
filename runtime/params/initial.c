/* Initial values of parameters that no file provides.
 *
 * A value depends only on the run's seed, the tensor's name and the element's index, not on the
 * order of tensors, on other tensors or on the number of threads.
 * Numbers come from Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as
 * 1, 2, 3; 2011). */
#include "runtime/params/params.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

enum { MOST_THREADS = 32, ELEMENTS_A_THREAD = 1 << 16 };

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

/* The elements [begin, end) that one thread draws; `host` points to element `first`. */
typedef struct {
    const RtParam *param;
    uint64_t key;
    int64_t begin, end, first;
    void *host;
} Share;

static void *draw_share(void *argument) {
    const Share *share = argument;
    RtDtype dtype = param_saved_dtype(share->param);
    for (int64_t pair = share->begin / 2; 2 * pair < share->end; pair++) {
        double both[2];
        draw_pair(share->param, share->key, (uint64_t)pair, both);
        for (int64_t i = 2 * pair; i < 2 * pair + 2; i++)
            if (i >= share->begin && i < share->end)
                rt_set(dtype, share->host, i - share->first, both[i % 2]);
    }
    return NULL;
}

static int64_t thread_count(int64_t elements) {
    int64_t most = sysconf(_SC_NPROCESSORS_ONLN), useful = elements / ELEMENTS_A_THREAD;
    if (most > MOST_THREADS)
        most = MOST_THREADS;
    return useful < 1 || most < 1 ? 1 : useful < most ? useful : most;
}

/* Uses several threads: a model of a billion weights would take minutes on one. */
static void draw(const RtParam *param, uint64_t key, int64_t first, int64_t count, void *host) {
    Share shares[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    int64_t parts = thread_count(count), each = (count / parts + 2) / 2 * 2, end = first + count;
    bool started[MOST_THREADS] = {false};
    for (int64_t i = 0; i < parts; i++) {
        int64_t begin = first + i * each;
        bool last = i == parts - 1 || begin + each > end;
        shares[i] = (Share){param, key, begin, last ? end : begin + each, first, host};
        started[i] =
            i < parts - 1 && pthread_create(&threads[i], NULL, draw_share, &shares[i]) == 0;
        if (!started[i])
            draw_share(&shares[i]);
    }
    for (int64_t i = 0; i < parts; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}

void initial_values(const RtParam *param, int64_t seed, int64_t first, int64_t count, void *host) {
    if (param->init == RT_INIT_NORMAL || param->init == RT_INIT_UNIFORM) {
        uint64_t key = name_hash(param->name) ^ (uint64_t)seed * 0x9E3779B97F4A7C15u;
        draw(param, key, first, count, host);
        return;
    }
    double value = param->init == RT_INIT_LOAD ? NAN : param->init == RT_INIT_ONES ? 1.0 : 0.0;
    for (int64_t i = 0; i < count; i++)
        rt_set(param_saved_dtype(param), host, i, value);
}
