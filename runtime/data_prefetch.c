/* A thread that fills batches before they are asked for. As a batch is a pure function of its
 * index, the thread only changes when the work is done, never what comes out. */
#include "runtime/data_rows.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"

/* ring[i % depth] holds batch i for the `ready` indices from `first` on. The thread writes the one
 * after them, without the lock; nobody reads it until it counts as ready. */
struct Prefetch {
    FillBatch *fill;
    const Loader *loader;
    RtHostBatch *ring;
    int64_t depth, tokens;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t first, ready;
    int64_t generation; /* counts jumps: a batch begun before one is dropped */
    bool stop;
};

static void *prefetch_thread(void *argument) {
    Prefetch *p = argument;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->ready == p->depth) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        int64_t index = p->first + p->ready, generation = p->generation;
        pthread_mutex_unlock(&p->lock);
        p->fill(p->loader, index, &p->ring[index % p->depth]);
        pthread_mutex_lock(&p->lock);
        if (generation == p->generation)
            p->ready++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void batch_alloc(RtHostBatch *batch, int64_t tokens) {
    batch->input_ids = rt_alloc(3 * sizeof(int32_t) * (size_t)tokens);
    batch->labels = batch->input_ids + tokens;
    batch->positions = batch->labels + tokens;
}

/* The thread takes no signals: they are the training loop's. */
static void thread_start(Prefetch *p) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&p->thread, NULL, prefetch_thread, p))
        rt_fail("no thread for prefetching; set data.prefetch_batches = 0");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

Prefetch *prefetch_open(FillBatch *fill, const Loader *loader, int64_t depth, int64_t tokens) {
    Prefetch *p = rt_alloc(sizeof *p);
    *p = (Prefetch){.fill = fill, .loader = loader, .depth = depth, .tokens = tokens};
    p->ring = rt_alloc(sizeof *p->ring * (size_t)depth);
    for (int64_t i = 0; i < depth; i++)
        batch_alloc(&p->ring[i], tokens);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    thread_start(p);
    return p;
}

static void batch_copy(const RtHostBatch *from, int64_t tokens, RtHostBatch *to) {
    size_t bytes = sizeof(int32_t) * (size_t)tokens;
    memcpy(to->input_ids, from->input_ids, bytes);
    memcpy(to->labels, from->labels, bytes);
    memcpy(to->positions, from->positions, bytes);
    to->loss_weight = from->loss_weight;
    to->first_row = from->first_row;
    to->targets = from->targets;
}

void prefetch_take(Prefetch *p, int64_t micro_index, RtHostBatch *out) {
    pthread_mutex_lock(&p->lock);
    if (micro_index != p->first) {
        p->first = micro_index;
        p->ready = 0;
        p->generation++;
        pthread_cond_broadcast(&p->changed);
    }
    while (!p->ready)
        pthread_cond_wait(&p->changed, &p->lock);
    batch_copy(&p->ring[micro_index % p->depth], p->tokens, out);
    p->first++;
    p->ready--;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void prefetch_close(Prefetch *p) {
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    for (int64_t i = 0; i < p->depth; i++)
        free(p->ring[i].input_ids);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
    free(p->ring);
    free(p);
}
