/* The watchdog: who waits for others for too long, or for a device that may, is ended by it. Without
 * watch_start() nothing here does anything. */
#ifndef GPUOPT_WATCH_H
#define GPUOPT_WATCH_H

#include "runtime/base/rt.h"

#include <stdatomic.h>

/* What the ranks of a machine let each other know, so that one which waits can say for whom. */
typedef struct {
    _Atomic double alive_ms; /* when its watchdog last looked, by the machine's clock; 0: never */
    _Atomic long long step;  /* from 1 */
    atomic_bool waiting;     /* for other ranks or the device; else it works */
} WatchPost;

/* `problem` is asked now and then, from the watchdog's thread: what went wrong meanwhile, or NULL. */
void watch_start(const Rt *rt, const char *problem(void));
/* `posts` of the ranks on this machine, which are `here`; both must last. */
void watch_share(const Rt *rt, WatchPost *posts, const int *here);
void watch_stop(void);

/* Around whatever lasts as long as another rank wants. May be nested; the outermost counts. */
void watch_enter(const Rt *rt, const char *what);
void watch_leave(const Rt *rt);
/* The same around a wait for the device. */
void watch_enter_device(const Rt *rt);

/* In a signal's handler: a line that says which rank got it, and what it was at. */
void watch_tell_signal(int number);

#endif
