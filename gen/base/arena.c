/* Bump allocator: a list of blocks, of which the newest is being filled. Each is twice as large as
 * the previous one: many arenas stay small, and a program's arena needs few blocks. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/format.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    FIRST_BLOCK = 64 * 1024,
    LARGEST_BLOCK = 4 * 1024 * 1024,
    HUGE_PAGE = 2 * 1024 * 1024,
    ALIGNMENT = 16
};

struct ArenaBlock {
    ArenaBlock *older;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

/* Blocks of arenas that were freed, for the next ones: the system clears each page that it hands out,
 * and a pass needs as much scratch memory as the one before. AddressSanitizer has none, so that it
 * notices who uses freed memory. */
static ArenaBlock *spare;

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS_SPARE = false };
#else
enum { KEEPS_SPARE = true };
#endif

/* Cuts blocks, which are never given back, from huge pages if the machine has them: with a page fault
 * for each 4 KiB, faults take a fifth of the compiler's time for a large model. */
static void *memory(size_t size) {
    static unsigned char *rest;
    static size_t left;
    if (!KEEPS_SPARE)
        return malloc(size);
    if (left < size) {
        size_t pages = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        unsigned char *more = aligned_alloc(HUGE_PAGE, pages);
        if (!more)
            return NULL;
        madvise(more, pages, MADV_HUGEPAGE);
        rest = more;
        left = pages;
    }
    left -= size;
    rest += size;
    return rest - size;
}

/* Returns the smallest spare block of at least that size, or NULL. */
static ArenaBlock *take_spare(size_t size) {
    ArenaBlock **best = NULL;
    for (ArenaBlock **link = &spare; *link; link = &(*link)->older)
        if ((*link)->size + sizeof(ArenaBlock) >= size && (!best || (*link)->size < (*best)->size))
            best = link;
    ArenaBlock *block = best ? *best : NULL;
    if (block)
        *best = block->older;
    return block;
}

static void release(ArenaBlock *block) {
    if (KEEPS_SPARE) {
        block->older = spare;
        spare = block;
    } else {
        free(block);
    }
}

static ArenaBlock *new_block(ArenaBlock *older, size_t least) {
    size_t size = older ? 2 * (sizeof *older + older->size) : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < sizeof(ArenaBlock) + least)
        size = sizeof(ArenaBlock) + least;
    ArenaBlock *block = take_spare(size);
    if (block) {
        block->older = older;
        block->used = 0;
        return block;
    }
    block = memory(size);
    if (!block)
        user_error((Pos){0}, "free some memory on this machine", "out of memory (%zu bytes)", size);
    *block = (ArenaBlock){older, 0, size - sizeof *block};
    return block;
}

static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Returns uninitialized memory; arena_alloc clears it. */
static void *take(Arena *arena, size_t size) {
    ENSURE(size <= SIZE_MAX / 2, "allocation of %zu bytes", size);
    size = aligned(size);
    ArenaBlock *block = arena->newest;
    if (!block || block->size - block->used < size)
        block = arena->newest = new_block(block, size);
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

void *arena_alloc(Arena *arena, size_t size) {
    void *result = take(arena, size);
    memset(result, 0, size);
    return result;
}

void *arena_array(Arena *arena, size_t count, size_t size) {
    size_t total;
    ENSURE(!__builtin_mul_overflow(count, size, &total), "array of %zu x %zu bytes", count, size);
    return arena_alloc(arena, total);
}

/* Whether the allocation that ends at `end` can grow in place: it is the newest, and its block has
 * room. */
static bool has_room_behind(const Arena *arena, const unsigned char *end, size_t more) {
    const ArenaBlock *block = arena->newest;
    return block && end == block->bytes + block->used && block->size - block->used >= more;
}

void *arena_grow(Arena *arena, void *array, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return array;
    size_t had = (size_t)*capacity * size;
    *capacity = *capacity ? 2 * *capacity : 4;
    size_t now = (size_t)*capacity * size, more = aligned(now) - aligned(had);
    unsigned char *bigger = array;
    if (array && has_room_behind(arena, bigger + aligned(had), more)) {
        take(arena, more);
    } else {
        bigger = take(arena, now);
        if (had)
            memcpy(bigger, array, had);
    }
    memset(bigger + had, 0, now - had);
    return bigger;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
    char *copy = take(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(Arena *arena, const char *format, ...) {
    char text[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t length = format_text(text, sizeof text, format, args);
    char *copy = take(arena, length + 1);
    if (length < sizeof text)
        memcpy(copy, text, length + 1);
    else
        format_text(copy, length + 1, format, again);
    va_end(again);
    va_end(args);
    return copy;
}

void arena_free(Arena *arena) {
    for (ArenaBlock *block = arena->newest, *older; block; block = older) {
        older = block->older;
        release(block);
    }
    arena->newest = NULL;
}
