/* The watchdog: a thread that ends a rank that has waited too long for another rank.
 *
 * It calls _exit and neither MPI nor NCCL, since either may be what hangs. Once the process is
 * gone, its peers notice the closed connections and its launcher the exit. There is one watchdog
 * per process, so its state is static. */
#include "runtime/base/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50, DEFAULT_LIMIT_S = 600 };

static struct {
    bool on;
    const char *(*problem)(void);
    int rank, depth;
    double limit_ms;
    _Atomic double since_ms; /* when the current wait began; 0: not waiting */
    _Atomic(const char *) what;
    _Atomic(WatchPost *) mine;
    const WatchPost *posts; /* [post_count] of the ranks `here`, including this one */
    const int *here;
    atomic_int post_count;
    pthread_t thread;
    atomic_bool stop;
} watch;

/* ---- the rank's state -------------------------------------------------------------------------- */

static void post(const Rt *rt, bool waiting) {
    WatchPost *mine = watch.mine;
    mine->step = rt->step + 1;
    mine->waiting = waiting;
    watch.since_ms = waiting ? rt_now_ms() : 0;
}

void watch_enter(const Rt *rt, const char *what) {
    if (!watch.on || watch.depth++ > 0)
        return;
    watch.what = what;
    post(rt, true);
}

void watch_enter_device(const Rt *rt) {
    watch_enter(rt, rt->collective ? rt->collective : "the device's work");
}

void watch_leave(const Rt *rt) {
    if (watch.on && --watch.depth == 0)
        post(rt, false);
}

/* ---- the thread -------------------------------------------------------------------------------- */

static _Noreturn void end(const char *why) {
    char line[512];
    const char *what = watch.since_ms > 0 ? watch.what : "the work";
    int length = snprintf(line, sizeof line,
                          "error: rank %d: %s of step %lld %s; continue from the last checkpoint "
                          "with --resume\n",
                          watch.rank, what, watch.mine->step, why);
    if (length > (int)sizeof line - 1)
        length = (int)sizeof line - 1;
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(2); /* stderr is closed */
    _exit(1);
}

/* Names the rank of this machine that is the likely cause: one that does not respond, or else one
 * that works while the others wait. */
static void find_reason(char *text, size_t size) {
    double now = rt_now_ms();
    snprintf(text, size, "another rank has stopped, was lost or lags far behind");
    for (int i = 0; i < watch.post_count; i++) {
        const WatchPost *post = &watch.posts[i];
        double silent = now - post->alive_ms;
        if (post->alive_ms > 0 && silent > watch.limit_ms / 2) {
            snprintf(text, size, "rank %d has not responded for %.1f s", watch.here[i],
                     1e-3 * silent);
            return;
        }
        if (post->alive_ms > 0 && !post->waiting)
            snprintf(text, size, "rank %d is busy, not waiting, in step %lld", watch.here[i],
                     post->step);
    }
}

static void look(void) {
    char why[320], reason[128];
    double since = watch.since_ms;
    const char *error = watch.problem();
    watch.mine->alive_ms = rt_now_ms();
    if (error) {
        snprintf(why, sizeof why, "failed: %s", error);
        end(why);
    }
    if (since > 0 && rt_now_ms() - since > watch.limit_ms) {
        find_reason(reason, sizeof reason);
        snprintf(why, sizeof why, "did not finish within %g s (parallelism.comm_timeout_s): %s",
                 watch.limit_ms * 1e-3, reason);
        end(why);
    }
}

static void *run(void *unused) {
    (void)unused;
    while (!watch.stop) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
        look();
    }
    return NULL;
}

/* The thread blocks all signals, so that the main thread handles them. */
static void start_thread(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&watch.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        rt_fail("cannot start the watchdog thread: %s", strerror(error));
}

void watch_start(const Rt *rt, const char *problem(void)) {
    static WatchPost alone;
    double limit = rt->program->comm_timeout_s;
    watch.problem = problem;
    watch.rank = rt->rank;
    watch.limit_ms = 1e3 * (limit > 0 ? limit : DEFAULT_LIMIT_S);
    watch.what = "the start";
    watch.mine = &alone;
    start_thread();
    watch.on = true;
}

void watch_share(const Rt *rt, WatchPost *posts, const int *here) {
    WatchPost *mine = &posts[rt->local_rank];
    mine->step = rt->step + 1;
    mine->waiting = true;
    mine->alive_ms = rt_now_ms();
    watch.mine = mine;
    watch.posts = posts;
    watch.here = here;
    watch.post_count = rt->local_ranks;
}

void watch_stop(void) {
    watch.on = false;
    watch.stop = true;
    pthread_join(watch.thread, NULL);
}

/* ---- signals ----------------------------------------------------------------------------------- */

/* A line composed in a signal handler: no stdio, no locale, no allocation. */
typedef struct {
    char text[256];
    size_t length;
} Line;

static void put(Line *line, const char *text) {
    size_t length = strlen(text), room = sizeof line->text - line->length;
    memcpy(line->text + line->length, text, length < room ? length : room);
    line->length += length < room ? length : room;
}

static void put_number(Line *line, long long value) {
    char digits[24] = "";
    size_t at = sizeof digits - 1;
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    put(line, digits + at);
}

static const char *signal_name(int number) {
    switch (number) {
    case SIGTERM:
        return ": SIGTERM";
    case SIGINT:
        return ": SIGINT";
    case SIGHUP:
        return ": SIGHUP";
    default:
        return ": SIGUSR1";
    }
}

void watch_tell_signal(int number) {
    Line line = {.length = 0};
    int error = errno;
    if (!watch.on)
        return;
    put(&line, "rank ");
    put_number(&line, watch.rank);
    put(&line, signal_name(number));
    put(&line, watch.since_ms > 0 ? " while waiting for " : " during step ");
    if (watch.since_ms > 0) {
        put(&line, watch.what);
        put(&line, " of step ");
    }
    put_number(&line, watch.mine->step);
    put(&line, ": asking all ranks for a checkpoint\n");
    if (write(STDERR_FILENO, line.text, line.length) < 0)
        error = errno;
    errno = error;
}
