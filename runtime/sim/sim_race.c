/* The race flavour: kernels compiled with gcc's -fsanitize=thread call these functions at each
 * access, and we, not libtsan, answer them. For every byte of global and shared memory we keep its
 * last writer and two readers; two accesses conflict when one writes and neither a barrier, a
 * __syncwarp nor the end of the launch lies between them. So a race is found in every order of the
 * threads. Global bytes are counted on the way.
 */
#include "sim.h"
#include "sim_fiber.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 };

/* Who accessed a byte: the block and thread of the launch, and how many barriers it had passed. */
typedef struct Access {
    uint32_t who; /* 0: nobody */
    uint32_t warp_epoch;
    uint32_t epoch;
} Access;

typedef struct Cell {
    uint32_t life; /* the launch (of shared memory: the block) it speaks of */
    bool atomic;
    Access writer, readers[2];
} Cell;

typedef struct Chunk {
    uintptr_t page;
    Cell *cells;
} Chunk;

static struct {
    CUfunction function; /* null where no instrumented kernel runs */
    uint32_t launch, block_life, block;
    Chunk *chunks; /* a hash table of the pages touched */
    size_t count, capacity;
    Chunk last;
} race;

bool race_running(void) { return race.function != NULL; }

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

static Chunk *slot_of(uintptr_t page) {
    size_t i = (size_t)(page * 0x9E3779B97F4A7C15u >> 20) & (race.capacity - 1);
    while (race.chunks[i].cells && race.chunks[i].page != page)
        i = (i + 1) & (race.capacity - 1);
    return &race.chunks[i];
}

static void grow(void) {
    Chunk *old = race.chunks;
    const size_t count = race.capacity;
    race.capacity = count ? 2 * count : 1024;
    race.chunks = sim_need(calloc(race.capacity, sizeof *race.chunks));
    for (size_t i = 0; i < count; i++)
        if (old[i].cells)
            *slot_of(old[i].page) = old[i];
    free(old);
}

static Cell *cell_of(const unsigned char *p) {
    const uintptr_t page = (uintptr_t)p / CHUNK;
    if (race.last.page != page || !race.last.cells) {
        if (2 * race.count >= race.capacity)
            grow();
        Chunk *chunk = slot_of(page);
        if (!chunk->cells) {
            *chunk = (Chunk){page, sim_need(calloc(CHUNK, sizeof(Cell)))};
            race.count++;
        }
        race.last = *chunk;
    }
    return &race.last.cells[(uintptr_t)p % CHUNK];
}

/* ---- Conflicts --------------------------------------------------------------------------- */

static Access access_now(void) {
    return (Access){race.block * 1024 + (uint32_t)block_thread() + 1, block_warp_epoch(),
                    block_epoch()};
}

static bool same_block(Access a, Access b) { return (a.who - 1) / 1024 == (b.who - 1) / 1024; }

/* Whether `before` happened before `now` for certain, given that it ran earlier here. */
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

/* Two readers suffice: of two different ones at least one conflicts with any writer. A reader that
 * the new one follows in its own block says nothing more than the new one does. */
static void note_reader(Cell *cell, Access now) {
    for (int i = 0; i < 2; i++) {
        const Access reader = cell->readers[i];
        if (!reader.who || (ordered(reader, now) && same_block(reader, now))) {
            cell->readers[i] = now;
            return;
        }
    }
}

static void check_byte(const unsigned char *p, Access now, uint32_t life, bool write, bool atomic,
                       const void *from) {
    Cell *cell = cell_of(p);
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

static void check(const void *p, size_t bytes, bool write, bool atomic, const void *from) {
    if (!race.function || block_thread() < 0 || fiber_holds(p))
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
    const Access now = access_now();
    for (size_t i = 0; i < bytes; i++)
        check_byte((const unsigned char *)p + i, now, life, write, atomic, from);
}

void race_access(const void *p, size_t bytes, bool write, bool atomic) {
    check(p, bytes, write, atomic, __builtin_return_address(0));
}

/* ---- What gcc calls ---------------------------------------------------------------------- */

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
