/* The watchdog ends a process that has waited too long for other ranks, or for a device that may be
 * waiting for them. Until watch_start() all other functions do nothing. */
#ifndef GPUOPT_WATCH_H
#define GPUOPT_WATCH_H

#include "runtime/base/rt.h"

#include <stdatomic.h>

/* What each rank tells the other ranks of its machine, so that one that waits too long can name the
 * cause. */
typedef struct {
    _Atomic double alive_ms; /* when its watchdog last ran, by the machine's clock; 0: never */
    _Atomic long long step;  /* from 1 */
    atomic_bool waiting;     /* for other ranks or the device; false: it works */
} WatchPost;

/* The watchdog thread calls `problem` regularly; it returns an error to end the process with, or
 * NULL. */
void watch_start(const Rt *rt, const char *problem(void));
/* Gives the watchdog the posts of the ranks on this machine, `here` being their numbers. Both
 * arrays must outlive the watchdog. */
void watch_share(const Rt *rt, WatchPost *posts, const int *here);
void watch_stop(void);

/* Enclose a wait whose length depends on another rank. They nest; the outermost pair counts. */
void watch_enter(const Rt *rt, const char *what);
void watch_leave(const Rt *rt);
/* The same for a wait for the device. */
void watch_enter_device(const Rt *rt);

/* Called in a signal handler: prints which rank got the signal and what it was doing. */
void watch_tell_signal(int number);

#endif
