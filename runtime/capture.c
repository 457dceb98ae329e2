/* A micro-step, a step's last micro-step with its update, and an evaluation, each captured once a
 * slot, so that running one costs the host a single call. Where the program asks for no graphs,
 * the same functions enqueue launch by launch. */
#include "runtime/comm.h"
#include "runtime/driver.h"
#include "runtime/rt.h"

#include <stdlib.h>

typedef enum { GRAPH_MICRO_STEP, GRAPH_LAST_MICRO_STEP, GRAPH_EVALUATE, GRAPHS } GraphKind;

struct RtGraphs {
    CUgraphExec execs[GRAPHS][RT_SLOTS]; /* NULL: not captured */
    RtWork work[GRAPHS];
};

static void add_collectives(RtExchanged *sum, const RtExchanged *more) {
    for (int kind = 0; kind < RT_COLLECTIVES; kind++) {
        sum[kind].count += more[kind].count;
        sum[kind].bytes += more[kind].bytes;
    }
}

static void add_work(RtWork *sum, RtWork more) {
    sum->launches += more.launches;
    sum->memsets += more.memsets;
    sum->copies += more.copies;
    sum->copy_bytes += more.copy_bytes;
    add_collectives(sum->collectives, more.collectives);
}

static RtWork enqueue(Rt *rt, GraphKind kind, int slot) {
    const RtProgram *program = rt->program;
    if (kind == GRAPH_EVALUATE)
        return rt_enqueue(rt, &program->evaluate, slot);
    rt->ends_step = kind == GRAPH_LAST_MICRO_STEP;
    RtWork work = rt_enqueue(rt, &program->micro_step, slot);
    if (kind == GRAPH_LAST_MICRO_STEP)
        add_work(&work, rt_enqueue(rt, &program->update, slot));
    return work;
}

/* Relaxed: kernels may be loaded while they are captured. */
static void capture(Rt *rt, GraphKind kind, int slot) {
    CUstream stream = rt->streams[RT_STREAM_COMPUTE];
    CUgraph graph;
    CU(StreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    rt->graphs->work[kind] = enqueue(rt, kind, slot);
    CU(StreamEndCapture, stream, &graph);
    CU(GraphInstantiateWithFlags, &rt->graphs->execs[kind][slot], graph, 0);
    CU(GraphUpload, rt->graphs->execs[kind][slot], stream);
    CU(GraphDestroy, graph);
}

void graphs_open(Rt *rt) {
    const RtProgram *program = rt->program;
    const bool wanted[GRAPHS] = {
        [GRAPH_MICRO_STEP] = program->training.micro_steps > 1,
        [GRAPH_LAST_MICRO_STEP] = true,
        [GRAPH_EVALUATE] = program->evaluate.enqueue != NULL,
    };
    rt->graphs = rt_alloc(sizeof *rt->graphs);
    if (!program->training.cuda_graph)
        return;
    for (int kind = 0; kind < GRAPHS; kind++)
        for (int slot = 0; slot < RT_SLOTS && wanted[kind]; slot++)
            capture(rt, (GraphKind)kind, slot);
}

void graphs_close(Rt *rt) {
    for (int kind = 0; kind < GRAPHS; kind++)
        for (int slot = 0; slot < RT_SLOTS; slot++)
            if (rt->graphs->execs[kind][slot])
                CU(GraphExecDestroy, rt->graphs->execs[kind][slot]);
    free(rt->graphs);
    rt->graphs = NULL;
}

/* Gives what was enqueued; `graph` tells whether by one graph launch. */
static RtWork run(Rt *rt, GraphKind kind, int slot, bool *graph) {
    CUgraphExec exec = rt->graphs->execs[kind][slot];
    RtWork work = rt->graphs->work[kind];
    *graph = exec != NULL;
    watch_enter_device(rt); /* a full queue makes the host wait */
    if (exec)
        CU(GraphLaunch, exec, rt->streams[RT_STREAM_COMPUTE]);
    else
        work = enqueue(rt, kind, slot);
    watch_leave(rt);
    return work;
}

void rt_run_micro_step(Rt *rt, int slot, bool last) {
    bool graph;
    double start = rt_now_ms();
    RtWork work = run(rt, last ? GRAPH_LAST_MICRO_STEP : GRAPH_MICRO_STEP, slot, &graph);
    RtMeasured *m = &rt->measured;
    m->launch_ms += rt_now_ms() - start;
    m->launches += work.launches;
    m->memsets += work.memsets;
    m->graph_launches += graph;
    m->copies[RT_D2D].count += work.copies;
    m->copies[RT_D2D].bytes += work.copy_bytes;
    add_collectives(m->collectives, work.collectives);
}

void rt_run_evaluate(Rt *rt, int slot) {
    bool graph;
    run(rt, GRAPH_EVALUATE, slot, &graph);
}
