/* Several cards in one process.
 *
 * Each card is an Rt with its own context, arenas, streams, GEMMs and graphs. Program, options,
 * loader and measurements are the first card's. The other cards hold only the part of STATE that a
 * micro-step uses; optimizer state, checkpoints, evaluation and reports belong to the first card.
 *
 * A micro-step of all cards, each with its own batch:
 *
 *     others      wait for the first   replicate          micro_step
 *     first                            wait for replicas  micro_step  wait for the others  collect
 *
 * Cards wait for each other by events outside the graphs; the host waits for none of them. */
#include "runtime/step/cards.h"
#include "runtime/device/device.h"
#include "runtime/device/driver.h"
#include "runtime/device/launch.h"
#include "runtime/step/input.h"

#include <stdlib.h>

typedef struct {
    CUevent replicated, done; /* on the card's compute stream */
} Milestones;

struct RtCards {
    CUevent ready; /* on the first card's compute stream: the others may copy its weights */
    Rt **card;     /* [rt->card_count] */
    Milestones *at;
};

static CUevent event_new(void) {
    CUevent event;
    CU(EventCreate, &event, CU_EVENT_DISABLE_TIMING);
    return event;
}

static void enter(const Rt *card) { CU(CtxSetCurrent, card->context); }

static CUstream compute(const Rt *card) { return card->streams[RT_STREAM_COMPUTE]; }

/* ---- opening and closing --------------------------------------------------------------------- */

/* Copies go directly from card to card if the machine allows it, else through the host. */
static void allow_access(const Rt *from, const Rt *to) {
    int can = 0;
    CU(DeviceCanAccessPeer, &can, from->device.handle, to->device.handle);
    enter(from);
    if (can)
        CU(CtxEnablePeerAccess, to->context, 0);
}

/* Copies everything that a micro-step reads on the first card: weights, constants, the data set. */
static void copy_state(const Rt *card) {
    const Rt *first = card->first;
    CU(MemcpyPeerAsync, card->arenas[RT_STATE], card->context, first->arenas[RT_STATE],
       first->context, card->program->replica_state_bytes, compute(card));
    rt_finish_stream(card, RT_STREAM_COMPUTE);
}

static Rt *card_open(Rt *rt, int number) {
    Rt *card = rt_alloc(sizeof *card);
    *card = *rt;
    card->first = rt;
    card->card = number;
    device_take_card(card);
    device_find_modules(card);
    device_open(card);
    inputs_open(card);
    gemms_open(card);
    return card;
}

void cards_open(Rt *rt) {
    if (rt->card_count == 1)
        return;
    struct RtCards *cards = rt->cards = rt_alloc(sizeof *cards);
    cards->card = rt_alloc((size_t)rt->card_count * sizeof(Rt *));
    cards->at = rt_alloc((size_t)rt->card_count * sizeof *cards->at);
    cards->card[0] = rt;
    cards->ready = event_new();
    rt_finish_stream(rt, RT_STREAM_COMPUTE); /* load has run */
    for (int i = 1; i < rt->card_count; i++) {
        Rt *card = cards->card[i] = card_open(rt, i);
        cards->at[i] = (Milestones){event_new(), event_new()};
        allow_access(rt, card);
        allow_access(card, rt);
        copy_state(card);
        graphs_open(card);
    }
    enter(rt);
}

Rt *card_at(Rt *rt, int number) { return number ? rt->cards->card[number] : rt; }

void cards_close(Rt *rt) {
    struct RtCards *cards = rt->cards;
    if (!cards)
        return;
    for (int i = 1; i < rt->card_count; i++) {
        Rt *card = cards->card[i];
        enter(card);
        CU(EventDestroy, cards->at[i].replicated);
        CU(EventDestroy, cards->at[i].done);
        graphs_close(card);
        gemms_close(card);
        inputs_close(card);
        device_close(card);
        free(card);
    }
    enter(rt);
    CU(EventDestroy, cards->ready);
    free(cards->card);
    free(cards->at);
    free(cards);
    rt->cards = NULL;
}

/* ---- copies ---------------------------------------------------------------------------------- */

void rt_peer_copy(Rt *rt, RtPurpose purpose, int number, RtPtr to, RtPtr from, size_t bytes) {
    if (number == rt->card) {
        rt_copy(rt, to, from, bytes);
        return;
    }
    rt->work.peer[purpose].count++;
    rt->work.peer[purpose].bytes += (int64_t)bytes;
    if (rt->dry)
        return;
    const Rt *other = rt->cards->card[number];
    RtPtr there = other->arenas[RT_STATE] + (from - rt->arenas[RT_STATE]);
    CU(MemcpyDtoDAsync, to, there, bytes,
       rt->streams[rt->stream]); /* unified addresses identify the card */
    rt_launched(rt);
}

/* ---- a micro-step ---------------------------------------------------------------------------- */

static bool replicate(const Rt *rt, RtRunPhase *run, void *context) {
    struct RtCards *cards = rt->cards;
    CU(EventRecord, cards->ready, compute(rt));
    for (int i = 1; i < rt->card_count; i++) {
        Rt *card = cards->card[i];
        enter(card);
        CU(StreamWaitEvent, compute(card), cards->ready, 0);
        if (run(card, RT_PHASE_REPLICATE, 0, context))
            return true;
        CU(EventRecord, cards->at[i].replicated, compute(card));
    }
    enter(rt);
    for (int i = 1; i < rt->card_count; i++)
        CU(StreamWaitEvent, compute(rt), cards->at[i].replicated, 0);
    return false;
}

/* Leaves the first card's slot in *slot: it is released after the collect phase. */
static bool run_replicas(const Rt *rt, int64_t index, RtRunPhase *run, void *context, int *slot) {
    struct RtCards *cards = rt->cards;
    for (int i = 0; i < rt->card_count; i++) {
        Rt *card = cards->card[i];
        enter(card);
        int its = input_send(card, index * rt->card_count + i);
        if (run(card, RT_PHASE_MICRO_STEP, its, context))
            return true;
        if (i == 0) {
            *slot = its;
            continue;
        }
        input_release(card, its);
        CU(EventRecord, cards->at[i].done, compute(card));
    }
    enter(rt);
    for (int i = 1; i < rt->card_count; i++)
        CU(StreamWaitEvent, compute(rt), cards->at[i].done, 0);
    return false;
}

bool cards_micro_step(Rt *rt, int64_t index, bool last, RtRunPhase *run, void *context) {
    int slot = 0;
    if (replicate(rt, run, context) || run_replicas(rt, index, run, context, &slot)) {
        enter(rt);
        return true;
    }
    bool stop = run(rt, last ? RT_PHASE_LAST_COLLECT : RT_PHASE_COLLECT, slot, context);
    input_release(rt, slot);
    return stop;
}
