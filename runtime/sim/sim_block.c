/* Runs one block of a kernel whose threads may wait for each other.
 *
 * A fiber runs one thread after the other until a thread waits; only then another fiber continues.
 * So threads that never wait need no switch. A warp operation is computed by the last lane to
 * arrive. If no thread can continue while threads still wait, the kernel is wrong, and the launch
 * ends with a line that says which threads wait where.
 */
#include "sim.h"
#include "sim_fiber.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_THREADS = 1024,
    MAX_WARPS = MAX_THREADS / 32,
    MAX_DYNAMIC = 227 << 10,
    SHARED_GUARD = 4096
};

__attribute__((weak)) void __asan_poison_memory_region(const volatile void *p, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *p, size_t bytes);

typedef struct Warp {
    unsigned arrived, epoch;
    void (*all)(void **lanes);
    const char *what;
    void *lanes[32];
} Warp;

/* A copy that a thread has issued and not yet waited for. */
typedef struct PendingCopy {
    void *smem;
    const void *gmem;
    int bytes;
    bool valid; /* false: fills with zeros */
    int group;
} PendingCopy;

typedef struct PendingCopies {
    PendingCopy *copies;
    unsigned count, capacity;
    int groups; /* number of groups committed so far */
} PendingCopies;

static struct {
    const SimModule *module;
    const SimKernel *kernel;
    void **arguments;
    unsigned threads, started, ended;
    uint32_t order[MAX_THREADS];
    unsigned at_barrier, epoch;
    int barrier_line;
    Warp warps[MAX_WARPS];
    Fiber *fiber_of[MAX_THREADS]; /* of each running or waiting thread */
    Fiber *ready[MAX_THREADS];    /* ring buffer */
    unsigned ready_first, ready_count;
    Fiber *current;
    unsigned shared_bytes;
} block;

static Fiber fibers[FIBER_COUNT], host;
static Fiber *idle[FIBER_COUNT];
static unsigned idle_count;
static PendingCopies pending[MAX_THREADS];
static _Alignas(128) unsigned char dynamic_shared[MAX_DYNAMIC + SHARED_GUARD];

static void land_all(PendingCopies *mine);

int block_thread(void) { return block.current ? block.current->thread : -1; }
unsigned block_epoch(void) { return block.epoch; }
unsigned block_warp_epoch(void) { return block.warps[block.current->thread / 32].epoch; }

bool block_owns_shared(const void *p, size_t bytes) {
    const unsigned char *at = p;
    const SimModule *m = block.module;
    return (at >= dynamic_shared && at + bytes <= dynamic_shared + block.shared_bytes) ||
           (m && at >= m->shared_begin && at + bytes <= m->shared_end);
}

void order_fill(uint32_t *order, unsigned count) {
    const bool reverse = sim_settings.order == ORDER_REVERSE;
    for (unsigned i = 0; i < count; i++)
        order[i] = reverse ? count - 1 - i : i;
    if (sim_settings.order != ORDER_RANDOM)
        return;
    for (unsigned i = count; i > 1; i--) {
        const uint32_t j = sim_random(&sim_settings.order_state, i), taken = order[i - 1];
        order[i - 1] = order[j];
        order[j] = taken;
    }
}

/* ---- Scheduling -------------------------------------------------------------------------- */

static void push_ready(Fiber *fiber) {
    block.ready[(block.ready_first + block.ready_count++) % MAX_THREADS] = fiber;
}

static Fiber *pop_ready(void) {
    Fiber *fiber = block.ready[block.ready_first];
    block.ready_first = (block.ready_first + 1) % MAX_THREADS;
    block.ready_count--;
    return fiber;
}

/* Returns whether to start a new thread. Threads that can continue come first, so that a warp runs
 * as far ahead of the others as the kernel's barriers allow; in random order, chance decides. */
static bool start_another(void) {
    if (block.started == block.threads)
        return false;
    if (!block.ready_count)
        return true;
    return sim_settings.order == ORDER_RANDOM && sim_random(&sim_settings.order_state, 2);
}

static _Noreturn void fault_waiting(void) {
    for (unsigned w = 0; w < (block.threads + 31) / 32; w++)
        if (block.warps[w].arrived)
            launch_fault(CUDA_ERROR_LAUNCH_FAILED,
                         "divergent warp: %u of 32 lanes of warp %u wait at a %s, the others never "
                         "arrive",
                         block.warps[w].arrived, w, block.warps[w].what);
    launch_fault(
        CUDA_ERROR_LAUNCH_FAILED,
        "divergent barrier: %u of %u threads wait at the barrier of line %d, %u have ended",
        block.at_barrier, block.threads, block.barrier_line, block.ended);
}

/* Switches away from the current fiber, which waits or has no thread left to run. */
static void go_on(void) {
    Fiber *self = block.current, *next;
    if (start_another()) {
        next = idle[--idle_count];
    } else if (block.ready_count) {
        next = pop_ready();
    } else if (block.ended == block.threads) {
        block.current = NULL;
        fiber_switch(self, &host);
        return;
    } else {
        fault_waiting();
    }
    block.current = next;
    /* The fiber that just became idle may also start the next thread. */
    if (next != self)
        fiber_switch(self, next);
}

static void end_thread(unsigned thread) {
    land_all(&pending[thread]);
    block.fiber_of[thread] = NULL;
    block.ended++;
}

static void fiber_main(void) {
    fiber_entered();
    for (;;) {
        Fiber *self = block.current;
        do {
            const unsigned thread = block.order[block.started++];
            self->thread = (int)thread;
            block.fiber_of[thread] = self;
            block.kernel->thread(block.arguments, thread);
            end_thread(thread);
        } while (start_another());
        idle[idle_count++] = self;
        go_on();
    }
}

/* ---- Waiting ----------------------------------------------------------------------------- */

static Fiber *waiting_fiber(const char *what) {
    if (!block.current)
        launch_fault(CUDA_ERROR_LAUNCH_FAILED,
                     "internal: a %s in a kernel that was found to have none", what);
    return block.current;
}

void sim_barrier(int line) {
    waiting_fiber("barrier");
    if (block.at_barrier && block.barrier_line != line)
        launch_fault(
            CUDA_ERROR_LAUNCH_FAILED,
            "divergent barrier: %u threads wait at the barrier of line %d, thread %d at that "
            "of line %d",
            block.at_barrier, block.barrier_line, block_thread(), line);
    block.barrier_line = line;
    if (++block.at_barrier < block.threads) {
        go_on();
        return;
    }
    block.at_barrier = 0;
    block.epoch++;
    for (unsigned i = 0; i < block.threads; i++)
        if (block.fiber_of[block.order[i]] != block.current)
            push_ready(block.fiber_of[block.order[i]]);
}

void sim_warp(void *lane, void (*all)(void **lanes), const char *what) {
    const Fiber *self = waiting_fiber(what);
    const unsigned w = (unsigned)self->thread / 32;
    Warp *warp = &block.warps[w];
    if (32 * w + 32 > block.threads)
        launch_fault(CUDA_ERROR_LAUNCH_FAILED, "a %s in warp %u, which has only %u lanes", what, w,
                     block.threads - 32 * w);
    if (warp->arrived && warp->all != all)
        launch_fault(CUDA_ERROR_LAUNCH_FAILED,
                     "divergent warp: %u lanes of warp %u wait at a %s, thread %d at a %s",
                     warp->arrived, w, warp->what, self->thread, what);
    warp->all = all;
    warp->what = what;
    warp->lanes[self->thread % 32] = lane;
    if (++warp->arrived < 32) {
        go_on();
        return;
    }
    warp->arrived = 0;
    all(warp->lanes);
    /* Only __syncwarp orders memory between lanes, and only it passes no record. */
    warp->epoch += lane == NULL;
    const bool reverse = sim_settings.order == ORDER_REVERSE;
    for (unsigned i = 0; i < 32; i++) {
        Fiber *other = block.fiber_of[32 * w + (reverse ? 31 - i : i)];
        if (other != self)
            push_ready(other);
    }
}

/* ---- Asynchronous copies, which land as late as the thread's waits allow ----------------- */

void sim_cp_async(void *smem, const void *gmem, int bytes, int valid) {
    if (((uintptr_t)smem | (uintptr_t)gmem) % (unsigned)bytes)
        launch_fault(CUDA_ERROR_MISALIGNED_ADDRESS,
                     "cp.async from %p to %p: not aligned to %d bytes", gmem, smem, bytes);
    if (!block_owns_shared(smem, (unsigned)bytes))
        launch_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "cp.async to %p, outside shared memory", smem);
    if (valid && !memory_covers(gmem, (size_t)bytes))
        launch_fault(CUDA_ERROR_ILLEGAL_ADDRESS, "cp.async from %p, outside device memory", gmem);
    waiting_fiber("cp.async");
    PendingCopies *mine = &pending[block.current->thread];
    if (mine->count == mine->capacity) {
        mine->capacity = mine->capacity ? 2 * mine->capacity : 16;
        mine->copies = sim_need(realloc(mine->copies, mine->capacity * sizeof *mine->copies));
    }
    mine->copies[mine->count++] = (PendingCopy){smem, gmem, bytes, valid, mine->groups};
    /* The target is undefined until the copy lands, so early readers get NaN. */
    memset(smem, 0xff, (size_t)bytes);
    race_access(smem, (unsigned)bytes, true, false);
}

void sim_cp_async_commit(void) {
    waiting_fiber("cp.async");
    pending[block.current->thread].groups++;
}

static void land(const PendingCopy *copy) {
    race_access(copy->smem, (unsigned)copy->bytes, true, false);
    if (copy->valid)
        race_access(copy->gmem, (unsigned)copy->bytes, false, false);
    memset(copy->smem, 0, (size_t)copy->bytes);
    if (copy->valid)
        memcpy(copy->smem, copy->gmem, (size_t)copy->bytes);
}

void sim_cp_async_wait(int groups) {
    waiting_fiber("cp.async wait");
    PendingCopies *mine = &pending[block.current->thread];
    unsigned kept = 0;
    for (unsigned i = 0; i < mine->count; i++) {
        if (mine->copies[i].group < mine->groups - groups)
            land(&mine->copies[i]);
        else
            mine->copies[kept++] = mine->copies[i];
    }
    mine->count = kept;
}

static void land_all(PendingCopies *mine) {
    for (unsigned i = 0; i < mine->count; i++)
        land(&mine->copies[i]);
    mine->count = 0;
}

void *sim_dynamic_shared(void) { return dynamic_shared; }

/* ---- Blocks ------------------------------------------------------------------------------ */

static void fill_nan(unsigned char *p, size_t bytes) {
    __asm__ volatile("rep stosb" : "+D"(p), "+c"(bytes) : "a"(0xff) : "memory");
}

/* Poisons the bytes after the launch's own, so that overruns are detected. */
static void open_dynamic_shared(unsigned bytes) {
    if (bytes != block.shared_bytes && __asan_poison_memory_region) {
        __asan_unpoison_memory_region(dynamic_shared, sizeof dynamic_shared);
        __asan_poison_memory_region(dynamic_shared + bytes, sizeof dynamic_shared - bytes);
    }
    block.shared_bytes = bytes;
    fill_nan(dynamic_shared, bytes);
}

static void reset_fibers(void) {
    fibers_reset(fibers, fiber_main);
    for (idle_count = 0; idle_count < FIBER_COUNT; idle_count++)
        idle[idle_count] = &fibers[FIBER_COUNT - 1 - idle_count];
}

void block_run(const SimModule *module, const SimKernel *kernel, void **arguments, unsigned threads,
               unsigned shared_bytes) {
    if (!fibers[0].low)
        reset_fibers();
    block.module = module;
    block.kernel = kernel;
    block.arguments = arguments;
    block.threads = threads;
    block.started = block.ended = block.at_barrier = 0;
    block.ready_count = 0;
    block.epoch = 0;
    for (unsigned w = 0; w < (threads + 31) / 32; w++)
        block.warps[w].arrived = block.warps[w].epoch = 0;
    for (unsigned i = 0; i < threads; i++)
        pending[i].groups = 0;
    order_fill(block.order, threads);
    fill_nan(module->shared_begin, (size_t)(module->shared_end - module->shared_begin));
    open_dynamic_shared(shared_bytes);
    block.current = idle[--idle_count];
    fiber_switch(&host, block.current);
}

void block_escape(void) {
    Fiber *self = block.current;
    block.current = NULL;
    fiber_switch(self, &host);
}

void block_abandon(void) {
    block.current = NULL;
    for (unsigned i = 0; i < MAX_THREADS; i++)
        pending[i].count = 0;
    if (fibers[0].low)
        reset_fibers();
}
