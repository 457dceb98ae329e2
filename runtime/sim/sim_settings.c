/* The simulated device's settings: environment variables, so that an unchanged program can run in
 * every mode. An invalid value ends the process, because a test must not run in a different mode
 * than requested.
 */
#include "sim.h"
#include "sim_enqueue.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

SimSettings sim_settings = {
    .memory_bytes = (size_t)4 << 30, .devices = 1, .driver = CUDA_VERSION, .algorithms = 1};

static _Noreturn void refuse(const char *name, const char *value, const char *allowed) {
    fprintf(stderr, "simulated device: %s=%s is not one of %s\n", name, value, allowed);
    exit(1);
}

/* Reads "WORD:SEED". The seed is scrambled, because xorshift cannot start from 0. */
static bool seeded(const char *value, const char *word, uint64_t *state) {
    const size_t length = strlen(word);
    if (strncmp(value, word, length) || value[length] != ':')
        return false;
    char *end;
    const uint64_t seed = strtoull(value + length + 1, &end, 10);
    *state = (seed + 1) * 0x9E3779B97F4A7C15u;
    return *end == 0 && end != value + length + 1;
}

static void read_order(const char *value) {
    SimSettings *s = &sim_settings;
    if (!strcmp(value, "forward"))
        s->order = ORDER_FORWARD;
    else if (!strcmp(value, "reverse"))
        s->order = ORDER_REVERSE;
    else if (seeded(value, "random", &s->order_state))
        s->order = ORDER_RANDOM;
    else
        refuse("SIM_ORDER", value, "forward, reverse, random:SEED");
}

static void read_queue(const char *value) {
    SimSettings *s = &sim_settings;
    if (!strcmp(value, "lazy"))
        s->queue = QUEUE_LAZY;
    else if (!strcmp(value, "eager"))
        s->queue = QUEUE_EAGER;
    else if (seeded(value, "lazy", &s->queue_state))
        s->queue = QUEUE_SEEDED;
    else
        refuse("SIM_QUEUE", value, "lazy, lazy:SEED, eager");
}

static double read_number(const char *name, const char *value, double low, double high) {
    char *end;
    const double number = strtod(value, &end);
    if (*end || end == value || !(number >= low && number <= high))
        refuse(name, value, "the allowed numbers");
    return number;
}

/* Reads SIM_RAISE, such as "KILL:adam:40": a signal in the middle of the process's work. */
static void read_raise(const char *value) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"KILL:", SIGKILL}, {"STOP:", SIGSTOP}, {"TERM:", SIGTERM}};
    SimSettings *s = &sim_settings;
    const char *count = strrchr(value, ':');
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        const size_t length = strlen(signals[i].name);
        if (strncmp(value, signals[i].name, length) || count < value + length)
            continue;
        s->raise_signal = signals[i].number;
        s->raise_at = sim_need(strndup(value + length, (size_t)(count - value) - length));
    }
    if (!s->raise_at)
        refuse("SIM_RAISE", value, "KILL|STOP|TERM:OPERATION:COUNT");
    s->raise_count = (uint64_t)read_number("SIM_RAISE", count + 1, 1, 1e15);
}

void sim_settings_read(void) {
    const char *value;
    if ((value = getenv("SIM_ORDER")))
        read_order(value);
    if ((value = getenv("SIM_QUEUE")))
        read_queue(value);
    if ((value = getenv("SIM_MEMORY_GIB")))
        sim_settings.memory_bytes =
            (size_t)(read_number("SIM_MEMORY_GIB", value, 0.001, 1024) * (1 << 30));
    if ((value = getenv("SIM_DEVICES")))
        sim_settings.devices = (int)read_number("SIM_DEVICES", value, 0, 64);
    if ((value = getenv("SIM_DRIVER")))
        sim_settings.driver = (int)read_number("SIM_DRIVER", value, 11000, 99000);
    if ((value = getenv("SIM_ALGORITHMS")))
        sim_settings.algorithms = (int)read_number("SIM_ALGORITHMS", value, 1, 64);
    if ((value = getenv("SIM_RAISE")))
        read_raise(value);
    sim_settings.counts = getenv("SIM_COUNTS");
    if ((value = getenv("SIM_BUFFERS")))
        guard_read(value);
}

int sim_algorithms(void) { return sim_settings.algorithms; }

uint32_t sim_random(uint64_t *state, uint32_t bound) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (uint32_t)((x >> 32) * bound >> 32);
}

uint64_t sim_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *sim_need(void *p) {
    if (!p) {
        fprintf(stderr, "simulated device: the host is out of memory\n");
        abort();
    }
    return p;
}
