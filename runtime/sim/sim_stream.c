/* Streams: queues of operations that run as late as the host allows.
 *
 * An operation does not run when it is queued, except with SIM_QUEUE=eager. When the host waits for
 * a stream, that stream's operations run, and those of other streams only if an event requires it;
 * so a missing wait reads data that has not been written yet. With SIM_QUEUE=lazy:SEED any stream
 * that can continue may run, in an order chosen by the seed.
 */
#include "sim.h"
#include <sched.h>
#include <stdlib.h>

static CUstream streams; /* all streams of the process */
static unsigned last_id;

CUstream stream_new(CUcontext context, unsigned flags, int priority) {
    CUstream stream = sim_need(calloc(1, sizeof *stream));
    *stream = (struct CUstream_st){
        .context = context, .id = ++last_id, .flags = flags, .priority = priority, .next = streams};
    stream->last = &stream->first;
    streams = stream;
    return stream;
}

void stream_free(CUstream stream) {
    for (CUstream *at = &streams; *at; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    free(stream->frontier);
    free(stream);
}

void streams_leave(const Capture *capture) {
    for (CUstream s = streams; s; s = s->next)
        if (s->capture == capture)
            s->capture = NULL;
}

CUstream stream_of(CUstream handle) {
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return sim_context->legacy;
    return handle;
}

static void append(CUstream stream, Op *op) {
    op->next = NULL;
    *stream->last = op;
    stream->last = &op->next;
}

Mark *stream_mark(CUstream stream) {
    Op *op = op_new(OP_RECORD);
    op->mark = mark_new(stream);
    op->mark->references++;
    append(stream, op);
    return op->mark;
}

void stream_wait_mark(CUstream stream, Mark *mark) {
    if (mark->done)
        return;
    Op *op = op_new(OP_WAIT);
    op->mark = mark;
    mark->references++;
    append(stream, op);
}

static void wait_for_stream(CUstream stream, CUstream other) {
    if (!other->first)
        return;
    Mark *mark = stream_mark(other);
    stream_wait_mark(stream, mark);
    mark_release(mark);
}

/* The legacy stream waits for every blocking stream, and every blocking stream waits for it. */
static void join_legacy(CUstream stream) {
    CUstream legacy = stream->context->legacy;
    if (stream != legacy) {
        if (!(stream->flags & CU_STREAM_NON_BLOCKING))
            wait_for_stream(stream, legacy);
        return;
    }
    for (CUstream s = streams; s; s = s->next)
        if (s != legacy && s->context == legacy->context && !(s->flags & CU_STREAM_NON_BLOCKING))
            wait_for_stream(legacy, s);
}

CUresult stream_push(CUstream stream, Op *op) {
    if (stream->capture)
        return capture_push(stream, op);
    if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
        const CUresult error = capture_forbids_legacy();
        if (error && stream == stream->context->legacy) {
            op_free(op);
            return error;
        }
    }
    join_legacy(stream);
    append(stream, op);
    return sim_settings.queue == QUEUE_EAGER ? drain_stream(stream) : CUDA_SUCCESS;
}

/* ---- Draining ---------------------------------------------------------------------------- */

static bool can_run(CUstream stream) {
    const Op *op = stream->first;
    return op && !(op->kind == OP_WAIT && !op->mark->done);
}

/* Runs the first operation; of a graph, one node per call, until all have run. Returns false if
 * nothing ran. */
static bool run_first(CUstream stream) {
    Op *op = stream->first;
    const OpRun outcome = op_run(op, stream);
    if (outcome != RUN_DONE)
        return outcome == RUN_MORE;
    stream->first = op->next;
    if (!stream->first)
        stream->last = &stream->first;
    op_free(op);
    return true;
}

/* Called when a stream must wait for another process. That process may be waiting for data that
 * another stream here has to send, so other streams run too, but only after many calls: running
 * them early would hide missing waits. */
static void run_blocked(CUstream stream) {
    enum { PATIENCE = 1000 };
    static unsigned times;
    sched_yield();
    if (++times % PATIENCE)
        return;
    for (CUstream s = streams; s; s = s->next)
        if (s != stream && can_run(s) && run_first(s))
            return;
}

/* Returns the stream that must run for `stream` to make progress. */
static CUstream blocker(CUstream stream) {
    while (stream->first && !can_run(stream))
        stream = stream->first->mark->stream;
    return stream;
}

static CUstream any_that_can_run(void) {
    uint32_t count = 0;
    CUstream chosen = NULL;
    for (CUstream s = streams; s; s = s->next)
        if (can_run(s) && sim_random(&sim_settings.queue_state, ++count) == 0)
            chosen = s;
    return chosen;
}

void stream_progress(CUstream stream) {
    CUstream next = sim_settings.queue == QUEUE_SEEDED ? any_that_can_run() : blocker(stream);
    if (next && next->first && !run_first(next))
        run_blocked(next);
}

CUresult drain_stream(CUstream stream) {
    while (stream->first && !sim_sticky)
        stream_progress(stream);
    return sim_sticky;
}

CUresult drain_mark(Mark *mark) {
    while (!mark->done && !sim_sticky)
        stream_progress(mark->stream);
    return sim_sticky;
}

CUresult drain_all(void) {
    for (CUstream s = streams; s; s = s->next)
        drain_stream(s);
    return sim_sticky;
}
