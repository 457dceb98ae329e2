/* Losses and gradient norms are copied to pinned memory in pieces, after the steps that made them;
 * only the next request waits for a copy. */
#include "runtime/base/rt.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/params/params.h"
#include "runtime/step/history.h"

#include <math.h>
#include <stdlib.h>

struct RtHistory {
    CUevent arrived;
    bool pending;
    int64_t requested; /* steps that are known once `arrived` has happened */
    int32_t *bad_step; /* pinned */
};

/* Allocates at least one byte: a program with no steps only evaluates. */
static void *pinned(size_t bytes) {
    void *memory = NULL;
    CU(MemHostAlloc, &memory, bytes + !bytes, 0);
    return memory;
}

void history_open(Rt *rt) {
    struct RtHistory *history = rt->history = rt_alloc(sizeof *history);
    size_t bytes = (size_t)rt->program->training.steps * rt_dtype_bytes(rt->program->real);
    rt->losses = pinned(bytes);
    rt->grad_norms = pinned(bytes);
    for (int i = 0; i < rt->program->metric_count; i++)
        if (rt->program->metrics[i].each_step)
            rt->step_metrics[i] = pinned(bytes);
    const RtTraining *training = &rt->program->training;
    rt->rates = rt_alloc((size_t)training->steps * sizeof *rt->rates);
    for (int64_t i = 0; i < training->steps; i++)
        rt->rates[i] = rt_learning_rate(training, i);
    history->bad_step = pinned(sizeof *history->bad_step);
    *history->bad_step = -1;
    CU(EventCreate, &history->arrived, CU_EVENT_DISABLE_TIMING);
}

void history_close(Rt *rt) {
    CU(EventDestroy, rt->history->arrived);
    CU(MemFreeHost, rt->history->bad_step);
    for (int i = 0; i < rt->program->metric_count; i++)
        if (rt->step_metrics[i])
            CU(MemFreeHost, rt->step_metrics[i]);
    CU(MemFreeHost, rt->grad_norms);
    CU(MemFreeHost, rt->losses);
    free(rt->rates);
    free(rt->history);
    rt->history = NULL;
}

static void fetch(Rt *rt, size_t offset, size_t bytes, void *host) {
    CU(MemcpyDtoHAsync, host, rt_state(rt, offset), bytes, rt->streams[RT_STREAM_COMPUTE]);
    RtCopies *copies = &rt->measured.copies[RT_D2H];
    copies->count++;
    copies->pinned++;
    copies->bytes += (int64_t)bytes;
}

void history_request(Rt *rt) {
    struct RtHistory *history = rt->history;
    const RtCounters *at = &rt->program->counters;
    size_t size = rt_dtype_bytes(rt->program->real);
    size_t from = (size_t)rt->known_steps * size, bytes = (size_t)rt->step * size - from;
    if (bytes == 0)
        return;
    fetch(rt, at->loss + from, bytes, (char *)rt->losses + from);
    fetch(rt, at->grad_norm + from, bytes, (char *)rt->grad_norms + from);
    for (int i = 0; i < rt->program->metric_count; i++)
        if (rt->step_metrics[i])
            fetch(rt, rt->program->metrics[i].history + from, bytes,
                  (char *)rt->step_metrics[i] + from);
    fetch(rt, at->bad_step, sizeof *history->bad_step, history->bad_step);
    CU(EventRecord, history->arrived, rt->streams[RT_STREAM_COMPUTE]);
    history->requested = rt->step;
    history->pending = true;
}

static bool has_happened(CUevent event) {
    CUresult result = cu.EventQuery(event);
    if (result != CUDA_ERROR_NOT_READY)
        driver_check(result, "cuEventQuery");
    return result == CUDA_SUCCESS;
}

bool history_arrived(Rt *rt, bool wait) {
    struct RtHistory *history = rt->history;
    if (!history->pending)
        return false;
    if (wait)
        rt_wait(rt, history->arrived);
    else if (!has_happened(history->arrived))
        return false;
    history->pending = false;
    rt->known_steps = history->requested;
    return true;
}

void history_complete(Rt *rt) {
    history_arrived(rt, true);
    history_request(rt);
    history_arrived(rt, true);
}

int64_t history_bad_step(const Rt *rt) {
    return rt->history->pending ? -1 : *rt->history->bad_step;
}
