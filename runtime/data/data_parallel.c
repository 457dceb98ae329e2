/* Processes many samples in parallel, before training begins. */
#include "runtime/data/data_kind.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/base/rt.h"

typedef struct {
    int64_t count;
    EachWork *work;
    void *context;
    atomic_llong next;
} Each;

static void *work_on(void *argument) {
    Each *each = argument;
    for (int64_t i; (i = atomic_fetch_add(&each->next, 1)) < each->count;)
        each->work(i, each->context);
    return NULL;
}

/* The threads block signals, so that the main thread, which works along with them, gets them. */
void each_in_parallel(int64_t count, int64_t threads, EachWork *work, void *context) {
    sigset_t all, before;
    Each each = {.count = count, .work = work, .context = context};
    pthread_t *others = rt_alloc(sizeof *others * (size_t)(threads + 1));
    int64_t started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started + 1 < threads && pthread_create(&others[started], NULL, work_on, &each) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work_on(&each);
    for (int64_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    free(others);
}
