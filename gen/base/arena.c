/* Bump allocator: blocks in a list, the newest one is filled. */
#include "base/arena.h"
#include "base/diag.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 64 * 1024, ALIGNMENT = 16 };

struct ArenaBlock {
    ArenaBlock *older;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

static ArenaBlock *new_block(ArenaBlock *older, size_t size) {
    ArenaBlock *block = calloc(1, sizeof *block + size);
    if (!block)
        user_error((Pos){0}, "free some memory on this machine", "out of memory (%zu bytes)", size);
    block->older = older;
    block->size = size;
    return block;
}

void *arena_alloc(Arena *arena, size_t size) {
    ENSURE(size <= SIZE_MAX / 2, "allocation of %zu bytes", size);
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    ArenaBlock *block = arena->newest;
    if (!block || block->size - block->used < size)
        block = arena->newest = new_block(block, size > BLOCK_SIZE ? size : BLOCK_SIZE);
    void *result = block->bytes + block->used;
    block->used += size;
    return result;
}

void *arena_array(Arena *arena, size_t count, size_t size) {
    size_t total;
    ENSURE(!__builtin_mul_overflow(count, size, &total), "array of %zu x %zu bytes", count, size);
    return arena_alloc(arena, total);
}

void *arena_grow(Arena *arena, void *array, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    void *bigger = arena_array(arena, (size_t)*capacity, size);
    if (count)
        memcpy(bigger, array, (size_t)count * size);
    return bigger;
}

char *arena_strndup(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(Arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(Arena *arena, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    ENSURE(length >= 0, "cannot format %s", format);
    char *copy = arena_strndup(arena, text, (size_t)length);
    free(text);
    return copy;
}

void arena_free(Arena *arena) {
    for (ArenaBlock *block = arena->newest, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    arena->newest = NULL;
}
