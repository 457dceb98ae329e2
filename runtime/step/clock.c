/* Measures how long each step took on the device, with one event per step.
 *
 * A step lasts from the end of the previous step to its own end, so that time in which the device
 * waits for the host is included. Events are read some steps later, when they have long happened,
 * so that nothing waits for them. */
#include "runtime/base/rt.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/step/clock.h"

#include <stdlib.h>

enum { RING = 16 };

struct RtClock {
    CUevent ends[RING]; /* event i is in ends[i % RING]: the end of step i after a restart */
    bool profiled[RING];
    int64_t recorded, read; /* events since the last restart; event 0 is the restart itself */
};

void clock_open(Rt *rt) {
    rt->clock = rt_alloc(sizeof *rt->clock);
    for (int i = 0; i < RING; i++)
        CU(EventCreate, &rt->clock->ends[i], CU_EVENT_DEFAULT);
    rt->measured.iteration_ms =
        rt_alloc((size_t)rt->program->training.steps * sizeof *rt->measured.iteration_ms);
}

void clock_close(Rt *rt) {
    for (int i = 0; i < RING; i++)
        CU(EventDestroy, rt->clock->ends[i]);
    free(rt->measured.iteration_ms);
    free(rt->clock);
    rt->measured.iteration_ms = NULL;
    rt->clock = NULL;
}

static void read_one(Rt *rt) {
    struct RtClock *clock = rt->clock;
    int64_t i = ++clock->read;
    CUevent from = clock->ends[(i - 1) % RING], to = clock->ends[i % RING];
    float ms = 0;
    rt_wait(rt, to);
    CU(EventElapsedTime, &ms, from, to);
    rt->measured.iteration_ms[rt->measured.steps++] =
        clock->profiled[i % RING] ? -(double)ms : (double)ms;
}

static void record(Rt *rt, bool profiled) {
    struct RtClock *clock = rt->clock;
    clock->profiled[clock->recorded % RING] = profiled;
    CU(EventRecord, clock->ends[clock->recorded++ % RING], rt->streams[RT_STREAM_COMPUTE]);
}

void clock_restart(Rt *rt) {
    clock_collect(rt);
    rt->clock->recorded = rt->clock->read = 0;
    record(rt, false);
}

void clock_step(Rt *rt, bool profiled) {
    if (rt->clock->recorded - rt->clock->read == RING)
        read_one(rt);
    record(rt, profiled);
}

void clock_collect(Rt *rt) {
    while (rt->clock->read + 1 < rt->clock->recorded)
        read_one(rt);
}
