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

static const char device_work[] = "the device's work";

static struct {
    bool on;
    const char *(*problem)(void);
    const char *(*name)(RtCollective);
    int rank, depth;
    double limit_ms;
    _Atomic double since_ms; /* when the current wait began; 0: not waiting */
    _Atomic(const char *) what;
    atomic_uint pending; /* kinds of collectives that the device may not have done, as bits */
    _Atomic(WatchPost *) mine;
    WatchPost *posts; /* [post_count] of the ranks `here`, including this one */
    const int *here;
    atomic_int post_count;
    bool held; /* the thread holds mine->alive */
    pthread_t thread;
    atomic_bool stop;
} watch;

/* ---- the rank's state -------------------------------------------------------------------------- */

static void post(const Rt *rt, bool waiting) {
    WatchPost *mine = watch.mine;
    mine->step = step_under_way(rt);
    mine->waiting = waiting;
    watch.since_ms = waiting ? rt_now_ms() : 0;
}

void watch_enter(const Rt *rt, const char *what) {
    if (!watch.on || watch.depth++ > 0)
        return;
    watch.what = what;
    post(rt, true);
}

void watch_enter_device(const Rt *rt) { watch_enter(rt, device_work); }

void watch_enqueued(RtCollective kind) { watch.pending |= 1u << kind; }

void watch_device_idle(void) { watch.pending = 0; }

void watch_leave(const Rt *rt) {
    if (watch.on && --watch.depth == 0)
        post(rt, false);
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* A line that may be composed in a signal handler: no stdio, no locale, no allocation. */
typedef struct {
    char text[800];
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

/* " with all_reduce, all_gather or broadcast" */
static void put_kinds(Line *line, unsigned kinds) {
    const char *before = " with ";
    for (int kind = 0; kinds; kind++) {
        if (!(kinds >> kind & 1))
            continue;
        kinds &= ~(1u << kind);
        put(line, before);
        put(line, watch.name((RtCollective)kind));
        bool one_left = (kinds & (kinds - 1)) == 0;
        before = one_left ? " or " : ", ";
    }
}

/* "all_reduce of step 3"; "the device's work up to step 3 with all_reduce or all_gather", because the
 * host runs ahead of the device. */
static void put_wait(Line *line, const char *what) {
    const bool device = what == device_work;
    put(line, what);
    put(line, device ? " up to step " : " of step ");
    put_number(line, watch.mine->step);
    if (device)
        put_kinds(line, watch.pending);
}

static bool print(const Line *line) { return write(STDERR_FILENO, line->text, line->length) >= 0; }

/* ---- the thread -------------------------------------------------------------------------------- */

/* This rank ends itself with an error that is printed: the others need not say that it is gone. */
static void post_leaving(void) { ((WatchPost *)watch.mine)->leaving = true; }

static _Noreturn void end(const char *why) {
    Line line = {.length = 0};
    post_leaving();
    put(&line, "error: rank ");
    put_number(&line, watch.rank);
    put(&line, ": ");
    put_wait(&line, watch.since_ms > 0 ? watch.what : "the work");
    put(&line, " ");
    put(&line, why);
    put(&line, "; continue from the last checkpoint with --resume\n");
    _exit(print(&line) ? 1 : 2); /* 2: stderr is closed */
}

/* Only the first rank that notices says so. A rank that is gone without a word was killed, as by the
 * system when memory runs out, or crashed. */
static _Noreturn void end_without(int lost) {
    char why[64];
    if (atomic_exchange(&watch.posts[lost].reported, true)) {
        post_leaving();
        _exit(1);
    }
    snprintf(why, sizeof why, "cannot finish: rank %d was killed or crashed", watch.here[lost]);
    end(why);
}

/* Holds this rank's mutex from when the posts are shared. */
static void hold(void) {
    if (watch.held || watch.post_count == 0)
        return;
    WatchPost *mine = watch.mine;
    if (pthread_mutex_lock(&mine->alive) == EOWNERDEAD) /* a rank that looked, and died */
        pthread_mutex_consistent(&mine->alive);
    watch.held = true;
}

/* Ends this rank if another one of this machine is gone. */
static void look_for_lost(void) {
    for (int i = 0; i < watch.post_count; i++) {
        WatchPost *post = &watch.posts[i];
        if (post == watch.mine)
            continue;
        int error = pthread_mutex_trylock(&post->alive);
        if (error == EOWNERDEAD && !post->leaving)
            end_without(i); /* as its new owner, so that the next rank that looks finds the same */
        if (error == EOWNERDEAD)
            pthread_mutex_consistent(&post->alive);
        if (error == EOWNERDEAD || error == 0)
            pthread_mutex_unlock(&post->alive);
    }
}

static bool responds(const WatchPost *post, double now) {
    return post->alive_ms > 0 && now - post->alive_ms <= watch.limit_ms / 2;
}

/* Names the rank of this machine that is the likely cause: one that does not respond, or else one
 * that works while the others wait. */
static void find_reason(char *text, size_t size) {
    double now = rt_now_ms();
    snprintf(text, size, "another rank has stopped, was lost or lags far behind");
    for (int i = 0; i < watch.post_count; i++) {
        const WatchPost *post = &watch.posts[i];
        if (post->alive_ms > 0 && !responds(post, now)) {
            snprintf(text, size, "rank %d has not responded for %.1f s", watch.here[i],
                     1e-3 * (now - post->alive_ms));
            return;
        }
        if (post->alive_ms > 0 && !post->waiting)
            snprintf(text, size, "rank %d is busy, not waiting, in step %lld", watch.here[i],
                     post->step);
    }
}

static bool waits_too(const WatchPost *post, double now) {
    return post != watch.mine && post->waiting && responds(post, now);
}

/* "; rank 2 waits too" or "; ranks 2, 3 and 4 wait too": the others of this machine that do, if any. */
static void find_waiting(char *text, size_t size) {
    const double now = rt_now_ms();
    int count = 0, named = 0;
    for (int i = 0; i < watch.post_count; i++)
        count += waits_too(&watch.posts[i], now);
    text[0] = '\0';
    for (int i = 0; i < watch.post_count; i++) {
        if (!waits_too(&watch.posts[i], now))
            continue;
        const char *before = count > 1 ? "; ranks " : "; rank ";
        if (named++ > 0)
            before = named < count ? ", " : " and ";
        size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%d", before, watch.here[i]);
    }
    size_t length = strlen(text);
    if (named > 0)
        snprintf(text + length, size - length, count > 1 ? " wait too" : " waits too");
}

/* Only the first rank of a machine that has waited too long says so: the others wait for the same rank,
 * though perhaps in another collective. */
static _Noreturn void end_late(void) {
    char why[512], reason[128], others[200];
    if (watch.post_count > 0 && atomic_exchange(&watch.posts->late, true)) {
        post_leaving();
        _exit(1);
    }
    find_reason(reason, sizeof reason);
    find_waiting(others, sizeof others);
    snprintf(why, sizeof why, "did not finish within %g s (parallelism.comm_timeout_s): %s%s",
             watch.limit_ms * 1e-3, reason, others);
    end(why);
}

/* A process that was itself stopped, alone or with the others, waits anew when it goes on. */
static void note_alive(void) {
    WatchPost *mine = watch.mine;
    double now = rt_now_ms(), since = watch.since_ms;
    if (since > 0 && mine->alive_ms > 0 && now - mine->alive_ms > watch.limit_ms / 2)
        atomic_compare_exchange_strong(&watch.since_ms, &since, now);
    mine->alive_ms = now;
}

static void look(void) {
    char why[320];
    note_alive();
    hold();
    look_for_lost();
    const char *error = watch.problem(); /* which may be because a rank is lost */
    double since = watch.since_ms;
    if (error) {
        snprintf(why, sizeof why, "failed: %s", error);
        end(why);
    }
    if (since > 0 && rt_now_ms() - since > watch.limit_ms)
        end_late();
}

static void *run(void *unused) {
    (void)unused;
    while (!watch.stop) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
        look();
    }
    if (watch.held)
        pthread_mutex_unlock(&((WatchPost *)watch.mine)->alive);
    return NULL;
}

/* ---- errors of several ranks -------------------------------------------------------------------- */

/* Whether a rank before this one is at work, or was in the last moment. */
static bool earlier_may_fail(int after_ms) {
    enum { MOMENT_MS = 50 };
    for (const WatchPost *post = watch.posts; post != watch.mine; post++)
        if (!post->leaving && (!post->waiting || after_ms < MOMENT_MS))
            return true;
    return false;
}

/* Gives ranks before this one time to fail too, so that the first rank says what all have to say. */
static void let_earlier_fail(void) {
    enum { LONGEST_MS = 300, NAP_MS = 5 };
    for (int ms = 0; ms < LONGEST_MS && earlier_may_fail(ms); ms += NAP_MS)
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000}, NULL);
}

/* The line is printed before the lock is given up: when a rank exits, the launcher kills the others. */
static void say_once(const char *error) {
    WatchPost *mine = watch.mine;
    bool said = false;
    let_earlier_fail();
    if (pthread_mutex_lock(&watch.posts->voice) == EOWNERDEAD)
        pthread_mutex_consistent(&watch.posts->voice);
    for (int i = 0; i < watch.post_count; i++)
        said = said || strncmp(watch.posts[i].error, error, sizeof mine->error - 1) == 0;
    if (!said)
        rt_say_error("%s", error);
    snprintf(mine->error, sizeof mine->error, "%s", error);
    post_leaving();
    pthread_mutex_unlock(&watch.posts->voice);
}

/* ---- start and end ------------------------------------------------------------------------------ */

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

void watch_start(const Rt *rt, const char *problem(void), const char *name(RtCollective)) {
    static WatchPost alone;
    double limit = rt->program->comm_timeout_s;
    watch.problem = problem;
    watch.name = name;
    watch.rank = rt->rank;
    watch.limit_ms = 1e3 * (limit > 0 ? limit : DEFAULT_LIMIT_S);
    watch.what = "the start";
    watch.mine = &alone;
    start_thread();
    watch.on = true;
}

void watch_post_init(WatchPost *mine) {
    pthread_mutexattr_t shared;
    memset(mine, 0, sizeof *mine); /* MPI need not zero it */
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mine->alive, &shared);
    pthread_mutex_init(&mine->voice, &shared);
    pthread_mutexattr_destroy(&shared);
}

void watch_share(const Rt *rt, WatchPost *posts, const int *here) {
    WatchPost *mine = &posts[rt->local_rank];
    mine->step = step_under_way(rt);
    mine->waiting = true;
    mine->alive_ms = rt_now_ms();
    watch.mine = mine;
    watch.posts = posts;
    watch.here = here;
    watch.post_count = rt->local_ranks;
    rt_share_errors(say_once);
}

void watch_stop(void) {
    rt_share_errors(NULL);
    watch.on = false;
    watch.stop = true;
    pthread_join(watch.thread, NULL);
}

/* ---- signals ----------------------------------------------------------------------------------- */

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
    if (watch.since_ms > 0) {
        put(&line, " while waiting for ");
        put_wait(&line, watch.what);
    } else {
        put(&line, " during step ");
        put_number(&line, watch.mine->step);
    }
    put(&line, ": asking all ranks for a checkpoint\n");
    print(&line);
    errno = error;
}
