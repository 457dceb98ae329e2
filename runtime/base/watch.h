/* The watchdog ends a process that has waited too long for other ranks, or for a device that may be
 * waiting for them. Until watch_start() all other functions do nothing. */
#ifndef GPUOPT_WATCH_H
#define GPUOPT_WATCH_H

#include "runtime/base/rt.h"

#include <pthread.h>
#include <stdatomic.h>

/* What each rank tells the other ranks of its machine, so that one that waits too long can name the
 * cause. */
typedef struct {
    _Atomic double alive_ms; /* when its watchdog last ran, by the machine's clock; 0: never */
    _Atomic long long step;  /* from 1 */
    atomic_bool waiting;     /* for other ranks or the device; false: it works */
    atomic_bool leaving;     /* it ends itself, and says why */
    atomic_bool reported;    /* another rank has said that this one is gone */
    atomic_bool late;        /* of the first post: a rank has said that it waits too long */
    char error[1024];        /* why it ends; "": it has not failed. Under `voice` of the first post */
    pthread_mutex_t voice;   /* held while a rank says why it ends */
    pthread_mutex_t alive;   /* its watchdog holds it; abandoned when the process ends */
} WatchPost;

/* The watchdog thread calls `problem` regularly; it returns an error to end the process with, or
 * NULL. `name` gives the names of collectives. */
void watch_start(const Rt *rt, const char *problem(void), const char *name(RtCollective));
/* Initialises this rank's own post. All ranks of the machine do so before any calls watch_share. */
void watch_post_init(WatchPost *mine);
/* Gives the watchdog the posts of the ranks on this machine, `here` being their numbers. Both
 * arrays must outlive the watchdog. From now on, an error with which several of them end is said
 * once, by the first that has it. */
void watch_share(const Rt *rt, WatchPost *posts, const int *here);
void watch_stop(void);

/* Enclose a wait whose length depends on another rank. They nest; the outermost pair counts. */
void watch_enter(const Rt *rt, const char *what);
void watch_leave(const Rt *rt);
/* The same for a wait for the device. Which of the collectives that it was given it is at, the host
 * cannot know, least of all within a graph: the wait is named by their kinds. */
void watch_enter_device(const Rt *rt);
/* The device is given collectives of a kind; it has done everything that it was given. */
void watch_enqueued(RtCollective kind);
void watch_device_idle(void);

/* Called in a signal handler: prints which rank got the signal and what it was doing. */
void watch_tell_signal(int number);

#endif
