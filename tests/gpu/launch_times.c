/* Measures how long each launch of a step takes on the device, with our own names for matrix
 * products, which CUPTI does not know.
 *
 *     launch_times [OPTION OF THE PROGRAM]...      prints `time NAME LAUNCHES MS` per name and step
 *
 * Linked instead of the program's own executable, like kernel_check. Graphs are off. In some steps
 * after the first, events are recorded around every launch. Before such a step the device gets dummy
 * work, so that the host runs ahead of it and no event waits for a launch. */
#include "runtime/base/rt.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"

#include <stdio.h>
#include <string.h>

enum { WARM_UP = 3, MAX_LAUNCHES = 16384, MAX_NAMES = 512, USELESS = 500 };

typedef struct {
    const char *name;
    CUevent begin, end;
} Launch;

static struct {
    bool on;
    int steps, measured; /* micro-steps begun, and those of them that were timed */
    Launch launches[MAX_LAUNCHES];
    int count, events; /* launches of the current entry; those with events */
    struct {
        const char *name;
        int launches;
        double ms;
    } sums[MAX_NAMES];
    int names;
} times;

/* ---- sums ------------------------------------------------------------------------------------ */

static void add(const char *name, double ms) {
    int i = 0;
    while (i < times.names && strcmp(times.sums[i].name, name) != 0)
        i++;
    if (i == MAX_NAMES)
        rt_internal("more than %d names", MAX_NAMES);
    times.names += i == times.names;
    times.sums[i].name = name;
    times.sums[i].launches++;
    times.sums[i].ms += ms;
}

static void collect(Rt *rt) {
    if (times.count > 0)
        rt_finish_stream(rt, RT_STREAM_COMPUTE);
    for (int i = 0; i < times.count; i++) {
        float ms = 0;
        CU(EventElapsedTime, &ms, times.launches[i].begin, times.launches[i].end);
        add(times.launches[i].name, ms);
    }
    times.count = 0;
}

/* ---- around a launch ------------------------------------------------------------------------- */

static void begin(Rt *rt, const char *name) {
    if (!times.on)
        return;
    if (times.count == MAX_LAUNCHES)
        rt_internal("more than %d launches", MAX_LAUNCHES);
    Launch *launch = &times.launches[times.count];
    if (times.count == times.events) {
        CU(EventCreate, &launch->begin, CU_EVENT_DEFAULT);
        CU(EventCreate, &launch->end, CU_EVENT_DEFAULT);
        times.events++;
    }
    launch->name = name;
    CU(EventRecord, launch->begin, rt->streams[rt->stream]);
}

static void end(Rt *rt) {
    if (times.on)
        CU(EventRecord, times.launches[times.count++].end, rt->streams[rt->stream]);
}

void __real_rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]);
void __wrap_rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]);
void __wrap_rt_launch(Rt *rt, int kernel, RtGrid grid, void *args[]) {
    begin(rt, rt->program->kernels[kernel].name);
    __real_rt_launch(rt, kernel, grid, args);
    end(rt);
}

void __real_rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c);
void __wrap_rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c);
void __wrap_rt_gemm(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c) {
    begin(rt, rt->program->gemms[gemm].name);
    __real_rt_gemm(rt, gemm, a, b, c);
    end(rt);
}

void __real_rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias);
void __wrap_rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias);
void __wrap_rt_gemm_bias(Rt *rt, int gemm, RtPtr a, RtPtr b, RtPtr c, RtPtr bias) {
    begin(rt, rt->program->gemms[gemm].name);
    __real_rt_gemm_bias(rt, gemm, a, b, c, bias);
    end(rt);
}

void __real_rt_zero(Rt *rt, RtPtr to, size_t bytes);
void __wrap_rt_zero(Rt *rt, RtPtr to, size_t bytes);
void __wrap_rt_zero(Rt *rt, RtPtr to, size_t bytes) {
    begin(rt, "memset");
    __real_rt_zero(rt, to, bytes);
    end(rt);
}

void __real_rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes);
void __wrap_rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes);
void __wrap_rt_copy(Rt *rt, RtPtr to, RtPtr from, size_t bytes) {
    begin(rt, "copy");
    __real_rt_copy(rt, to, from, bytes);
    end(rt);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* No one uses the workspace of products between products. */
static void keep_busy(Rt *rt) {
    const RtProgram *program = rt->program;
    for (int i = 0; i < USELESS && program->gemm_workspace_bytes > 0; i++)
        CU(MemsetD8Async, rt_scratch(rt, program->gemm_workspace), 0, program->gemm_workspace_bytes,
           rt->streams[RT_STREAM_COMPUTE]);
}

RtWork __real_rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
RtWork __wrap_rt_enqueue(Rt *rt, const RtEntry *entry, int slot);
RtWork __wrap_rt_enqueue(Rt *rt, const RtEntry *entry, int slot) {
    bool micro_step = entry == &rt->program->micro_step && !rt->dry;
    bool update = entry == &rt->program->update && !rt->dry;
    times.steps += micro_step;
    times.on = (micro_step || update) && times.steps > WARM_UP;
    if (times.on && micro_step) {
        collect(rt);
        times.measured++;
        keep_busy(rt);
    }
    RtWork work = __real_rt_enqueue(rt, entry, slot);
    times.on = false;
    return work;
}

void __real_graphs_close(Rt *rt);
void __wrap_graphs_close(Rt *rt);
void __wrap_graphs_close(Rt *rt) {
    collect(rt);
    for (int i = 0; i < times.events; i++) {
        CU(EventDestroy, times.launches[i].begin);
        CU(EventDestroy, times.launches[i].end);
    }
    double steps = (double)times.measured / (double)rt->program->training.micro_steps;
    for (int i = 0; i < times.names; i++)
        printf("time %s %g %.6f\n", times.sums[i].name, times.sums[i].launches / steps,
               times.sums[i].ms / steps);
    __real_graphs_close(rt);
}

int __real_rt_main(const RtProgram *program, int argc, char **argv);
int __wrap_rt_main(const RtProgram *program, int argc, char **argv);
int __wrap_rt_main(const RtProgram *program, int argc, char **argv) {
    RtProgram uncaptured = *program;
    uncaptured.training.cuda_graph = false;
    return __real_rt_main(&uncaptured, argc, argv);
}
