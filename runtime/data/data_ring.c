/* Threads fill batches ahead of time, in the buffers from which they are copied to the device.
 *
 * Batches are taken at positions 0, 1, 2, …; the batch of position p is in buffers[p % count]. When
 * p is the position taken last, the threads fill positions p to p + ahead in this order, in parts,
 * while p and the in_use - 1 positions before it may still be in flight to the device. Which batch
 * will be taken at a position is a guess: the next index of the same split. Because a batch is a
 * pure function of its index, a wrong guess only costs time. */
#include "runtime/data/data_kind.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/rt.h"

typedef struct {
    void *memory;
    int64_t position; /* of the batch in it; -1: none yet */
    LoaderBatch which;
    int64_t begun, done; /* parts handed out, parts filled */
    bool failed;
    char error[1024];
} Buffer;

struct Ring {
    RingJob job;
    Buffer *buffers;
    int64_t count;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t position;   /* taken last; -1: none yet */
    int64_t guessed_at; /* position of guessed_from; the others are counted from it */
    LoaderBatch guessed_from;
    bool stop;
};

int64_t ring_buffers(const RingJob *job) { return job->ahead + job->in_use; }

/* ---- under the lock -------------------------------------------------------------------------- */

static LoaderBatch batch_at(const Ring *ring, int64_t position) {
    LoaderBatch from = ring->guessed_from;
    return (LoaderBatch){from.split, from.index + position - ring->guessed_at};
}

static bool same(LoaderBatch a, LoaderBatch b) { return a.split == b.split && a.index == b.index; }

/* Returns the buffer of a position, assigned to the batch expected there, or NULL while threads
 * still write another batch into it. */
static Buffer *buffer_at(Ring *ring, int64_t position) {
    Buffer *buffer = &ring->buffers[position % ring->count];
    LoaderBatch which = batch_at(ring, position);
    if (buffer->position == position && same(buffer->which, which))
        return buffer;
    if (buffer->begun > buffer->done)
        return NULL;
    buffer->position = position;
    buffer->which = which;
    buffer->begun = buffer->done = 0;
    buffer->failed = false;
    return buffer;
}

/* Returns the first buffer with a part that no thread has begun, or NULL. */
static Buffer *next_work(Ring *ring) {
    if (ring->position < 0)
        return NULL;
    for (int64_t p = ring->position; p <= ring->position + ring->job.ahead; p++) {
        LoaderBatch which = batch_at(ring, p);
        if (which.split == LOADER_EVAL && which.index >= ring->job.eval_batches)
            return NULL;
        Buffer *buffer = buffer_at(ring, p);
        if (buffer && buffer->begun < ring->job.parts)
            return buffer;
    }
    return NULL;
}

/* Fills one part with the lock released. A buffer keeps its position and batch meanwhile. */
static void work(Ring *ring, Buffer *buffer) {
    char text[sizeof buffer->error];
    int64_t part = buffer->begun++;
    pthread_mutex_unlock(&ring->lock);
    bool ok = ring->job.fill(ring->job.context, buffer->which, part, ring->job.parts,
                             buffer->memory, &(DataError){text, sizeof text});
    pthread_mutex_lock(&ring->lock);
    if (!ok) {
        buffer->failed = true;
        memcpy(buffer->error, text, sizeof text);
    }
    buffer->done++;
    pthread_cond_broadcast(&ring->changed);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *worker(void *argument) {
    Ring *ring = argument;
    pthread_mutex_lock(&ring->lock);
    while (!ring->stop) {
        Buffer *buffer = next_work(ring);
        if (buffer)
            work(ring, buffer);
        else
            pthread_cond_wait(&ring->changed, &ring->lock);
    }
    pthread_mutex_unlock(&ring->lock);
    return NULL;
}

/* The threads block signals, so that the training loop's thread gets them. */
static void start_threads(Ring *ring) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int64_t i = 0; i < ring->job.workers; i++)
        if (pthread_create(&ring->threads[i], NULL, worker, ring))
            rt_fail("cannot start a thread for batches; lower data.num_workers (%lld)",
                    (long long)ring->job.workers);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

Ring *ring_open(const RingJob *job, void *const *buffers) {
    Ring *ring = rt_alloc(sizeof *ring);
    *ring = (Ring){.job = *job, .count = ring_buffers(job), .position = -1};
    ring->buffers = rt_alloc(sizeof *ring->buffers * (size_t)ring->count);
    ring->threads = rt_alloc(sizeof *ring->threads * (size_t)(job->workers + 1));
    for (int64_t i = 0; i < ring->count; i++) {
        ring->buffers[i].memory = buffers[i];
        ring->buffers[i].position = -1;
    }
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->changed, NULL);
    start_threads(ring);
    return ring;
}

void ring_close(Ring *ring) {
    pthread_mutex_lock(&ring->lock);
    ring->stop = true;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
    for (int64_t i = 0; i < ring->job.workers; i++)
        pthread_join(ring->threads[i], NULL);
    pthread_mutex_destroy(&ring->lock);
    pthread_cond_destroy(&ring->changed);
    free(ring->threads);
    free(ring->buffers);
    free(ring);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static Buffer *ready(Ring *ring) {
    Buffer *buffer = buffer_at(ring, ring->position);
    return buffer && buffer->done == ring->job.parts ? buffer : NULL;
}

/* Without threads, ring_take() fills the batch itself; no other thread has a part of it then. */
static void wait_or_work(Ring *ring) {
    Buffer *buffer = ring->job.workers ? NULL : next_work(ring);
    if (buffer)
        work(ring, buffer);
    else
        pthread_cond_wait(&ring->changed, &ring->lock);
}

void *ring_take(Ring *ring, LoaderBatch which, DataError *error) {
    pthread_mutex_lock(&ring->lock);
    ring->position++;
    if (!same(batch_at(ring, ring->position), which)) {
        ring->guessed_at = ring->position;
        ring->guessed_from = which;
    }
    pthread_cond_broadcast(&ring->changed);
    Buffer *buffer;
    while (!(buffer = ready(ring)))
        wait_or_work(ring);
    bool ok = !buffer->failed;
    if (!ok)
        data_fail(error, "%s", buffer->error);
    pthread_mutex_unlock(&ring->lock);
    return ok ? buffer->memory : NULL;
}
