/* Carries out the program's table of actions, in order. A forward or backward runs on the slots of
 * its micro-batch; exchanges that follow each other are one group for NCCL. All of it is enqueued,
 * and the host does not wait, so a whole step can be captured as one CUDA graph. */
#include "runtime/step/pipeline.h"
#include "runtime/comm/comm.h"
#include "runtime/device/device.h"
#include "runtime/device/launch.h"
#include "runtime/step/work.h"

enum { MOST_TOGETHER = 4 };

/* ---- exchanges ------------------------------------------------------------------------------- */

static bool is_exchange(RtActionKind kind) { return kind != RT_FORWARD && kind != RT_BACKWARD; }

/* The message of an exchange; the micro-batch's slot must be selected. */
static Message message_of(const Rt *rt, RtActionKind kind) {
    const RtPipeline *p = rt->program->pipeline;
    const RtTransfer *const what[] = {[RT_RECEIVE_ACTIVATION] = &p->received,
                                      [RT_SEND_ACTIVATION] = &p->sent,
                                      [RT_RECEIVE_GRADIENT] = &p->received_gradient,
                                      [RT_SEND_GRADIENT] = &p->sent_gradient};
    const bool before = kind == RT_RECEIVE_ACTIVATION || kind == RT_SEND_GRADIENT;
    const RtTransfer *transfer = what[kind];
    return (Message){.at = rt_stash(rt, transfer->offset),
                     .count = transfer->count,
                     .dtype = transfer->dtype,
                     .peer = p->stage + (before ? -1 : 1),
                     .send = kind == RT_SEND_ACTIVATION || kind == RT_SEND_GRADIENT};
}

/* Enqueues the leading run of exchanges as one group and returns their number. */
static int exchange(Rt *rt, const RtAction *actions, int left, RtWork *work) {
    Message messages[MOST_TOGETHER];
    int count = 0;
    for (; count < left && is_exchange(actions[count].kind); count++) {
        if (count == MOST_TOGETHER)
            rt_internal("more than %d exchanges in one group", MOST_TOGETHER);
        rt_select_stash(rt, actions[count].micro_batch);
        messages[count] = message_of(rt, actions[count].kind);
    }
    rt->work = (RtWork){0};
    nccl_exchange(rt, RT_PIPELINE, messages, count);
    work_add(work, rt->work);
    return count;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static bool compute(Rt *rt, const RtAction *action, int first, RtWork *work, char *found,
                    size_t found_size) {
    const RtProgram *program = rt->program;
    const RtEntry *entry = action->kind == RT_FORWARD ? &program->forward : &program->backward;
    const int slot = first + action->micro_batch;
    rt_select_stash(rt, action->micro_batch);
    if (found)
        return rt_enqueue_checked(rt, entry, slot, found, found_size);
    work_add(work, rt_enqueue(rt, entry, slot));
    return false;
}

bool pipeline_schedule(Rt *rt, int first, RtWork *work, char *found, size_t found_size) {
    const RtPipeline *p = rt->program->pipeline;
    RtObserver *observer = rt->observer;
    bool bad = false;
    for (int i = 0; i < p->action_count && !bad;) {
        const RtAction *action = &p->schedule[i];
        if (is_exchange(action->kind)) {
            i += exchange(rt, action, p->action_count - i, work);
            continue;
        }
        rt->observer = action->micro_batch == 0 ? observer : NULL;
        bad = compute(rt, action, first, work, found, found_size);
        i++;
    }
    rt->observer = observer;
    return bad;
}

RtWork pipeline_forward(Rt *rt, const RtEntry *entry, int slot) {
    const RtPipeline *p = rt->program->pipeline;
    const RtAction receive = {RT_RECEIVE_ACTIVATION, 0}, send = {RT_SEND_ACTIVATION, 0};
    RtWork work = {0};
    if (p->received.count)
        exchange(rt, &receive, 1, &work);
    rt_select_stash(rt, 0);
    work_add(&work, rt_enqueue(rt, entry, slot));
    if (p->sent.count)
        exchange(rt, &send, 1, &work);
    return work;
}
