/* Device memory: one reserved address range for all devices. Only allocations in it are accessible,
 * so stray accesses and accesses after cuMemFree fault. Fresh memory is filled with 0xff, a NaN in
 * every float type. Page-locked host memory is ordinary memory, kept in a list.
 */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGNMENT = 512 };

__attribute__((weak)) void __asan_poison_memory_region(const volatile void *p, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *p, size_t bytes);

typedef struct Block {
    unsigned char *p;
    size_t bytes;  /* as requested */
    size_t mapped; /* whole pages */
    int device;
} Block;

/* Sorted by address, so that one pass finds the gaps. */
static Block *blocks;
static size_t block_count, block_capacity;
static size_t used[64];

unsigned char *memory_heap;
size_t memory_heap_bytes;

static size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

static bool open_heap(void) {
    if (memory_heap)
        return true;
    /* Twice the memory, because guard pages and fragmentation use addresses, but no memory. */
    memory_heap_bytes = 2 * (size_t)sim_settings.devices * sim_settings.memory_bytes + (64 << 20);
    void *heap = mmap(NULL, memory_heap_bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (heap == MAP_FAILED)
        return false;
    memory_heap = heap;
    return true;
}

/* Returns the first gap with a guard page on both sides, and its place in the list in `*index`. */
static unsigned char *find_gap(size_t mapped, size_t *index) {
    unsigned char *at = memory_heap + PAGE;
    for (size_t i = 0; i < block_count; i++) {
        if ((size_t)(blocks[i].p - at) >= mapped + PAGE && blocks[i].p >= at) {
            *index = i;
            return at;
        }
        at = blocks[i].p + blocks[i].mapped + PAGE;
    }
    *index = block_count;
    return at + mapped + PAGE <= memory_heap + memory_heap_bytes ? at : NULL;
}

static void insert(size_t index, Block block) {
    if (block_count == block_capacity) {
        block_capacity = block_capacity ? 2 * block_capacity : 64;
        blocks = sim_need(realloc(blocks, block_capacity * sizeof *blocks));
    }
    memmove(blocks + index + 1, blocks + index, (block_count - index) * sizeof *blocks);
    blocks[index] = block;
    block_count++;
}

CUresult memory_allocate(int device, size_t bytes, CUdeviceptr *out) {
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t charged = round_up(bytes, ALIGNMENT), mapped = round_up(bytes, PAGE);
    if (charged < bytes || charged > sim_settings.memory_bytes - used[device] || !open_heap())
        return CUDA_ERROR_OUT_OF_MEMORY;
    size_t index;
    unsigned char *p = find_gap(mapped, &index);
    if (!p || mprotect(p, mapped, PROT_READ | PROT_WRITE))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (__asan_unpoison_memory_region) {
        __asan_poison_memory_region(p - PAGE, mapped + 2 * PAGE);
        __asan_unpoison_memory_region(p, bytes);
    }
    memset(p, 0xff, bytes);
    insert(index, (Block){p, bytes, mapped, device});
    used[device] += charged;
    counts_allocation((int64_t)charged);
    *out = (CUdeviceptr)p;
    return CUDA_SUCCESS;
}

/* Returns the last allocation that begins at or before p, or NULL. */
static Block *find(const void *p) {
    size_t low = 0, high = block_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (blocks[middle].p <= (const unsigned char *)p)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &blocks[low - 1] : NULL;
}

CUresult memory_free(CUdeviceptr pointer) {
    Block *block = find((const void *)pointer);
    if (!block || (CUdeviceptr)block->p != pointer)
        return CUDA_ERROR_INVALID_VALUE;
    const size_t charged = round_up(block->bytes, ALIGNMENT);
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(block->p, block->mapped);
    madvise(block->p, block->mapped, MADV_DONTNEED);
    mprotect(block->p, block->mapped, PROT_NONE);
    used[block->device] -= charged;
    counts_allocation(-(int64_t)charged);
    const size_t index = (size_t)(block - blocks);
    memmove(block, block + 1, (--block_count - index) * sizeof *blocks);
    return CUDA_SUCCESS;
}

void memory_info(int device, size_t *free_bytes, size_t *total_bytes) {
    *total_bytes = sim_settings.memory_bytes;
    *free_bytes = sim_settings.memory_bytes - used[device];
}

bool memory_is_device(const void *p) {
    return memory_heap && (const unsigned char *)p >= memory_heap &&
           (const unsigned char *)p < memory_heap + memory_heap_bytes;
}

bool memory_covers(const void *p, size_t bytes) {
    const Block *block = memory_is_device(p) ? find(p) : NULL;
    const size_t offset = block ? (size_t)((const unsigned char *)p - block->p) : 0;
    return block && offset <= block->bytes && bytes <= block->bytes - offset;
}

int memory_device(const void *p) { return memory_covers(p, 1) ? find(p)->device : -1; }

bool memory_range(CUdeviceptr p, CUdeviceptr *base, size_t *bytes) {
    if (!memory_covers((const void *)p, 1))
        return false;
    const Block *block = find((const void *)p);
    *base = (CUdeviceptr)block->p;
    *bytes = block->bytes;
    return true;
}

/* For tests that guard parts of an arena: AddressSanitizer reports accesses to poisoned bytes. */
void sim_poison(void *p, size_t bytes);
void sim_unpoison(void *p, size_t bytes);

void sim_poison(void *p, size_t bytes) {
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(p, bytes);
}

void sim_unpoison(void *p, size_t bytes) {
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(p, bytes);
}

/* ---- Page-locked host memory ------------------------------------------------------------- */

typedef struct Pinned {
    unsigned char *p;
    size_t bytes;
    bool owned;
    struct Pinned *next;
} Pinned;

static Pinned *pinned;

static void pin(void *p, size_t bytes, bool owned) {
    Pinned *entry = sim_need(malloc(sizeof *entry));
    *entry = (Pinned){p, bytes, owned, pinned};
    pinned = entry;
}

static bool unpin(void *p, bool owned) {
    for (Pinned **at = &pinned; *at; at = &(*at)->next) {
        Pinned *entry = *at;
        if (entry->p != p || entry->owned != owned)
            continue;
        *at = entry->next;
        free(entry);
        if (owned)
            free(p);
        return true;
    }
    return false;
}

void *host_allocate(size_t bytes) {
    void *p = aligned_alloc(PAGE, round_up(bytes, PAGE));
    if (p)
        pin(p, bytes, true);
    return p;
}

bool host_free(void *p) { return unpin(p, true); }

bool host_register(void *p, size_t bytes) {
    if (!p || !bytes || host_is_pinned(p, 1))
        return false;
    pin(p, bytes, false);
    return true;
}

bool host_unregister(void *p) { return unpin(p, false); }

bool host_is_pinned(const void *p, size_t bytes) {
    const unsigned char *at = p;
    for (const Pinned *entry = pinned; entry; entry = entry->next)
        if (at >= entry->p && at + bytes <= entry->p + entry->bytes)
            return true;
    return false;
}
