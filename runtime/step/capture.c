/* Captures each phase once per slot, so that running one costs the host a single call. If the
 * program uses no graphs, the same functions enqueue launch by launch. */
#include "runtime/base/rt.h"
#include "runtime/base/watch.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"
#include "runtime/step/capture.h"
#include "runtime/step/pipeline.h"
#include "runtime/step/work.h"

#include <stdlib.h>

struct RtGraphs {
    CUgraphExec *execs[RT_PHASES]; /* [slot_count]; NULL: not captured */
    RtWork work[RT_PHASES];
};

int phase_begin(Rt *rt, RtPhase phase, const RtEntry *entries[RT_PHASE_ENTRIES]) {
    const RtProgram *program = rt->program;
    const RtEntry *const first[RT_PHASES] = {
        [RT_PHASE_REPLICATE] = &program->replicate,
        [RT_PHASE_MICRO_STEP] = &program->micro_step,
        [RT_PHASE_LAST_MICRO_STEP] = &program->micro_step,
        [RT_PHASE_EARLY_MICRO_STEP] = &program->early_micro_step,
        [RT_PHASE_LAST_EARLY_MICRO_STEP] = &program->early_micro_step,
        [RT_PHASE_COLLECT] = &program->collect,
        [RT_PHASE_LAST_COLLECT] = &program->collect,
        [RT_PHASE_STEP] = &program->update,
        [RT_PHASE_EVALUATE] = &program->evaluate,
        [RT_PHASE_EVALUATE_CONVERTED] = &program->evaluate_converted,
    };
    bool ends = phase == RT_PHASE_LAST_MICRO_STEP || phase == RT_PHASE_LAST_EARLY_MICRO_STEP;
    bool last = ends || phase == RT_PHASE_LAST_COLLECT;
    entries[0] = first[phase];
    entries[1] = &program->update;
    rt->ends_step = ends;
    return last ? 2 : 1;
}

static RtWork enqueue(Rt *rt, RtPhase phase, int slot) {
    const RtEntry *entries[RT_PHASE_ENTRIES];
    RtWork work = {0};
    bool evaluates = phase == RT_PHASE_EVALUATE || phase == RT_PHASE_EVALUATE_CONVERTED;
    if (phase == RT_PHASE_STEP)
        pipeline_schedule(rt, slot, &work, NULL, 0);
    int count = phase_begin(rt, phase, entries);
    if (evaluates && rt->program->pipeline)
        return pipeline_forward(rt, entries[0], slot);
    for (int i = 0; i < count; i++)
        work_add(&work, rt_enqueue(rt, entries[i], slot));
    return work;
}

/* Relaxed mode, since kernels may be loaded during capture. Kernels keep the priority of the stream
 * that they were captured from. */
static void capture(Rt *rt, RtPhase phase, int slot) {
    CUstream stream = rt->streams[RT_STREAM_COMPUTE];
    CUgraph graph;
    CU(StreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    rt->capturing = true;
    rt->graphs->work[phase] = enqueue(rt, phase, slot);
    rt->capturing = false;
    CU(StreamEndCapture, stream, &graph);
    CU(GraphInstantiateWithFlags, &rt->graphs->execs[phase][slot], graph,
       CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    CU(GraphUpload, rt->graphs->execs[phase][slot], stream);
    CU(GraphDestroy, graph);
}

/* The number of input slots that a phase is captured for; 0: this card never runs it. */
static int slots_of(const Rt *rt, RtPhase phase) {
    bool first = rt->card == 0, together = rt->card_count > 1;
    bool several = rt->program->training.micro_steps > 1, stage = rt->program->pipeline;
    bool early = rt->program->early_micro_step.enqueue;
    switch (phase) {
    case RT_PHASE_REPLICATE:
        return !first;
    case RT_PHASE_MICRO_STEP:
        return !stage && (several || together) ? RT_SLOTS : 0;
    case RT_PHASE_LAST_MICRO_STEP:
        return stage || together ? 0 : RT_SLOTS;
    case RT_PHASE_EARLY_MICRO_STEP:
        return early && several ? RT_SLOTS : 0;
    case RT_PHASE_LAST_EARLY_MICRO_STEP:
        return early ? RT_SLOTS : 0;
    case RT_PHASE_STEP:
        return stage ? rt->slot_count : 0;
    case RT_PHASE_COLLECT:
        return first && together && several;
    case RT_PHASE_LAST_COLLECT:
        return first && together;
    case RT_PHASE_EVALUATE:
        return first && rt->program->evaluate.enqueue ? RT_SLOTS : 0;
    case RT_PHASE_EVALUATE_CONVERTED:
        return first && rt->program->evaluate_converted.enqueue ? RT_SLOTS : 0;
    case RT_PHASES:
        break;
    }
    return 0;
}

void graphs_open(Rt *rt) {
    rt->graphs = rt_alloc(sizeof *rt->graphs);
    for (int phase = 0; phase < RT_PHASES; phase++) {
        int every = phase == RT_PHASE_STEP ? (int)rt->program->training.micro_steps : 1;
        rt->graphs->execs[phase] = rt_alloc((size_t)rt->slot_count * sizeof(CUgraphExec));
        for (int slot = 0; slot < slots_of(rt, (RtPhase)phase); slot += every)
            if (rt->program->training.cuda_graph)
                capture(rt, (RtPhase)phase, slot);
    }
}

void graphs_close(Rt *rt) {
    for (int phase = 0; phase < RT_PHASES; phase++) {
        for (int slot = 0; slot < rt->slot_count; slot++)
            if (rt->graphs->execs[phase][slot])
                CU(GraphExecDestroy, rt->graphs->execs[phase][slot]);
        free(rt->graphs->execs[phase]);
    }
    free(rt->graphs);
    rt->graphs = NULL;
}

static void count(RtMeasured *m, const RtWork *work) {
    RtCopies *copies = &m->copies[RT_D2D];
    m->launches += work->launches;
    m->memsets += work->memsets;
    copies->count += work->copies;
    copies->bytes += work->copy_bytes;
    for (int i = 0; i < RT_PURPOSES; i++) {
        copies->count += work->peer[i].count;
        copies->bytes += work->peer[i].bytes;
    }
    exchanged_add(m->collectives, work->collectives, RT_COLLECTIVES);
    exchanged_add(m->peer, work->peer, RT_PURPOSES);
}

static void tell_watchdog(const RtWork *work) {
    for (int kind = 0; kind < RT_COLLECTIVES; kind++)
        if (work->collectives[kind].count > 0)
            watch_enqueued((RtCollective)kind);
}

/* Phases that do not depend on the slot are captured only for slot 0. */
void rt_run_phase(Rt *rt, RtPhase phase, int slot) {
    CUgraphExec exec = rt->graphs->execs[phase][slots_of(rt, phase) > 1 ? slot : 0];
    RtWork work = rt->graphs->work[phase];
    RtMeasured *m = &rt->first->measured;
    double start = rt_now_ms();
    if (exec)
        tell_watchdog(&work);
    watch_enter_device(rt); /* a full queue makes the host wait */
    if (exec)
        CU(GraphLaunch, exec, rt->streams[RT_STREAM_COMPUTE]);
    else
        work = enqueue(rt, phase, slot);
    watch_leave(rt);
    m->launch_ms += rt_now_ms() - start;
    m->graph_launches += exec != NULL;
    count(m, &work);
}
