/* Capture and graphs. A capture records operations as nodes, each with the nodes it depends on: the
 * earlier ones in its stream, and those that an event brings from another stream. A launched graph
 * runs its nodes in any order that these dependencies allow, which exposes missing dependencies.
 */
#include "sim.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Capture *captures;
static uint64_t last_id;

/* ---- Nodes ------------------------------------------------------------------------------- */

static CUgraphNode graph_add(CUgraph graph, Op *op, CUgraphNode const *after, size_t count) {
    CUgraphNode node = sim_need(calloc(1, sizeof *node));
    node->op = op;
    node->index = graph->count;
    node->dependency_count = count;
    node->dependencies = sim_need(malloc((count + 1) * sizeof *node->dependencies));
    for (size_t i = 0; i < count; i++)
        node->dependencies[i] = after[i]->index;
    if (graph->count == graph->capacity) {
        graph->capacity = graph->capacity ? 2 * graph->capacity : 64;
        graph->nodes = sim_need(realloc(graph->nodes, graph->capacity * sizeof *graph->nodes));
    }
    graph->nodes[graph->count++] = node;
    return node;
}

static void graph_free(CUgraph graph) {
    for (size_t i = 0; i < graph->count; i++) {
        op_free(graph->nodes[i]->op);
        free(graph->nodes[i]->dependencies);
        free(graph->nodes[i]);
    }
    free(graph->nodes);
    free(graph);
}

/* ---- Capture ----------------------------------------------------------------------------- */

static void set_frontier(CUstream stream, CUgraphNode const *nodes, size_t count) {
    CUgraphNode *copy = sim_need(malloc((count + 1) * sizeof *copy));
    if (count)
        memcpy(copy, nodes, count * sizeof *copy);
    free(stream->frontier);
    stream->frontier = copy;
    stream->frontier_count = count;
}

CUresult capture_push(CUstream stream, Op *op) {
    Capture *capture = stream->capture;
    if (capture->invalid) {
        op_free(op);
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    CUgraphNode node = graph_add(capture->graph, op, stream->frontier, stream->frontier_count);
    set_frontier(stream, &node, 1);
    return CUDA_SUCCESS;
}

void capture_record(CUstream stream, CUevent event) {
    const size_t count = stream->frontier_count;
    free(event->frontier);
    event->frontier = sim_need(malloc((count + 1) * sizeof *event->frontier));
    memcpy(event->frontier, stream->frontier, count * sizeof *event->frontier);
    event->frontier_count = count;
    event->capture = stream->capture;
}

static bool holds(CUgraphNode const *nodes, size_t count, CUgraphNode node) {
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

/* Makes the stream depend on the event's nodes too. A stream without a capture joins the
 * event's. */
CUresult capture_wait(CUstream stream, CUevent event) {
    if (stream->capture && stream->capture != event->capture)
        return event->capture ? CUDA_ERROR_STREAM_CAPTURE_MERGE
                              : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    if (event->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!stream->capture) {
        stream->capture = event->capture;
        set_frontier(stream, NULL, 0);
    }
    const size_t most = stream->frontier_count + event->frontier_count;
    CUgraphNode *merged = sim_need(malloc((most + 1) * sizeof *merged));
    size_t count = stream->frontier_count;
    memcpy(merged, stream->frontier, count * sizeof *merged);
    for (size_t i = 0; i < event->frontier_count; i++)
        if (!holds(merged, count, event->frontier[i]))
            merged[count++] = event->frontier[i];
    set_frontier(stream, merged, count);
    free(merged);
    return CUDA_SUCCESS;
}

static CUresult invalidate(Capture *capture, CUresult error) {
    capture->invalid = true;
    return error;
}

CUresult capture_forbids(CUstream stream) {
    return stream->capture ? invalidate(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
                           : CUDA_SUCCESS;
}

CUresult capture_forbids_unsafe(void) {
    for (Capture *c = captures; c; c = c->next)
        if (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
            (c->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && c->thread == pthread_self()))
            return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return CUDA_SUCCESS;
}

/* The legacy stream would have to wait for a blocking stream that is being captured. */
CUresult capture_forbids_legacy(void) {
    for (Capture *c = captures; c; c = c->next)
        if (!(c->origin->flags & CU_STREAM_NON_BLOCKING))
            return invalidate(c, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
    CALL("cuStreamBeginCapture");
    NEED_CONTEXT();
    CUstream stream = stream_of(handle);
    if (stream == stream->context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    Capture *capture = sim_need(calloc(1, sizeof *capture));
    *capture = (Capture){stream,  mode,           ++last_id,
                         false,   pthread_self(), sim_need(calloc(1, sizeof *capture->graph)),
                         captures};
    captures = capture;
    stream->capture = capture;
    set_frontier(stream, NULL, 0);
    return CUDA_SUCCESS;
}

/* Returns whether the end of the origin stream depends on every node. */
static bool all_joined(const Capture *capture) {
    const CUgraph graph = capture->graph;
    char *before = sim_need(calloc(graph->count + 1, 1));
    for (size_t i = 0; i < capture->origin->frontier_count; i++)
        before[capture->origin->frontier[i]->index] = 1;
    bool joined = true;
    for (size_t i = graph->count; i-- > 0;) {
        const CUgraphNode node = graph->nodes[i];
        joined &= before[i];
        for (size_t j = 0; j < node->dependency_count; j++)
            before[node->dependencies[j]] |= before[i];
    }
    free(before);
    return joined;
}

static void forget(Capture *capture) {
    for (Capture **at = &captures; *at; at = &(*at)->next)
        if (*at == capture) {
            *at = capture->next;
            break;
        }
    streams_leave(capture);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *out) {
    CALL("cuStreamEndCapture");
    NEED_CONTEXT();
    CUstream stream = stream_of(handle);
    Capture *capture = stream->capture;
    *out = NULL;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream)
        return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != pthread_self())
        return invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    CUresult error = CUDA_SUCCESS;
    if (capture->invalid)
        error = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(capture))
        error = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    forget(capture);
    if (error)
        graph_free(capture->graph);
    else
        *out = capture->graph;
    free(capture);
    return error;
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    CALL("cuStreamIsCapturing");
    NEED_CONTEXT();
    const Capture *capture = stream_of(handle)->capture;
    *status = !capture           ? CU_STREAM_CAPTURE_STATUS_NONE
              : capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
}

static CUresult capture_info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                             CUgraph *graph, const CUgraphNode **nodes, size_t *count) {
    const CUresult error = cuStreamIsCapturing(handle, status);
    if (error || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return error;
    const CUstream stream = stream_of(handle);
    if (id)
        *id = stream->capture->id;
    if (graph)
        *graph = stream->capture->graph;
    if (nodes)
        *nodes = stream->frontier;
    if (count)
        *count = stream->frontier_count;
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                CUgraph *graph, const CUgraphNode **nodes,
                                const CUgraphEdgeData **edges, size_t *count) {
    CALL("cuStreamGetCaptureInfo");
    if (edges)
        *edges = NULL;
    return capture_info(stream, status, id, graph, nodes, count);
}
#else
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                CUgraph *graph, const CUgraphNode **nodes, size_t *count) {
    CALL("cuStreamGetCaptureInfo");
    return capture_info(stream, status, id, graph, nodes, count);
}
#endif

/* ---- Graphs ------------------------------------------------------------------------------ */

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    CALL("cuGraphGetNodes");
    if (!graph || !count)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodes)
        for (size_t i = 0; i < *count; i++)
            nodes[i] = i < graph->count ? graph->nodes[i] : NULL;
    if (!nodes || *count > graph->count)
        *count = graph->count;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    CALL("cuGraphNodeGetType");
    static const CUgraphNodeType types[] = {
        [OP_KERNEL] = CU_GRAPH_NODE_TYPE_KERNEL, [OP_COPY] = CU_GRAPH_NODE_TYPE_MEMCPY,
        [OP_SET] = CU_GRAPH_NODE_TYPE_MEMSET,    [OP_HOST] = CU_GRAPH_NODE_TYPE_HOST,
        [OP_CUSTOM] = CU_GRAPH_NODE_TYPE_KERNEL, [OP_GRAPH] = CU_GRAPH_NODE_TYPE_GRAPH,
        [OP_EMPTY] = CU_GRAPH_NODE_TYPE_EMPTY};
    *type = types[node->op->kind];
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
    CALL("cuGraphDestroy");
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    graph_free(graph);
    return CUDA_SUCCESS;
}

static CUgraphExec instantiate(const struct CUgraph_st *graph) {
    CUgraphExec exec = sim_need(calloc(1, sizeof *exec));
    exec->references = 1;
    exec->traceable = sim_traceable;
    exec->graph = sim_need(calloc(1, sizeof *exec->graph));
    for (size_t i = 0; i < graph->count; i++) {
        const CUgraphNode node = graph->nodes[i];
        CUgraphNode copy = graph_add(exec->graph, op_clone(node->op), NULL, 0);
        free(copy->dependencies);
        const size_t bytes = (node->dependency_count + 1) * sizeof *copy->dependencies;
        copy->dependencies = memcpy(sim_need(malloc(bytes)), node->dependencies, bytes);
        copy->dependency_count = node->dependency_count;
    }
    return exec;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    CALL("cuGraphInstantiate");
    NEED_CONTEXT();
    /* Priorities have no effect here. */
    if (!exec || !graph ||
        flags & ~(unsigned long long)CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
        return CUDA_ERROR_INVALID_VALUE;
    *exec = instantiate(graph);
    return CUDA_SUCCESS;
}

void graph_exec_release(CUgraphExec exec) {
    if (--exec->references)
        return;
    graph_free(exec->graph);
    free(exec);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    CALL("cuGraphExecDestroy");
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    graph_exec_release(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    CALL("cuGraphUpload");
    (void)exec, (void)stream;
    NEED_CONTEXT();
    return CUDA_SUCCESS;
}

/* On a GPU this ends with an illegal address, or hangs. */
static CUresult refuse_untraceable(void) {
    fprintf(stderr, "simulated device: a graph is launched while CUPTI records, but was made before "
                    "CUPTI was initialised\n");
    return sim_sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle) {
    CALL("cuGraphLaunch");
    NEED_CONTEXT();
    CUstream stream = stream_of(handle);
    if (stream->capture)
        return capture_forbids(stream);
    if (sim_tracer && !exec->traceable)
        return refuse_untraceable();
    Op *op = op_new(OP_GRAPH);
    op->graph.exec = exec;
    exec->references++;
    counts_graph_launch();
    return stream_push(stream, op);
}

/* ---- Replay ------------------------------------------------------------------------------ */

/* The state of a launched graph: which nodes have run, and which are ready. */
struct GraphRun {
    size_t left;
    size_t *waiting; /* for each node, how many of its dependencies have not run */
    size_t *ready, ready_count;
    size_t *after, *after_start; /* for each node, the nodes that depend on it */
};

/* Lists the nodes that depend on each node i: after[after_start[i]] to
 * after[after_start[i + 1] - 1]. */
static void list_followers(GraphRun *run, const struct CUgraph_st *graph) {
    const size_t count = graph->count;
    size_t edges = 0;
    size_t *start = run->after_start = sim_need(calloc(count + 2, sizeof *start));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < graph->nodes[i]->dependency_count; j++, edges++)
            start[graph->nodes[i]->dependencies[j] + 2]++;
    for (size_t i = 2; i < count + 2; i++)
        start[i] += start[i - 1];
    run->after = sim_need(malloc((edges + 1) * sizeof *run->after));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < graph->nodes[i]->dependency_count; j++)
            run->after[start[graph->nodes[i]->dependencies[j] + 1]++] = i;
}

static GraphRun *graph_run_new(const struct CUgraph_st *graph) {
    GraphRun *run = sim_need(calloc(1, sizeof *run));
    run->left = graph->count;
    run->waiting = sim_need(malloc((graph->count + 1) * sizeof *run->waiting));
    run->ready = sim_need(malloc((graph->count + 1) * sizeof *run->ready));
    list_followers(run, graph);
    for (size_t i = 0; i < graph->count; i++) {
        run->waiting[i] = graph->nodes[i]->dependency_count;
        if (!run->waiting[i])
            run->ready[run->ready_count++] = i;
    }
    return run;
}

void graph_run_free(GraphRun *run) {
    if (!run)
        return;
    free(run->waiting);
    free(run->ready);
    free(run->after);
    free(run->after_start);
    free(run);
}

/* Chooses a ready node: the earliest captured when eager, the latest when lazy, a random one with a
 * seed. */
static size_t choose(const GraphRun *run) {
    if (sim_settings.queue == QUEUE_SEEDED)
        return sim_random(&sim_settings.queue_state, (uint32_t)run->ready_count);
    size_t best = 0;
    for (size_t i = 1; i < run->ready_count; i++)
        if ((run->ready[i] > run->ready[best]) == (sim_settings.queue == QUEUE_LAZY))
            best = i;
    return best;
}

/* Runs the ready node at position `at`, and adds the nodes that become ready. Returns false if it
 * could not run. */
static bool run_node(GraphRun *run, const struct CUgraph_st *graph, size_t at, const Op *launch,
                     CUstream stream) {
    const size_t index = run->ready[at];
    graph->nodes[index]->op->correlation = launch->correlation;
    if (op_run(graph->nodes[index]->op, stream) != RUN_DONE)
        return false;
    run->ready[at] = run->ready[--run->ready_count];
    for (size_t i = run->after_start[index]; i < run->after_start[index + 1]; i++)
        if (--run->waiting[run->after[i]] == 0)
            run->ready[run->ready_count++] = run->after[i];
    run->left--;
    return true;
}

OpRun graph_run_step(Op *op, CUstream stream) {
    const CUgraph graph = op->graph.exec->graph;
    if (!op->graph.run)
        op->graph.run = graph_run_new(graph);
    GraphRun *run = op->graph.run;
    if (!run->left || sim_sticky)
        return run->left ? RUN_MORE : RUN_DONE;
    bool ran = run_node(run, graph, choose(run), op, stream);
    for (size_t i = run->ready_count; i-- > 0 && !ran;)
        ran = run_node(run, graph, i, op, stream);
    return !ran ? RUN_BLOCKED : run->left ? RUN_MORE : RUN_DONE;
}
