/* The race flavour. Kernels compiled with gcc's -fsanitize=thread call these functions, instead of
 * those of libtsan, at each access. For every byte of global and shared memory we keep the last
 * writer and two readers. Two accesses conflict if one of them writes and they are not separated by
 * a barrier, a __syncwarp or the end of the launch. So a race is found in every order of the
 * threads. The accessed global bytes are counted too.
 */
#include "sim.h"
#include "sim_fiber.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MAX_SHIFT = 4, RECENT = 64 };

/* An access to a byte: the block and thread, and how many barriers the thread had passed. */
typedef struct Access {
    uint32_t who; /* block * 1024 + thread + 1; 0: no access */
    uint32_t warp_epoch;
    uint32_t epoch;
} Access;

typedef struct Cell {
    uint32_t life; /* the launch (shared memory: the block) to which the cell belongs */
    bool atomic;
    Access writer, readers[2];
} Cell;

/* The cells of one page. Each covers 1 << shift bytes that have always been accessed together; an
 * access to part of them splits all cells of the page. */
typedef struct Page {
    uintptr_t number;
    unsigned shift;
    Cell *cells;
} Page;

static struct {
    CUfunction function; /* null unless an instrumented kernel runs */
    uint32_t launch, block_life, block;
    Page **pages; /* hash table of the accessed pages */
    size_t count, capacity;
    Page *recent[RECENT]; /* by the lowest bits of a page's number */
} race;

void race_begin(CUfunction function) {
    race.function = function->module->module->flavour == SIM_RACE ? function : NULL;
    race.launch = ++race.block_life;
}

void race_block(unsigned block) {
    race.block = block;
    race.block_life++;
}

void race_end(void) { race.function = NULL; }

/* ---- Shadow memory ----------------------------------------------------------------------- */

static Page **slot_of(uintptr_t number) {
    size_t i = (size_t)(number * 0x9E3779B97F4A7C15u >> 20) & (race.capacity - 1);
    while (race.pages[i] && race.pages[i]->number != number)
        i = (i + 1) & (race.capacity - 1);
    return &race.pages[i];
}

static void grow(void) {
    Page **old = race.pages;
    const size_t count = race.capacity;
    race.capacity = count ? 2 * count : 1024;
    race.pages = sim_need(calloc(race.capacity, sizeof *race.pages));
    for (size_t i = 0; i < count; i++)
        if (old[i])
            *slot_of(old[i]->number) = old[i];
    free(old);
}

static Page *find_page(uintptr_t number) {
    if (2 * race.count >= race.capacity)
        grow();
    Page **slot = slot_of(number);
    if (!*slot) {
        *slot = sim_need(malloc(sizeof **slot));
        **slot = (Page){number, MAX_SHIFT, sim_need(calloc(PAGE >> MAX_SHIFT, sizeof(Cell)))};
        race.count++;
    }
    return *slot;
}

static Page *page_of(uintptr_t number) {
    Page **recent = &race.recent[number % RECENT];
    if (!*recent || (*recent)->number != number)
        *recent = find_page(number);
    return *recent;
}

static void split(Page *page, unsigned shift) {
    Cell *cells = sim_need(malloc(((size_t)PAGE >> shift) * sizeof *cells));
    for (int i = 0; i < PAGE >> shift; i++)
        cells[i] = page->cells[i >> (page->shift - shift)];
    free(page->cells);
    page->cells = cells;
    page->shift = shift;
}

/* ---- Conflicts --------------------------------------------------------------------------- */

static Access access_now(void) {
    return (Access){race.block * 1024 + (uint32_t)block_thread() + 1, block_warp_epoch(),
                    block_epoch()};
}

static bool same_block(Access a, Access b) { return (a.who - 1) / 1024 == (b.who - 1) / 1024; }

/* Returns whether `before`, which ran earlier here, is guaranteed to happen before `now`. */
static bool ordered(Access before, Access now) {
    if (!before.who || before.who == now.who)
        return true;
    if (!same_block(before, now))
        return false;
    if (before.epoch != now.epoch)
        return true;
    return (before.who - 1) / 32 == (now.who - 1) / 32 && before.warp_epoch != now.warp_epoch;
}

static _Noreturn void report(const void *p, Access before, Access now, const char *what,
                             const void *from) {
    Dl_info info = {0};
    dladdr(from, &info);
    launch_fault(
        CUDA_ERROR_LAUNCH_FAILED,
        "race on %s memory at %p: %s by block %u thread %u and block %u thread %u without a "
        "barrier between them (second at %s+0x%zx)",
        memory_is_device(p) ? "global" : "shared", p, what, (before.who - 1) / 1024,
        (before.who - 1) % 1024, (now.who - 1) / 1024, (now.who - 1) % 1024,
        info.dli_fname ? info.dli_fname : "?",
        (size_t)((const char *)from - (const char *)info.dli_fbase) - 1);
}

/* Two readers suffice: of two different readers at least one conflicts with any writer. The new
 * reader replaces a reader of the same block that is ordered before it. */
static void note_reader(Cell *cell, Access now) {
    for (int i = 0; i < 2; i++) {
        const Access reader = cell->readers[i];
        if (!reader.who || (ordered(reader, now) && same_block(reader, now))) {
            cell->readers[i] = now;
            return;
        }
    }
}

static void check_cell(Cell *cell, const void *p, Access now, uint32_t life, bool write,
                       bool atomic, const void *from) {
    if (cell->life != life)
        *cell = (Cell){.life = life};
    if (!ordered(cell->writer, now) && !(atomic && cell->atomic))
        report(p, cell->writer, now, write ? "two writes" : "a write and a read", from);
    if (!write) {
        note_reader(cell, now);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (!ordered(cell->readers[i], now))
            report(p, cell->readers[i], now, "a read and a write", from);
    *cell = (Cell){.life = life, .atomic = atomic, .writer = now};
}

static void check_bytes(uintptr_t at, uintptr_t end, uint32_t life, bool write, bool atomic,
                        const void *from) {
    const Access now = access_now();
    while (at < end) {
        Page *page = page_of(at / PAGE);
        const uintptr_t most = (at / PAGE + 1) * PAGE, stop = end < most ? end : most;
        const unsigned aligned = (unsigned)__builtin_ctzl(at | stop);
        if (aligned < page->shift)
            split(page, aligned);
        for (; at < stop; at += (uintptr_t)1 << page->shift)
            check_cell(&page->cells[at % PAGE >> page->shift], (void *)at, now, life, write, atomic,
                       from);
    }
}

static void check(const void *p, size_t bytes, bool write, bool atomic, const void *from) {
    if (!race.function || fiber_holds(p) || block_thread() < 0)
        return;
    uint32_t life = race.launch;
    if (memory_is_device(p)) {
        SimKernelCount *count = race.function->count;
        *(write ? &count->written_bytes : &count->read_bytes) += bytes;
    } else if (block_owns_shared(p, bytes)) {
        life = race.block_life;
    } else {
        return; /* arguments and constants */
    }
    check_bytes((uintptr_t)p, (uintptr_t)p + bytes, life, write, atomic, from);
}

void race_access(const void *p, size_t bytes, bool write, bool atomic) {
    check(p, bytes, write, atomic, __builtin_return_address(0));
}

/* ---- Functions called by gcc's instrumentation ------------------------------------------- */

#define HERE __builtin_return_address(0)
#define ACCESSES(bytes)                                                                 \
    void __tsan_read##bytes(void *p);                                                   \
    void __tsan_write##bytes(void *p);                                                  \
    void __tsan_unaligned_read##bytes(void *p);                                         \
    void __tsan_unaligned_write##bytes(void *p);                                        \
    void __tsan_read##bytes(void *p) { check(p, bytes, false, false, HERE); }           \
    void __tsan_write##bytes(void *p) { check(p, bytes, true, false, HERE); }           \
    void __tsan_unaligned_read##bytes(void *p) { check(p, bytes, false, false, HERE); } \
    void __tsan_unaligned_write##bytes(void *p) { check(p, bytes, true, false, HERE); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

/* Atomics on 32 and 64 bits. Blocks run one after the other, so plain arithmetic is atomic. */
#define ATOMICS(bits, T)                                                                           \
    T __tsan_atomic##bits##_load(const T *p, int order);                                           \
    void __tsan_atomic##bits##_store(T *p, T v, int order);                                        \
    T __tsan_atomic##bits##_exchange(T *p, T v, int order);                                        \
    T __tsan_atomic##bits##_fetch_add(T *p, T v, int order);                                       \
    T __tsan_atomic##bits##_fetch_or(T *p, T v, int order);                                        \
    int __tsan_atomic##bits##_compare_exchange_strong(T *p, T *seen, T v, int order, int failed);  \
    T __tsan_atomic##bits##_load(const T *p, int order) {                                          \
        (void)order;                                                                               \
        check(p, sizeof *p, false, true, HERE);                                                    \
        return *p;                                                                                 \
    }                                                                                              \
    void __tsan_atomic##bits##_store(T *p, T v, int order) {                                       \
        (void)order;                                                                               \
        check(p, sizeof *p, true, true, HERE);                                                     \
        *p = v;                                                                                    \
    }                                                                                              \
    T __tsan_atomic##bits##_exchange(T *p, T v, int order) {                                       \
        const T old = *p;                                                                          \
        __tsan_atomic##bits##_store(p, v, order);                                                  \
        return old;                                                                                \
    }                                                                                              \
    T __tsan_atomic##bits##_fetch_add(T *p, T v, int order) {                                      \
        return __tsan_atomic##bits##_exchange(p, *p + v, order);                                   \
    }                                                                                              \
    T __tsan_atomic##bits##_fetch_or(T *p, T v, int order) {                                       \
        return __tsan_atomic##bits##_exchange(p, *p | v, order);                                   \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(T *p, T *seen, T v, int order, int failed) { \
        (void)failed;                                                                              \
        const T old = *p;                                                                          \
        const int equal = old == *seen;                                                            \
        if (equal)                                                                                 \
            __tsan_atomic##bits##_store(p, v, order);                                              \
        else                                                                                       \
            *seen = old;                                                                           \
        return equal;                                                                              \
    }
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_init(void);
void __tsan_func_entry(void *from);
void __tsan_func_exit(void);
void __tsan_read_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes);
void __tsan_vptr_update(void **p, void *v);

void __tsan_init(void) {}
void __tsan_func_entry(void *from) { (void)from; }
void __tsan_func_exit(void) {}
void __tsan_read_range(void *p, size_t bytes) { check(p, bytes, false, false, HERE); }
void __tsan_write_range(void *p, size_t bytes) { check(p, bytes, true, false, HERE); }
void __tsan_vptr_update(void **p, void *v) { (void)p, (void)v; }
